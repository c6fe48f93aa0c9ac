// setrlimit and prlimit: a program that limits its own address space would find the limit used up
// by the reservation, so that not even its stack could grow. What is not in use goes back first.
//
// mlockall: the kernel counts reservations too, so without the right to lock more than
// RLIMIT_MEMLOCK, a program could lock nothing.
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/process.hpp"
#include "os/syscalls.hpp"
#include "slab/arena.hpp"

// The names with and without 64 are the same functions: rlim_t has 64 bits either way. Headers may
// turn one name into the other, so they are given to the assembler.
static_assert(sizeof(struct rlimit) == 2 * sizeof(std::uint64_t));

namespace {

using namespace hakmem;

int set_limit(pid_t pid, int resource, const struct rlimit* wanted, struct rlimit* old) {
  const bool own = pid == 0 || pid == os::process_id();
  const bool smaller = own && resource == RLIMIT_AS && wanted != nullptr && sealed.ready &&
                       wanted->rlim_cur != RLIM_INFINITY && wanted->rlim_cur <= wanted->rlim_max;
  if (smaller) arena_fit(wanted->rlim_cur);
  const long result = os::syscall6(SYS_prlimit64, pid, resource, static_cast<long>(address(wanted)),
                                   static_cast<long>(address(old)), 0, 0);
  if (result == 0) return 0;
  errno = static_cast<int>(-result);
  return -1;
}

/// Gives what is reserved and not in use back where the kernel refuses with it, and tries again.
int lock_all(int flags) {
  long result = os::syscall3(SYS_mlockall, flags, 0, 0);
  struct rlimit limit {};
  if (result == -ENOMEM && sealed.ready && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY) {
    arena_fit(limit.rlim_cur);
    result = os::syscall3(SYS_mlockall, flags, 0, 0);
  }
  if (result == 0) return 0;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

// The sanitizers' builds give another: their runtime calls setrlimit before it is ready for ours.
#ifndef HAKMEM_NAME_PREFIX
#define HAKMEM_NAME_PREFIX ""
#endif

extern "C" {
[[gnu::visibility("default")]] int hak_setrlimit(int resource, const struct rlimit* wanted) noexcept
    __asm__(HAKMEM_NAME_PREFIX "setrlimit");
[[gnu::visibility("default")]] int hak_setrlimit64(int resource,
                                                   const struct rlimit* wanted) noexcept
    __asm__(HAKMEM_NAME_PREFIX "setrlimit64");
[[gnu::visibility("default")]] int hak_prlimit(pid_t pid, int resource, const struct rlimit* wanted,
                                               struct rlimit* old) noexcept
    __asm__(HAKMEM_NAME_PREFIX "prlimit");
[[gnu::visibility("default")]] int hak_prlimit64(pid_t pid, int resource,
                                                 const struct rlimit* wanted,
                                                 struct rlimit* old) noexcept
    __asm__(HAKMEM_NAME_PREFIX "prlimit64");
[[gnu::visibility("default")]] int hak_mlockall(int flags) noexcept
    __asm__(HAKMEM_NAME_PREFIX "mlockall");
}

int hak_mlockall(int flags) noexcept { return lock_all(flags); }

int hak_setrlimit(int resource, const struct rlimit* wanted) noexcept {
  return set_limit(0, resource, wanted, nullptr);
}
int hak_setrlimit64(int resource, const struct rlimit* wanted) noexcept {
  return set_limit(0, resource, wanted, nullptr);
}
int hak_prlimit(pid_t pid, int resource, const struct rlimit* wanted, struct rlimit* old) noexcept {
  return set_limit(pid, resource, wanted, old);
}
int hak_prlimit64(pid_t pid, int resource, const struct rlimit* wanted,
                  struct rlimit* old) noexcept {
  return set_limit(pid, resource, wanted, old);
}
