#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

int main() {
    void *memory;
    cudaMalloc(&memory, 16);
    pid_t forked = fork();
    if (!forked) {
        cudaFree(memory);
        return 0;
    }
    int status;
    waitpid(forked, &status, 0);
    printf("forked ended with %d\n", WEXITSTATUS(status));
}
