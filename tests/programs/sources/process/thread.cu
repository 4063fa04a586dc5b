#include <cstdio>
#include <thread>
#include <unistd.h>

__global__ void slow() {}

// Ends while another thread is in a launch.
int main() {
    std::thread([] { slow<<<1, 1>>>(); }).detach();
    usleep(200000);
    return 6;
}
