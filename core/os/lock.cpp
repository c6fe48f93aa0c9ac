// The sleeping half of base/lock.hpp: it needs the futex system call.
#include "base/lock.hpp"

#include "os/process.hpp"

namespace hakmem {

Lock locks[static_cast<std::size_t>(Rank::count)];

void Lock::lock_contended() {
  for (int spin = 0; spin < 64; ++spin) {
    if (word_.load(std::memory_order_relaxed) == 0 && try_lock()) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  while (word_.exchange(2, std::memory_order_acquire) != 0) os::futex_wait(&word_, 2);
}

void Lock::wake() { os::futex_wake_one(&word_); }

}  // namespace hakmem
