#include "front/slab_tree.hpp"

#include "base/lock.hpp"
#include "os/memory.hpp"

namespace hakmem {

namespace {

/// A link is the index of a slice plus 1; 0 is none.
using NodeLink = std::atomic<std::uint32_t>;

struct Node {
  NodeLink left, right;
};

constexpr std::size_t kCommitNodes = 64 * kPageSize / sizeof(Node);
constexpr unsigned kDeepest = 200;  ///< no treap of 2^24 nodes is so deep: a reader lost its way

Node* nodes;  // by index of the slice
std::size_t committed;
NodeLink root;
std::atomic<std::uint64_t> version;  // odd while a writer works

Lock& tree_lock() { return lock_of(Rank::slab_tree); }

std::uint32_t get(const NodeLink& link) { return link.load(std::memory_order_acquire); }
void set(NodeLink& link, std::uint32_t to) { link.store(to, std::memory_order_release); }
Node& node(std::uint32_t link) { return nodes[link - 1]; }

/// The heap order of the treap: a fixed hash, so that a tree of slabs has one form.
std::uint32_t priority(std::uint32_t link) {
  return static_cast<std::uint32_t>(link * 0x9E3779B97F4A7C15ULL >> 32);
}

class Change {
 public:
  Change() { version.fetch_add(1, std::memory_order_acq_rel); }
  ~Change() { version.fetch_add(1, std::memory_order_release); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
};

/// Cuts a tree into what lies before a key and what lies behind it.
void split(std::uint32_t tree, std::uint32_t key, NodeLink* before, NodeLink* behind) {
  while (tree != 0) {
    if (tree < key) {
      set(*before, tree);
      before = &node(tree).right;
      tree = get(*before);
    } else {
      set(*behind, tree);
      behind = &node(tree).left;
      tree = get(*behind);
    }
  }
  set(*before, 0);
  set(*behind, 0);
}

/// Joins two trees, all of the first before all of the second, at a link.
void join(NodeLink* at, std::uint32_t first, std::uint32_t second) {
  while (first != 0 && second != 0) {
    if (priority(first) > priority(second)) {
      set(*at, first);
      at = &node(first).right;
      first = get(*at);
    } else {
      set(*at, second);
      at = &node(second).left;
      second = get(*at);
    }
  }
  set(*at, first != 0 ? first : second);
}

/// Only slabs of arena 0: the fast path of free() knows no others.
bool link_of(const Slab* slab, std::uint32_t& link) {
  const auto slice = static_cast<std::size_t>(slab - sealed.records);
  link = static_cast<std::uint32_t>(slice + 1);
  return slab >= sealed.records && slice < sealed.arena_slices;
}

bool commit_to(std::size_t slice) {
  if (slice < committed) return true;
  std::size_t wanted = align_up(slice + 1, kCommitNodes);
  if (!os::commit(nodes + committed, (wanted - committed) * sizeof(Node))) return false;
  committed = wanted;
  return true;
}

}  // namespace

bool slab_tree_init() {
  nodes =
      static_cast<Node*>(os::reserve(align_up(sealed.arena_slices, kCommitNodes) * sizeof(Node)));
  return nodes != nullptr;
}

bool slab_tree_add(const Slab* slab) {
  std::uint32_t key;
  if (!link_of(slab, key)) return true;
  Guard guard(tree_lock());
  if (!commit_to(key - 1)) return false;
  const Change change;
  NodeLink* at = &root;
  for (std::uint32_t next = get(*at); next != 0 && priority(next) > priority(key);
       next = get(*at)) {
    at = key < next ? &node(next).left : &node(next).right;
  }
  split(get(*at), key, &node(key).left, &node(key).right);
  set(*at, key);
  return true;
}

void slab_tree_remove(const Slab* slab) {
  std::uint32_t key;
  if (!link_of(slab, key)) return;
  Guard guard(tree_lock());
  const Change change;
  NodeLink* at = &root;
  for (std::uint32_t next = get(*at); next != key && next != 0; next = get(*at)) {
    at = key < next ? &node(next).left : &node(next).right;
  }
  if (get(*at) == key) join(at, get(node(key).left), get(node(key).right));
}

std::size_t slab_tree_find(std::size_t slice) {
  for (;;) {
    const std::uint64_t before = version.load(std::memory_order_acquire);
    std::uint32_t found = 0;
    std::uint32_t at = get(root);
    for (unsigned depth = 0; at != 0 && depth < kDeepest; ++depth) {
      const bool up_to = at - 1 <= slice;
      if (up_to) found = at;
      at = get(up_to ? node(at).right : node(at).left);
    }
    if (before % 2 == 0 && version.load(std::memory_order_relaxed) == before) {
      return found != 0 ? found - 1 : SIZE_MAX;
    }
  }
}

}  // namespace hakmem
