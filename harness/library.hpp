// Allocator libraries as arms: names to files, and what a file is (hash, build-id, whose it is).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/placed_json.hpp"
#include "harness/places.hpp"

namespace hakmem::harness {

/// A library that can serve malloc. `path` is "" for glibc, which needs no preload.
struct Library {
  std::string name;      ///< as the experiment says: lab, standard, glibc, mimalloc, a path, …
  std::string path;      ///< resolved file, links followed
  std::string sha256;    ///< of the file; "" for glibc
  std::string build_id;  ///< "" where it has none
  bool hakmem = false;   ///< one of ours: reads box variables and writes HAKMEM_REPORT
  bool lab = false;      ///< holds the variants of shape and boot boxes
  std::string build;     ///< folder below build/ that holds it: standard, fast, …; "" for others
  std::uint64_t device = 0, inode = 0;     ///< identity of the file that was hashed
  std::int64_t size = 0, modified_ns = 0;  ///< the same
};

/// Names that need no path: lab, builds of libhakmem.so (standard, fast, fast-pgo, and of each one
/// clang's), glibc, and the allocators that Debian has.
std::vector<std::string> library_names();

/// Folder below build/ that holds a named library of ours; "" for any other name.
std::string build_of(const std::string& name);

/// Profile of a build of ours: that of "fast-pgo-clang" is "fast-pgo".
std::string profile_of(const Library& library);

/// How a library of ours was built: {"profile", "compiler", "flags"} and, of a trained build,
/// "training"; null where its folder does not say.
Json build_facts(const Library& library);

/// Finds and hashes a library. `name` is one of library_names() or a path (relative ones start at
/// the repository). Throws Failure(missing) where a named one is not built or installed, saying
/// what to do, and Failure(usage) where a path holds no 64-bit ELF library.
Library find_library(const std::string& name, const Places& places);

/// True while the file still is the one that was hashed (device, inode, size, time).
bool same_file(const Library& library);

/// Name of the allocator that a mapped file is ("jemalloc" for /usr/lib/…/libjemalloc.so.2), or ""
/// for a file that is none.
std::string allocator_of(std::string_view path);

}  // namespace hakmem::harness
