// USDT probes (provider `hakmem`): a nop on a slow path and a note that tells tracers where it is
// and where its arguments lie. Without sys/sdt.h at build time there are none.
//
//   refill(block_size, blocks)       a cache was filled with so many blocks
//   purge(bytes, runs)               so much went back to the system, in so many calls
//   adoption(block_size, slab)       a slab of an ended thread got a new owner; `slab`: its start
#pragma once

#ifdef HAKMEM_PROBES
#include <sys/sdt.h>
#define HAK_PROBE(name, first, second) DTRACE_PROBE2(hakmem, name, first, second)
#else
#define HAK_PROBE(name, first, second) static_cast<void>(0)
#endif
