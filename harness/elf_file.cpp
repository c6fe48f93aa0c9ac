#include "harness/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

/// Reads a T at `offset`; false where it would leave the image.
template <typename T>
bool read_at(std::string_view bytes, std::uint64_t offset, T* value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(value, bytes.data() + offset, sizeof(T));
  return true;
}

/// A piece of the image; empty where it would leave it.
std::string_view piece(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

std::string text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

/// The build-id of a note segment or section, or "".
std::string build_id_of(std::string_view notes, std::uint64_t align) {
  const std::uint64_t step = align == 8 ? 8 : 4;
  const auto up = [step](std::uint64_t value) { return (value + step - 1) / step * step; };
  std::uint64_t at = 0;
  Elf64_Nhdr note;
  while (read_at(notes, at, &note)) {
    const std::uint64_t name_at = at + sizeof note;
    const std::uint64_t data_at = name_at + up(note.n_namesz);
    const std::string_view data = piece(notes, data_at, note.n_descsz);
    if (note.n_type == NT_GNU_BUILD_ID &&
        piece(notes, name_at, 4) == std::string_view("GNU\0", 4)) {
      return hex(reinterpret_cast<const std::uint8_t*>(data.data()), data.size());
    }
    at = data_at + up(note.n_descsz);
  }
  return {};
}

/// Fills exports and imports from the section that holds the dynamic symbols.
void read_symbols(std::string_view bytes, const Elf64_Ehdr& header, ElfFacts* facts) {
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!read_at(bytes, header.e_shoff + std::uint64_t{i} * header.e_shentsize, &section)) return;
    if (section.sh_type != SHT_DYNSYM) continue;
    Elf64_Shdr strings;
    const std::uint64_t strings_at =
        header.e_shoff + std::uint64_t{section.sh_link} * header.e_shentsize;
    if (!read_at(bytes, strings_at, &strings)) return;
    const std::string_view table = piece(bytes, strings.sh_offset, strings.sh_size);
    const std::string_view symbols = piece(bytes, section.sh_offset, section.sh_size);
    Elf64_Sym symbol;
    for (std::uint64_t at = 0; read_at(symbols, at, &symbol); at += sizeof symbol) {
      std::string name = text_at(table, symbol.st_name);
      if (name.empty()) continue;
      (symbol.st_shndx == SHN_UNDEF ? facts->imports : facts->exports).push_back(std::move(name));
    }
  }
}

}  // namespace

bool ElfFacts::defines(std::string_view name) const {
  return std::find(exports.begin(), exports.end(), name) != exports.end();
}

bool ElfFacts::wants(std::string_view name) const {
  return std::find(imports.begin(), imports.end(), name) != imports.end();
}

std::optional<ElfFacts> read_elf(std::string_view bytes) {
  Elf64_Ehdr header;
  if (!read_at(bytes, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return std::nullopt;
  }
  ElfFacts facts;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(bytes, header.e_phoff + std::uint64_t{i} * header.e_phentsize, &segment)) {
      return std::nullopt;
    }
    if (segment.p_type == PT_DYNAMIC) facts.dynamic = true;
    if (segment.p_type == PT_INTERP) facts.interpreter = true;
    if (segment.p_type == PT_NOTE && facts.build_id.empty()) {
      facts.build_id =
          build_id_of(piece(bytes, segment.p_offset, segment.p_filesz), segment.p_align);
    }
  }
  read_symbols(bytes, header, &facts);
  return facts;
}

}  // namespace hakmem::harness
