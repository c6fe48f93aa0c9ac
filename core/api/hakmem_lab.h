/* Switching boxes in a running process. Only libhakmem-lab.so has these calls; paired slices
   (docs/guide/slices.md) are made with them. No two threads may call them at once. */
#ifndef HAKMEM_LAB_H
#define HAKMEM_LAB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets the box with this ENV name; a shape box takes effect at hakmem_lab_apply(). 0, or -1 where
 * there is no such box, it is not marked live, the value is out of its range, or the system
 * refuses.
 */
int hakmem_lab_set_box(const char* env, int64_t value);

/** Leads malloc, free and new to the variant of the boxes as set. 0, or -1 where there is none. */
int hakmem_lab_apply(void);

/** Gives back everything that the calling thread's front caches. */
void hakmem_lab_flush(void);

/** Use count of a box over all threads (0 for one that has none), exact while they are at rest. */
uint64_t hakmem_lab_uses(const char* env);

/** Name of the variant that serves. */
const char* hakmem_lab_variant(void);

#ifdef __cplusplus
}
#endif

#endif
