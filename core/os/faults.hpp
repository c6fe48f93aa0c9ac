// Injected faults: in the profile `faults` the n-th system call of a kind fails, as if there were
// no memory. In other profiles nothing of it is compiled.
#pragma once

#include "base/types.hpp"

namespace hakmem::os {

#ifdef HAKMEM_FAULTS
inline constexpr bool kFaults = true;
#else
inline constexpr bool kFaults = false;
#endif

/// System calls, and taking in what other threads freed.
enum class Call : std::uint8_t { mmap, mprotect, madvise, mremap, drain, count };
inline constexpr std::size_t kCalls = static_cast<std::size_t>(Call::count);
inline constexpr const char* kCallNames[kCalls] = {"mmap", "mprotect", "madvise", "mremap",
                                                   "drain"};

/// Counts a call that is about to be made; true when it has to fail instead.
bool fails(Call call);

/// Reads `CALL:N` (the N-th call fails) or `CALL:N+` (and all after it); before the first call that
/// counts. False when the text is neither.
bool set_fault(const char* text);

/// Calls of a kind so far, and how many of all were made to fail.
std::uint64_t calls_made(Call call);
std::uint64_t calls_failed();

}  // namespace hakmem::os
