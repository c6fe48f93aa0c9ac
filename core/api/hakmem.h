/* hakmem: what a program may ask of the allocator beside malloc. C and C++. */
#ifndef HAKMEM_H
#define HAKMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the library, for example "0.1.0". */
const char* hakmem_version(void);

/** Effective value of the box with this ENV name, in *value. 0, or -1 when there is no such box. */
int hakmem_box_state(const char* env, int64_t* value);

/**
 * Writes the allocator's report (one line of JSON, docs/design/files.md) into a buffer.
 * Gives its length; no more than `capacity` bytes are written, without a final zero.
 */
size_t hakmem_report(char* buffer, size_t capacity);

/**
 * Writes the statistics by class (what HAKMEM_STATS writes at exit) into a buffer: text, or with
 * `json` one line of JSON (docs/design/files.md). Gives its length, as hakmem_report does.
 */
size_t hakmem_statistics(int json, char* buffer, size_t capacity);

/**
 * The functions that serve malloc and free in this process, past what comes before them: in
 * libhakmem-lab.so the entry jump. For measurements; blocks of both ways are the same.
 */
struct hakmem_calls {
  void* (*malloc)(size_t);
  void (*free)(void*);
};
void hakmem_direct_calls(struct hakmem_calls* calls);

/** Counts, in bytes and blocks. Exact when no other thread runs. */
struct hakmem_stats {
  uint64_t live_blocks; /* with the program, or in front caches */
  uint64_t live_bytes;  /* the same in bytes of their classes */
  uint64_t large_allocs, large_frees;
  uint64_t refills, trims, drains, remote_frees, slabs_taken, slabs_returned, adoptions;
  uint64_t reserved_bytes, committed_bytes, arena_bytes;
  uint64_t direct_mappings, direct_bytes;
};
void hakmem_get_stats(struct hakmem_stats* stats);

#ifdef __cplusplus
}
#endif

#endif
