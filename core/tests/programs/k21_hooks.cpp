// Kind 21: functions that the allocator may need during its start-up, replaced by ones that
// allocate.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstdarg>

#include "check.hpp"

namespace {

int hooked_calls;

void allocate_a_little() {
  ++hooked_calls;
  void* p = malloc(opaque<std::size_t>(48));
  CHECK(p != nullptr);
  memset(p, 1, 48);
  free(p);
}

template <class Fn>
Fn real(Fn, const char* name) {
  return reinterpret_cast<Fn>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define HOOK extern "C" [[gnu::visibility("default")]]

HOOK int open(const char* path, int flags, ...) {
  allocate_a_little();
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return real(open, "open")(path, flags, mode);
}

HOOK int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  allocate_a_little();
  return real(pthread_key_create, "pthread_key_create")(key, destructor);
}

HOOK int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  allocate_a_little();
  return real(pthread_setspecific, "pthread_setspecific")(key, value);
}

HOOK int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* handle) {
  allocate_a_little();
  return real(__register_atfork, "__register_atfork")(prepare, parent, child, handle);
}

HOOK void* mmap(void* start, std::size_t size, int protection, int flags, int fd,
                off_t offset) noexcept {
  allocate_a_little();
  return real(mmap, "mmap")(start, size, protection, flags, fd, offset);
}

HOOK char* getenv(const char* name) noexcept {
  allocate_a_little();
  return real(getenv, "getenv")(name);
}

namespace {

void* thread_body(void*) {
  free(malloc(opaque<std::size_t>(100)));
  free(malloc(opaque<std::size_t>(30) << 20));
  return nullptr;
}

}  // namespace

int main() {
  for (std::size_t size = 1; size < 40 << 20; size *= 3) free(malloc(opaque(size)));
  pthread_t t;
  CHECK(pthread_create(&t, nullptr, thread_body, nullptr) == 0);
  CHECK(pthread_join(t, nullptr) == 0);
  CHECK(dlsym(RTLD_DEFAULT, "no_such_symbol") == nullptr);
  CHECK(dlerror() != nullptr);  // its text is allocated
  CHECK(hooked_calls > 0);
  return 0;
}
