// What the profiles `debug` and `hardened` do beside: every free is of a block's start, once, and
// of a block that was not overrun; freed memory is filled, and nobody has written to it when it is
// handed out again. `hardened` besides stores links encoded and hands out the blocks of a refill in
// random order. Each part can be skipped by a box of its own, so that its price is measured.
#pragma once

#include "base/types.hpp"
#include "slab/slab.hpp"

namespace hakmem {

/// `p` is about to be handed out: nobody wrote to it since it was freed; sets its canary.
void guard_allocated(void* p);

/// `p` was given to free: aborts unless it is the start of a block that is out, and whole; fills
/// it.
void guard_freed(void* p);

/// The last `count` carved blocks of a slab are fresh: fills them as if they had been freed.
void guard_carved(const Slab& slab, std::uint32_t count);

/// Puts the blocks of a chain in random order (no more than a refill has).
void shuffle(Chain& chain);

std::uint64_t guard_random();

/// Start-up: the key of the links.
void guard_start();

}  // namespace hakmem
