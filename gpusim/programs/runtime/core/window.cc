// Device memory is a file in memory that the simulator shares: mapped once as the program sees it, once for copies.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace gpusim {
namespace {

unsigned char *copies = nullptr;  // the mapping by which copies read and write

void *mapped(uint64_t address, int protection, int flags, int memory) {
  return mmap(reinterpret_cast<void *>(address), window_bytes, protection, flags | MAP_SHARED | MAP_NORESERVE, memory,
              0);
}

// Says why the program faults that reads or writes device memory, and lets it fault.
void explain(int signal, siginfo_t *fault, void *) {
  static const char text[] =
      "gpusim: the program itself reads or writes memory of cudaMalloc, which only kernels and copies reach: "
      "copy it with cudaMemcpy, or allocate it with cudaMallocManaged\n";
  if (in_window(reinterpret_cast<uint64_t>(fault->si_addr)) && write(STDERR_FILENO, text, sizeof text - 1) < 0)
    _exit(2);
  ::signal(signal, SIG_DFL);
}

}  // namespace

// Only where the program has no handler of its own.
void explain_faults() {
  struct sigaction before, made{};
  made.sa_sigaction = explain;
  made.sa_flags = SA_SIGINFO;
  if (!sigaction(SIGSEGV, nullptr, &before) && before.sa_handler == SIG_DFL) sigaction(SIGSEGV, &made, nullptr);
}

void map_window(int memory) {
  void *seen = mapped(window_base, PROT_NONE, MAP_FIXED_NOREPLACE, memory);
  void *other = mapped(0, PROT_READ | PROT_WRITE, 0, memory);
  if (seen != reinterpret_cast<void *>(window_base) || other == MAP_FAILED)
    end("no room at address 0x7f0000000000 for device memory; a limit on memory (ulimit -v) may forbid it");
  copies = static_cast<unsigned char *>(other);
}

// Managed and host memory can be read and written by the program; a pointer to any other faults there.
void open_to_host(uint64_t address, uint64_t bytes, bool open) {
  if (!bytes || !in_window(address)) return;
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  uint64_t first = address / page * page, behind = (address + bytes + page - 1) / page * page;
  mprotect(reinterpret_cast<void *>(first), behind - first, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

unsigned char *reached(uint64_t address) {
  return in_window(address) ? copies + (address - window_base) : reinterpret_cast<unsigned char *>(address);
}

}  // namespace gpusim
