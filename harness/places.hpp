// Where things are: the repository, the build folder, the programs that `hak` starts.
#pragma once

#include <string>

namespace hakmem::harness {

struct Places {
  std::string executable;  ///< the hak program itself
  std::string build;       ///< build folder: <build>/harness/hak is the program
  std::string root;        ///< repository: the folder that holds boxes/boxes.def

  [[nodiscard]] std::string spawn_helper() const { return build + "/harness/spawn/hak-spawn"; }
  [[nodiscard]] std::string hakbench() const { return build + "/harness/hakbench/hakbench"; }
  /// Folder of a build: this program's own for "standard", else the one beside it.
  [[nodiscard]] std::string build_folder(const std::string& name) const;
  /// Library of the observe build beside this one, or "" where that was not built.
  [[nodiscard]] std::string observe_library() const;
};

/// Finds them: HAK_ROOT where it is set, else upwards from the executable. Throws Failure(missing)
/// where no repository is found, so a program that was moved away says so.
Places find_places();

}  // namespace hakmem::harness
