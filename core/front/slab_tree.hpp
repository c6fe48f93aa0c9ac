// Box registry_lookup (record: the SuperSlab registry of E2): the slabs of arena 0 in an ordered
// tree, which free() searches. A treap by index of the first slice; one writer at a time, readers
// without a lock, who look again when a writer came between.
#pragma once

#include "front/front.hpp"

namespace hakmem {

/// Room for the tree's nodes. False when there is none.
bool slab_tree_init();

/// Notes a slab. False when there is no memory for its node.
bool slab_tree_add(const Slab* slab);
void slab_tree_remove(const Slab* slab);

/// First slice of the slab with the greatest first slice up to this one; SIZE_MAX: none.
std::size_t slab_tree_find(std::size_t slice);

}  // namespace hakmem
