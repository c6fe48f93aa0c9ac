#include "harness/library.hpp"

#include <sys/stat.h>

#include <array>
#include <optional>

#include "harness/elf_file.hpp"
#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/sha256.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

struct Known {
  const char* name;
  const char* package;               ///< Debian's
  std::array<const char*, 2> files;  ///< sonames, first found wins
};

constexpr Known kSystem[] = {
    {"libc", "libc6", {"libc.so.6", "libc.so.6"}},
    {"mimalloc", "libmimalloc2.0", {"libmimalloc.so.2", "libmimalloc.so"}},
    {"jemalloc", "libjemalloc2", {"libjemalloc.so.2", "libjemalloc.so"}},
    {"tcmalloc", "libtcmalloc-minimal4", {"libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so"}},
};

/// Builds that may be ranked. observe and debug may not: they count or check on every call.
constexpr const char* kBuilds[] = {"standard",       "fast",           "fast-pgo",
                                   "standard-clang", "fast-clang",     "fast-pgo-clang",
                                   "hardened",       "hardened-clang", "spacing-8"};

constexpr std::string_view kClang = "-clang";

std::string without_compiler(const std::string& build) {
  return build.ends_with(kClang) ? build.substr(0, build.size() - kClang.size()) : build;
}

/// What to type for a build that is not there.
std::string build_advice(const std::string& build) {
  return "./hak build " + without_compiler(build) + (build.ends_with(kClang) ? " --clang" : "");
}

constexpr const char* kFolders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                    "/usr/lib64", "/usr/lib", "/usr/local/lib"};

std::string find_system(const Known& known) {
  for (const char* const folder : kFolders) {
    for (const char* const file : known.files) {
      std::string path = std::string(folder) + "/" + file;
      if (exists(path)) return path;
    }
  }
  throw Failure(Exit::missing, std::string(known.name) +
                                   " is not installed; type: apt-get install " + known.package);
}

void read_identity(Library* library) {
  struct stat status {};
  if (stat(library->path.c_str(), &status) != 0) return;
  library->device = status.st_dev;
  library->inode = status.st_ino;
  library->size = status.st_size;
  library->modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
}

/// Fills hash, build-id and kind from the file at `library->path`.
void read_facts(Library* library) {
  read_identity(library);
  const std::optional<std::string> bytes = read_file(library->path);
  const std::optional<ElfFacts> facts = bytes ? read_elf(*bytes) : std::nullopt;
  if (!facts || !facts->dynamic) {
    throw Failure(Exit::usage, library->path + " is not a shared library for this machine");
  }
  library->sha256 = sha256(*bytes);
  library->build_id = facts->build_id;
  for (const std::string& symbol : facts->exports) {
    if (symbol.starts_with("hakmem_")) library->hakmem = true;
  }
  const std::string file = base_of(library->path);
  if (file.starts_with("libhakmem")) library->hakmem = true;
  if (library->hakmem && file.find("lab") != std::string::npos) library->lab = true;
}

}  // namespace

std::string build_of(const std::string& name) {
  if (name == "lab") return "standard";
  for (const char* const build : kBuilds) {
    if (name == build) return name;
  }
  return {};
}

std::vector<std::string> library_names() {
  std::vector<std::string> names = {"lab"};
  for (const char* const build : kBuilds) names.emplace_back(build);
  names.emplace_back("glibc");
  for (const Known& known : kSystem) names.emplace_back(known.name);
  return names;
}

std::string profile_of(const Library& library) { return without_compiler(library.build); }

Json build_facts(const Library& library) {
  const auto read = [&](const char* file) {
    return Json::parse(read_file(folder_of(library.path) + "/" + file).value_or(""), nullptr,
                       false);
  };
  Json facts = read("build.json");
  if (!facts.is_object()) return nullptr;
  const Json training = read("training.json");
  if (training.is_object()) facts["training"] = training;
  return facts;
}

Library find_library(const std::string& name, const Places& places) {
  Library library;
  library.name = name;
  if (name == "glibc") return library;
  library.build = build_of(name);
  if (!library.build.empty()) {
    library.path = places.build_folder(library.build) + "/core/" +
                   (name == "lab" ? "libhakmem-lab.so" : "libhakmem.so");
    if (!exists(library.path)) {
      throw Failure(Exit::missing,
                    library.path + " is not built; type: " + build_advice(library.build));
    }
  }
  for (const Known& known : kSystem) {
    if (name == known.name) library.path = find_system(known);
  }
  if (library.path.empty()) {
    library.path = name.front() == '/' ? name : places.root + "/" + name;
    if (!exists(library.path)) {
      throw Failure(Exit::usage, "library path does not exist: " + library.path);
    }
  }
  library.path = real_path(library.path);
  read_facts(&library);
  return library;
}

bool same_file(const Library& library) {
  if (library.path.empty()) return true;
  Library now;
  now.path = library.path;
  read_identity(&now);
  return now.device == library.device && now.inode == library.inode && now.size == library.size &&
         now.modified_ns == library.modified_ns;
}

std::string allocator_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view file = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  constexpr const char* kNames[] = {"hakmem",   "mimalloc", "jemalloc", "tcmalloc", "snmalloc",
                                    "rpmalloc", "hoard",    "scudo",    "asan",     "tsan"};
  for (const char* const name : kNames) {
    if (file.starts_with(std::string("lib") + name)) return name;
  }
  return {};
}

}  // namespace hakmem::harness
