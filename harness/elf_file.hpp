// What an ELF file says about itself: build-id, whether it is dynamic, which names it exports and
// imports. Read from the file's bytes, without libelf.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hakmem::harness {

struct ElfFacts {
  std::string build_id;              ///< hexadecimal; "" where the file has none
  bool dynamic = false;              ///< has a dynamic section: LD_PRELOAD can apply to it
  bool interpreter = false;          ///< names a dynamic linker (an executable that one starts)
  std::vector<std::string> exports;  ///< dynamic symbols that the file defines
  std::vector<std::string> imports;  ///< dynamic symbols that it wants from others

  [[nodiscard]] bool defines(std::string_view name) const;
  [[nodiscard]] bool wants(std::string_view name) const;
};

/// Facts of a 64-bit little-endian ELF image, or nothing where `bytes` is no such image or its
/// tables point outside it.
std::optional<ElfFacts> read_elf(std::string_view bytes);

}  // namespace hakmem::harness
