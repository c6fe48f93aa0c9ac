// Given by -include to the sources of core and of the stress program where a sanitizer brings a
// malloc of its own: hakmem's then has other names. The headers that declare the system's come
// first.
#pragma once

#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <span>

// TSan ends its own record of a thread in the last round of destructors: ours has to be done
// before.
#undef PTHREAD_DESTRUCTOR_ITERATIONS
#define PTHREAD_DESTRUCTOR_ITERATIONS 3

extern "C" {
void* hakt_malloc(std::size_t size);
void hakt_free(void* p);
void* hakt_calloc(std::size_t count, std::size_t size);
void* hakt_realloc(void* p, std::size_t size);
int hakt_posix_memalign(void** out, std::size_t alignment, std::size_t size);
int hakt_malloc_trim(std::size_t pad);
std::size_t hakt_malloc_usable_size(void* p);
}

#define HAKMEM_NAME_PREFIX "hakt_"
#define malloc hakt_malloc
#define free hakt_free
#define calloc hakt_calloc
#define realloc hakt_realloc
#define reallocarray hakt_reallocarray
#define cfree hakt_cfree
#define aligned_alloc hakt_aligned_alloc
#define memalign hakt_memalign
#define posix_memalign hakt_posix_memalign
#define valloc hakt_valloc
#define pvalloc hakt_pvalloc
#define malloc_usable_size hakt_malloc_usable_size
#define malloc_trim hakt_malloc_trim
#define malloc_stats hakt_malloc_stats
#define malloc_info hakt_malloc_info
// The functions only: there are structs of the same names.
#define mallinfo(...) hakt_mallinfo(__VA_ARGS__)
#define mallinfo2(...) hakt_mallinfo2(__VA_ARGS__)
#define mallopt hakt_mallopt
#define free_sized hakt_free_sized
#define free_aligned_sized hakt_free_aligned_sized
#define _Znwm hakt_new
