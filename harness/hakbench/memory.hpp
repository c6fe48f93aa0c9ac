// hakbench's own memory: always mmap, never the allocator that is being measured.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hakbench {

/// Zeroed pages for at least `bytes` bytes; ends the program where the system has none.
/// They stay until the process ends.
void* map_bytes(std::size_t bytes);

/// Zeroed room for `count` objects of T, which must be valid when all bytes are zero.
template <class T>
T* map_array(std::size_t count) {
  return static_cast<T*>(map_bytes(count * sizeof(T)));
}

/// Resident memory of this process in KiB, from /proc/self/status. 0 where it cannot be read.
struct Resident {
  std::uint64_t peak_kib;
  std::uint64_t now_kib;
};
Resident read_resident();

}  // namespace hakbench
