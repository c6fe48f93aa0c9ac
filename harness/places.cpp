#include "harness/places.hpp"

#include <cstdlib>

#include "harness/errors.hpp"
#include "harness/files.hpp"

namespace hakmem::harness {

namespace {

bool is_root(const std::string& folder) { return exists(folder + "/boxes/boxes.def"); }

}  // namespace

std::string Places::observe_library() const {
  for (const std::string& folder : {folder_of(build) + "/observe", root + "/build/observe"}) {
    std::string library = folder + "/core/libhakmem-lab.so";
    if (exists(library)) return library;
  }
  return {};
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
