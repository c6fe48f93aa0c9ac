// The malloc family beside malloc and free (which are in front/hot.cpp, or behind the lab's slots).
#include <errno.h>
#include <string.h>

#include "api/hakmem.h"
#include "base/types.hpp"
#include "front/front.hpp"
#include "front/slow.hpp"
#include "slab/arena.hpp"

#define HAK_API extern "C" [[gnu::visibility("default")]]

using namespace hakmem;

extern "C" void* malloc(std::size_t);
extern "C" void free(void*);

namespace {

bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

void* fail_with(int error) {
  errno = error;
  return nullptr;
}

/// malloc and realloc of `count` * `size`; overflow is ENOMEM.
bool product(std::size_t count, std::size_t size, std::size_t& bytes) {
  return !__builtin_mul_overflow(count, size, &bytes);
}

}  // namespace

HAK_API void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (!product(count, size, bytes)) return fail_with(ENOMEM);
  if (bytes > kMaxTiny) return allocate_zeroed(bytes);
  void* p = malloc(bytes);
  return p != nullptr ? memset(p, 0, bytes) : p;
}

/// realloc(p, 0) frees p and gives NULL, as glibc does; realloc(NULL, n) is malloc(n).
HAK_API void* realloc(void* p, std::size_t size) {
  if (p == nullptr) return malloc(size);
  if (size == 0) {
    free(p);
    return nullptr;
  }
  return reallocate(p, size);
}

HAK_API void* reallocarray(void* p, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (!product(count, size, bytes)) return fail_with(ENOMEM);
  return realloc(p, bytes);
}

HAK_API int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* p = try_aligned(alignment, size);
  if (p == nullptr) return ENOMEM;
  *out = p;
  return 0;
}

/// A size that is no multiple of the alignment is accepted, as glibc does.
HAK_API void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (!is_power_of_two(alignment)) return fail_with(EINVAL);
  return allocate_aligned(alignment, size);
}

/// An alignment that is no power of two is rounded up to one, as glibc does.
HAK_API void* memalign(std::size_t alignment, std::size_t size) {
  if (alignment > PTRDIFF_MAX / 2) return fail_with(EINVAL);
  std::size_t rounded = kMinAlignment;
  while (rounded < alignment) rounded *= 2;
  return allocate_aligned(rounded, size);
}

HAK_API void* valloc(std::size_t size) { return allocate_aligned(kPageSize, size); }

HAK_API void* pvalloc(std::size_t size) {
  if (size > PTRDIFF_MAX - kPageSize) return fail_with(ENOMEM);
  return allocate_aligned(kPageSize, size == 0 ? kPageSize : align_up(size, kPageSize));
}

HAK_API std::size_t malloc_usable_size(void* p) {
  return p != nullptr ? usable_size(p, "malloc_usable_size()") : 0;
}

HAK_API void cfree(void* p) { free(p); }
HAK_API void free_sized(void* p, std::size_t) { free(p); }
HAK_API void free_aligned_sized(void* p, std::size_t, std::size_t) { free(p); }

/// Gives back what can be given back; `pad` is ignored. 1 when pages went to the system, else 0.
HAK_API int malloc_trim(std::size_t) {
  Front* front = own_front();
  return front != nullptr && release_memory(*front) > 0 ? 1 : 0;
}

/// No option of glibc's applies here: 0, "not set".
HAK_API int mallopt(int, int) { return 0; }
