#include "harness/hakbench/direct.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "harness/hakbench/failure.hpp"
#include "harness/hakbench/text.hpp"

namespace hakbench {

namespace {

bool direct;

struct Calls {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
};

[[noreturn]] void refuse(std::string_view why) {
  Text text(STDERR_FILENO);
  text << "hakbench: HAKBENCH_CALLS: " << why << '\n';
  text.flush();
  _exit(kExitUsage);
}

/// Tables of this program's dynamic section.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * parts[2] = {};  ///< of the procedure linkage table, and all others
  std::size_t counts[2] = {};
};

Tables read_tables(std::uintptr_t base) {
  Tables tables;
  for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    // The loader may have added the base to addresses already.
    const std::uintptr_t value = entry->d_un.d_ptr;
    const auto* at = reinterpret_cast<const char*>(value < base ? value + base : value);
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(at);
        break;
      case DT_STRTAB:
        tables.names = at;
        break;
      case DT_JMPREL:
        tables.parts[0] = reinterpret_cast<const ElfW(Rela)*>(at);
        break;
      case DT_PLTRELSZ:
        tables.counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        tables.parts[1] = reinterpret_cast<const ElfW(Rela)*>(at);
        break;
      case DT_RELASZ:
        tables.counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
      default:
        break;
    }
  }
  return tables;
}

int take_base(dl_phdr_info* info, std::size_t, void* base) {
  *static_cast<std::uintptr_t*>(base) = info->dlpi_addr;
  return 1;  // the first is the program itself
}

/// The table is read-only by now.
void redirect(std::uintptr_t slot, const void* to) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<void*>(slot & ~(page - 1));
  if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) refuse("the system refused memory");
  std::memcpy(reinterpret_cast<void*>(slot), &to, sizeof to);
  mprotect(start, page, PROT_READ);
}

/// Leads every entry of the name to other code; gives their number.
unsigned redirect_all(const Tables& tables, std::uintptr_t base, const char* name, const void* to) {
  unsigned count = 0;
  for (unsigned part = 0; part < 2; ++part) {
    for (std::size_t i = 0; i < tables.counts[part]; ++i) {
      const ElfW(Rela)& entry = tables.parts[part][i];
      const std::size_t symbol = ELF64_R_SYM(entry.r_info);
      if (symbol == 0 || std::strcmp(tables.names + tables.symbols[symbol].st_name, name) != 0) {
        continue;
      }
      redirect(base + entry.r_offset, to);
      ++count;
    }
  }
  return count;
}

void make_direct() {
  void* symbol = ::dlsym(RTLD_DEFAULT, "hakmem_direct_calls");
  if (symbol == nullptr) refuse("direct calls need hakmem, which does not serve this process");
  Calls calls{};
  reinterpret_cast<void (*)(Calls*)>(symbol)(&calls);
  std::uintptr_t base = 0;
  dl_iterate_phdr(take_base, &base);
  const Tables tables = read_tables(base);
  if (redirect_all(tables, base, "malloc", reinterpret_cast<const void*>(calls.malloc)) == 0 ||
      redirect_all(tables, base, "free", reinterpret_cast<const void*>(calls.free)) == 0) {
    refuse("this program's calls cannot be redirected");
  }
}

}  // namespace

bool choose_calls() {
  const char* wanted = std::getenv("HAKBENCH_CALLS");
  if (wanted == nullptr || std::strcmp(wanted, "preload") == 0) return false;
  if (std::strcmp(wanted, "direct") != 0) refuse("not preload or direct");
  make_direct();
  direct = true;
  return true;
}

bool calls_are_direct() { return direct; }

}  // namespace hakbench
