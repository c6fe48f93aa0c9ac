#include "harness/places.hpp"

#include <cstdlib>

#include "harness/errors.hpp"
#include "harness/files.hpp"

namespace hakmem::harness {

namespace {

bool is_root(const std::string& folder) { return exists(folder + "/boxes/boxes.def"); }

}  // namespace

std::string Places::build_folder(const std::string& name) const {
  if (name == "standard") return build;
  std::string beside = folder_of(build) + "/" + name;
  return exists(beside) ? beside : root + "/build/" + name;
}

std::string Places::observe_library() const {
  std::string library = build_folder("observe") + "/core/libhakmem-lab.so";
  return exists(library) ? library : std::string();
}

Places find_places() {
  Places places;
  places.executable = real_path("/proc/self/exe");
  places.build = folder_of(folder_of(places.executable));
  const char* const named = std::getenv("HAK_ROOT");
  if (named != nullptr && *named != '\0') {
    places.root = real_path(named);
    if (places.root.empty() || !is_root(places.root)) {
      throw Failure(Exit::missing,
                    std::string("HAK_ROOT=") + named + " holds no boxes/boxes.def; unset it");
    }
    return places;
  }
  for (std::string folder = folder_of(places.executable); folder != "/";
       folder = folder_of(folder)) {
    if (is_root(folder)) {
      places.root = folder;
      return places;
    }
  }
  throw Failure(Exit::missing, places.executable +
                                   " stands in no hakmem repository (no boxes/boxes.def above it); "
                                   "set HAK_ROOT to the repository");
}

}  // namespace hakmem::harness
