// operator new and delete. The throwing forms need the new-handler and std::bad_alloc, which live
// in libstdc++; it is reached through weak symbols, or looked up when dlopen brought it, and only
// when memory is out.
#include <dlfcn.h>
#include <errno.h>

#include <new>

#include "base/text.hpp"
#include "front/slow.hpp"
#include "os/process.hpp"

#define HAK_API [[gnu::visibility("default")]]

extern "C" void* malloc(std::size_t);
extern "C" void free(void*);
extern "C" [[gnu::weak]] void _ZSt17__throw_bad_allocv();            // std::__throw_bad_alloc()
extern "C" [[gnu::weak]] std::new_handler _ZSt15get_new_handlerv();  // std::get_new_handler()

namespace hakmem {

namespace {

template <class Fn>
Fn* found(Fn* linked, const char* name) {
  return linked != nullptr ? linked : reinterpret_cast<Fn*>(dlsym(RTLD_DEFAULT, name));
}

std::new_handler current_handler() {
  auto* get = found(&_ZSt15get_new_handlerv, "_ZSt15get_new_handlerv");
  return get != nullptr ? get() : nullptr;
}

[[noreturn]] void throw_bad_alloc() {
  if (auto* raise = found(&_ZSt17__throw_bad_allocv, "_ZSt17__throw_bad_allocv")) raise();
  TextBuffer<96> line;
  line.add("hakmem: operator new: out of memory, and no libstdc++ to throw std::bad_alloc\n");
  os::fail(line);
}

/// Tries until the new-handler gives up; null then.
template <class Alloc>
void* with_handler(Alloc alloc) {
  for (;;) {
    if (void* p = alloc()) return p;
    const std::new_handler handler = current_handler();
    if (handler == nullptr) return nullptr;
    handler();
  }
}

void* aligned_new(std::size_t size, std::size_t alignment) {
  return with_handler([=] { return allocate_aligned(alignment, size); });
}

}  // namespace

void* new_slow(std::size_t size) {
  void* p = with_handler([=] { return malloc_slow(size); });
  if (p == nullptr) throw_bad_alloc();
  return p;
}

// Only the nothrow forms catch, and only what a new-handler throws, so the C++ runtime is there
// when its symbols are wanted. Weak, so that the library loads without it.
__asm__(
    ".weak __gxx_personality_v0\n"
    ".weak __cxa_begin_catch\n"
    ".weak __cxa_end_catch\n"
    ".weak __cxa_call_terminate\n"
    ".weak _Unwind_Resume\n"
    ".weak _ZSt9terminatev\n");

}  // namespace hakmem

using hakmem::aligned_new;

HAK_API void* operator new[](std::size_t size) { return operator new(size); }

HAK_API void* operator new(std::size_t size, std::align_val_t alignment) {
  void* p = aligned_new(size, static_cast<std::size_t>(alignment));
  if (p == nullptr) hakmem::throw_bad_alloc();
  return p;
}
HAK_API void* operator new[](std::size_t size, std::align_val_t alignment) {
  return operator new(size, alignment);
}

HAK_API void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* p = malloc(size);
  if (p != nullptr) return p;
  try {
    return hakmem::with_handler([=] { return malloc(size); });
  } catch (...) {
    return nullptr;
  }
}
HAK_API void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
HAK_API void* operator new(std::size_t size, std::align_val_t alignment,
                           const std::nothrow_t&) noexcept {
  try {
    return aligned_new(size, static_cast<std::size_t>(alignment));
  } catch (...) {
    return nullptr;
  }
}
HAK_API void* operator new[](std::size_t size, std::align_val_t alignment,
                             const std::nothrow_t& tag) noexcept {
  return operator new(size, alignment, tag);
}

HAK_API void operator delete(void* p) noexcept { free(p); }
HAK_API void operator delete[](void* p) noexcept { free(p); }
HAK_API void operator delete(void* p, const std::nothrow_t&) noexcept { free(p); }
HAK_API void operator delete[](void* p, const std::nothrow_t&) noexcept { free(p); }
// The size of sized delete is wrong often enough in the wild (no virtual destructor): not used.
HAK_API void operator delete(void* p, std::size_t) noexcept { free(p); }
HAK_API void operator delete[](void* p, std::size_t) noexcept { free(p); }
HAK_API void operator delete(void* p, std::align_val_t) noexcept { free(p); }
HAK_API void operator delete[](void* p, std::align_val_t) noexcept { free(p); }
HAK_API void operator delete(void* p, std::size_t, std::align_val_t) noexcept { free(p); }
HAK_API void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { free(p); }
HAK_API void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { free(p); }
HAK_API void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  free(p);
}
