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

/**
 * How often the calling thread went each slow path; the fast paths count nothing. What a call did
 * is the difference of two readings around it (hakbench --latency), as long as both name the same
 * front: an ended thread's is taken over with its counts.
 */
struct hakmem_paths {
  uint64_t front;   /* the thread's; 0 before its first allocation and after its end, as are all
                       counts but system_calls */
  uint64_t refills; /* front caches filled, or looked at and trimmed */
  uint64_t remote;  /* chains of blocks sent to other threads' slabs, or taken in from others */
  uint64_t slabs;   /* slabs and large blocks taken from the arena, resized or given back */
  uint64_t purges;  /* times that free pages went back to the system */
  uint64_t system_calls; /* on the address space, those of purges too; it wraps at 32 bits */
};
void hakmem_thread_paths(struct hakmem_paths* paths);

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
