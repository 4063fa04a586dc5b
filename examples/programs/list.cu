// A linked list in managed memory: the host builds it, the card walks, prints and changes it, the host reads it again.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    cudaError_t error = (call);                                                                   \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

struct Item {
  int number;
  const char *name;
  Item *next;
};

__managed__ int printed = 0;

__global__ void show(const Item *head) {
  for (const Item *item = head; item; item = item->next) {
    printf("%s: %d\n", item->name, item->number);
    printed++;
  }
}

__global__ void square(Item *head) {  // one thread for each item
  Item *item = head;
  for (int i = 0; i < threadIdx.x && item; i++) item = item->next;
  if (item) item->number *= item->number;
}

Item *item(int number, const char *text, Item *next) {
  Item *made;
  char *name;
  CHECK(cudaMallocManaged(&made, sizeof(Item)));
  CHECK(cudaMallocManaged(&name, 16));
  std::snprintf(name, 16, "%s", text);
  *made = {number, name, next};
  return made;
}

int main() {
  Item *head = nullptr;
  const char *names[] = {"five", "four", "three", "two", "one"};
  for (int i = 0; i < 5; i++) head = item(5 - i, names[i], head);

  show<<<1, 1>>>(head);
  square<<<1, 8>>>(head);
  show<<<1, 1>>>(head);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  int wrong = printed != 10, i = 0;
  while (head) {
    Item *next = head->next;
    i++;
    wrong += head->number != i * i;
    CHECK(cudaFree(const_cast<char *>(head->name)));
    CHECK(cudaFree(head));
    head = next;
  }
  std::printf("%d items, %d lines: %d wrong\n%s\n", i, printed, wrong, wrong || i != 5 ? "FAILED" : "PASSED");
  return wrong || i != 5;
}
