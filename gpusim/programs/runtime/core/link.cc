// The socket to the simulator: one request and its reply at a time. It is opened at the first request.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core.h"
#include "properties.h"

namespace gpusim {
namespace {

struct RequestHead {
  char op[16];
  uint32_t numbers, zero;
  uint64_t bytes;
};
struct ReplyHead {
  int32_t error;
  uint32_t numbers;
  uint64_t bytes;
};

constexpr uint64_t protocol_version = 1;
constexpr Error unloading = 4;
constexpr const char *socket_name = "GPUSIM_EXEC_SOCKET", *memory_name = "GPUSIM_EXEC_MEMORY";
int socket_of_parent = -1;
int version_asked = 13000;
bool greeted = false, parted = false;
pid_t greeter = 0;
int exit_code = 2;  // where the parent is gone: it has said why

[[noreturn]] void gone() { _exit(exit_code); }

void send_all(const void *from, size_t size) {
  auto at = static_cast<const char *>(from);
  while (size) {
    ssize_t sent = ::send(socket_of_parent, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) gone();
    at += sent, size -= size_t(sent);
  }
}

void receive_all(void *into, size_t size) {
  auto at = static_cast<char *>(into);
  while (size) {
    ssize_t got = ::recv(socket_of_parent, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) gone();
    at += got, size -= size_t(got);
  }
}

Reply exchange(const char *op, const Numbers &numbers, const void *bytes, size_t size) {
  RequestHead head{};
  std::strncpy(head.op, op, sizeof head.op);
  head.numbers = uint32_t(numbers.size());
  head.bytes = size;
  std::string whole_request(reinterpret_cast<char *>(&head), sizeof head);
  whole_request.append(reinterpret_cast<const char *>(numbers.data()), numbers.size() * 8);
  send_all(whole_request.data(), whole_request.size());
  send_all(bytes, size);
  ReplyHead answer;
  receive_all(&answer, sizeof answer);
  Reply reply{answer.error, Numbers(answer.numbers), std::string(answer.bytes, '\0')};
  receive_all(reply.numbers.data(), reply.numbers.size() * 8);
  receive_all(&reply.bytes[0], reply.bytes.size());
  return reply;
}

// A program that this one starts has no simulator: two of them would mix their requests.
bool close_in_children(int descriptor) { return fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0; }

// Before the program starts any other, which would keep the socket open when this one has ended.
__attribute__((constructor)) void keep_to_itself() {
  for (const char *name : {socket_name, memory_name})
    if (const char *value = std::getenv(name)) close_in_children(std::atoi(value));
}

int inherited(const char *name) {
  const char *value = std::getenv(name);
  if (!value) end("this program is linked to gpusim's stand-in for CUDA; run it with `gpusim exec`");
  int descriptor = std::atoi(value);
  if (!close_in_children(descriptor))
    end("gpusim exec simulates the one program that it starts, and not those which that program starts");
  return descriptor;
}

std::string path_of_program() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return std::string(path, length > 0 ? size_t(length) : 0);
}

void keep_code(int code, void *) { exit_code = code; }

// The last of all that exits, after the program's own destructors, which may still free memory.
__attribute__((destructor)) void say_bye() {
  if (!greeted || greeter != getpid()) return;
  std::lock_guard<std::recursive_mutex> alone(whole());  // another thread may be in a launch
  show_prints();
  std::fflush(nullptr);
  exchange("bye", {uint64_t(exit_code)}, nullptr, 0);
  parted = true;
}

void greet() {
  greeted = true;
  greeter = getpid();
  socket_of_parent = inherited(socket_name);
  map_window(inherited(memory_name));
  std::string path = path_of_program();
  Reply reply = exchange("hello", {protocol_version, uint64_t(version_asked)}, path.data(), path.size());
  if (reply.error) end("the simulator and the stand-in for CUDA are of different versions");
  take_properties(reply);
  on_exit(keep_code, nullptr);
  explain_faults();
}

}  // namespace

Reply ask(const char *op, const Numbers &numbers, const void *bytes, size_t size) {
  std::lock_guard<std::recursive_mutex> alone(whole());
  if (!greeted) greet();
  if (greeter != getpid()) end("the device belongs to the process that used it first, not to one that it forked");
  if (parted) return Reply{unloading, {}, {}};
  return exchange(op, numbers, bytes, size);
}

Reply ask(const char *op, const Numbers &numbers, const std::string &text) {
  return ask(op, numbers, text.data(), text.size());
}

void refuse(const char *name) {
  show_prints();
  std::fflush(stdout);
  ask("refused", places_of_callers(), std::string(name));
  gone();
}

void end(const std::string &why) {
  std::fflush(stdout);
  std::fprintf(stderr, "gpusim: %s\n", why.c_str());
  _exit(2);
}

void set_runtime_version(int version) { version_asked = version; }
int runtime_version() { return version_asked; }

}  // namespace gpusim
