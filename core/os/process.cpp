#include "os/process.hpp"

#include <elf.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "os/syscalls.hpp"

// Top of the initial stack: argc, argv…, 0, envp…, 0. Exported by the dynamic linker.
extern "C" [[gnu::weak]] void* __libc_stack_end;

namespace hakmem::os {

char** environment() {
  if (environ != nullptr) return environ;
  if (&__libc_stack_end == nullptr || __libc_stack_end == nullptr) {
    static char* none[] = {nullptr};
    return none;
  }
  auto** stack = static_cast<char**>(__libc_stack_end);
  const auto argc = reinterpret_cast<std::uintptr_t>(stack[0]);
  return stack + 1 + argc + 1;
}

bool runs_privileged() { return getauxval(AT_SECURE) != 0; }

std::uint64_t random_seed() {
  const unsigned long bytes = getauxval(AT_RANDOM);
  std::uint64_t seed = address(&bytes) * 0x9E3779B97F4A7C15ULL;
  std::uint64_t word = 0;  // the kernel's bytes lie at any address
  if (bytes != 0) __builtin_memcpy(&word, pointer(bytes), sizeof word);
  seed ^= word;
  return seed;
}

void say(const Text& line) {
  syscall3(SYS_write, STDERR_FILENO, static_cast<long>(address(line.data())),
           static_cast<long>(line.size()));
}

void fail(const Text& line) {
  say(line);
  abort();
}

void exit_now(int status) {
  for (;;) syscall3(SYS_exit_group, status, 0, 0);
}

bool append_to_file(const char* path, const char* data, std::size_t size) {
  const long fd = syscall6(SYS_openat, AT_FDCWD, static_cast<long>(address(path)),
                           O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644, 0, 0);
  if (fd < 0) return false;
  const long written =
      syscall3(SYS_write, fd, static_cast<long>(address(data)), static_cast<long>(size));
  syscall3(SYS_close, fd, 0, 0);
  return written == static_cast<long>(size);
}

std::size_t read_file(const char* path, char* buffer, std::size_t capacity) {
  const long fd = syscall6(SYS_openat, AT_FDCWD, static_cast<long>(address(path)),
                           O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (fd < 0) return 0;
  const long n =
      syscall3(SYS_read, fd, static_cast<long>(address(buffer)), static_cast<long>(capacity));
  syscall3(SYS_close, fd, 0, 0);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

void remove_file(const char* path) {
  syscall3(SYS_unlinkat, AT_FDCWD, static_cast<long>(address(path)), 0);
}

bool rename_file(const char* from, const char* to) {
  return syscall6(SYS_renameat, AT_FDCWD, static_cast<long>(address(from)), AT_FDCWD,
                  static_cast<long>(address(to)), 0, 0) == 0;
}

void read_pieces(const char* path, void (*sink)(void*, const char*, std::size_t), void* argument) {
  const long fd = syscall6(SYS_openat, AT_FDCWD, static_cast<long>(address(path)),
                           O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (fd < 0) return;
  char piece[1024];
  for (;;) {
    const long n = syscall3(SYS_read, fd, static_cast<long>(address(piece)), sizeof piece);
    if (n <= 0) break;
    sink(argument, piece, static_cast<std::size_t>(n));
  }
  syscall3(SYS_close, fd, 0, 0);
}

int process_id() { return static_cast<int>(syscall3(SYS_getpid, 0, 0, 0)); }

void futex_wait(void* word, std::uint32_t value) {
  syscall6(SYS_futex, static_cast<long>(address(word)), FUTEX_WAIT_PRIVATE,
           static_cast<long>(value), 0, 0, 0);
}

void futex_wake_one(void* word) {
  syscall6(SYS_futex, static_cast<long>(address(word)), FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

}  // namespace hakmem::os
