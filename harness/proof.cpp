#include "harness/proof.hpp"

#include <map>
#include <optional>
#include <sstream>

#include "harness/elf_file.hpp"
#include "harness/files.hpp"

namespace hakmem::harness {

namespace {

/// Facts of a program file, read once.
const std::optional<ElfFacts>& program_facts(const std::string& path) {
  static std::map<std::string, std::optional<ElfFacts>> known;
  const auto found = known.find(path);
  if (found != known.end()) return found->second;
  const std::optional<std::string> bytes = read_file(path);
  return known[path] = bytes ? read_elf(*bytes) : std::nullopt;
}

/// Names by which a program calls an allocator past malloc, so that no preload can step in.
bool calls_directly(const ElfFacts& program, const std::string& allocator) {
  static const std::map<std::string, std::string> kPrefixes = {
      {"jemalloc", "je_"}, {"mimalloc", "mi_"}, {"tcmalloc", "tc_"}};
  const auto prefix = kPrefixes.find(allocator);
  if (prefix == kPrefixes.end()) return false;
  for (const char* const call : {"malloc", "calloc", "realloc", "free"}) {
    if (program.wants(prefix->second + call)) return true;
  }
  return false;
}

std::string member_text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

class Prover {
 public:
  Prover(const Arm& arm, const Cell& cell, const ProcessResult& result, const Json& record)
      : arm_(arm), cell_(cell), result_(result), record_(record) {}

  Proof judge(const std::string& report_text) {
    Proof proof;
    check_process();
    check_mapping();
    check_other_allocators();
    check_record();
    Json report = nullptr;
    if (arm_.library.hakmem) {
      report = find_report(report_text, result_.pid);
      for (std::string& problem : report_problems(arm_, report)) add(std::move(problem));
    }
    proof.problems = std::move(problems_);
    const auto or_null = [](const std::string& text) {
      return text.empty() ? Json(nullptr) : Json(text);
    };
    proof.json = {{"ok", proof.problems.empty()},
                  {"problems", proof.problems},
                  {"mapped", or_null(mapped_ ? base_of(wanted_path()) : std::string())},
                  {"sha256", or_null(arm_.library.sha256)},
                  {"build_id", or_null(arm_.library.build_id)},
                  {"serves_malloc", serves_malloc_},
                  {"report", report}};
    if (!notes_.empty()) proof.json["notes"] = notes_;
    return proof;
  }

 private:
  void add(std::string problem) { problems_.push_back(std::move(problem)); }

  [[nodiscard]] std::string wanted_path() const {
    return arm_.library.path.empty() ? result_.maps.libc() : arm_.library.path;
  }

  /// A shell that was to become a server must have become it when it was looked at.
  void check_process() {
    if (cell_.process.empty() || result_.maps.empty()) return;
    if (result_.maps.executable == real_path(cell_.process)) return;
    add("the process that was looked at is " + base_of(result_.maps.executable) + ", not " +
        base_of(cell_.process));
  }

  void check_mapping() {
    if (!same_file(arm_.library)) add(arm_.library.path + " has changed since the run began");
    if (result_.maps.empty()) {
      const bool other_evidence = record_.is_object() || arm_.library.hakmem;
      if (!other_evidence) add("the process ended before its maps could be read");
      return;
    }
    const std::string wanted = wanted_path();
    mapped_ = !wanted.empty() && result_.maps.has(wanted);
    const std::optional<ElfFacts>& program = program_facts(result_.maps.executable);
    const bool is_static = program && !program->interpreter;
    if (is_static) {
      add(base_of(result_.maps.executable) +
          " is static: no preload applies to it, it brings its own malloc");
    } else if (!mapped_) {
      add((wanted.empty() ? std::string("libc.so.6") : base_of(wanted)) +
          " is not mapped: the preload did not take effect");
    }
    if (program && program->interpreter && program->defines("malloc")) {
      add(base_of(result_.maps.executable) + " defines malloc itself, in front of any preload");
    }
    serves_malloc_ = mapped_ && problems_.empty();
  }

  void check_other_allocators() {
    const std::optional<ElfFacts>& program = program_facts(result_.maps.executable);
    for (const std::string& file : result_.maps.files) {
      const std::string allocator = allocator_of(file);
      if (allocator.empty() || file == arm_.library.path) continue;
      if (arm_.library.path.empty()) {
        add(base_of(file) +
            " is mapped and serves malloc, not glibc; to measure glibc here, name "
            "the path of libc.so.6 as the library");
        serves_malloc_ = false;
      } else if (program && calls_directly(*program, allocator)) {
        add("the program calls " + allocator + " by its own names, past any preload");
        serves_malloc_ = false;
      } else {
        notes_.push_back(base_of(file) + " is mapped as well; malloc binds to the preload first");
      }
    }
  }

  void check_record() {
    if (!record_.is_object()) return;
    const std::string serving = real_path(member_text(record_, "malloc_library"));
    const std::string base = base_of(serving);
    const bool right = arm_.library.path.empty()
                           ? base.starts_with("libc.so") || base.starts_with("libc-2")
                           : serving == arm_.library.path;
    serves_malloc_ = right;
    if (right) return;
    add("malloc is served by " + (base.empty() ? std::string("an unknown object") : base) +
        ", not by " + (arm_.library.path.empty() ? "libc.so.6" : base_of(arm_.library.path)));
  }

  const Arm& arm_;
  const Cell& cell_;
  const ProcessResult& result_;
  const Json& record_;
  std::vector<std::string> problems_, notes_;
  bool mapped_ = false, serves_malloc_ = false;
};

/// Problem of one box's line in the report, or "".
std::string box_problem(const Arm& arm, const boxes::Box& box, std::int64_t wanted,
                        const Json& reported) {
  const std::string name = box.env;
  const auto value = reported.is_object() ? reported.find("value") : reported.end();
  if (!reported.is_object() || value == reported.end() || !value->is_number_integer()) {
    return name + " is not in the allocator's report";
  }
  if (value->get<std::int64_t>() != wanted) {
    return name + " is " + value->dump() + ", wanted " + std::to_string(wanted);
  }
  const bool counted = box.kind == boxes::Kind::data || box.kind == boxes::Kind::slow;
  if (!counted || !arm.env.contains(name) || wanted == box.default_value) return {};
  const auto uses = reported.find("uses");
  if (uses == reported.end() || !uses->is_number()) return name + " has no use count";
  if (uses->get<double>() == 0) {
    return name + " was set to " + std::to_string(wanted) + " and never used (0 " + box.counter +
           ")";
  }
  return {};
}

/// Shape and boot boxes decide which variant must serve malloc.
std::string variant_problem(const Arm& arm, const Json& report) {
  const std::string variant = member_text(report, "variant");
  bool changed = false;
  for (const auto& entry : boxes::kBoxes) {
    const bool fixed_code =
        entry.box.kind == boxes::Kind::shape || entry.box.kind == boxes::Kind::boot;
    const auto value = arm.boxes.find(entry.box.env);
    if (fixed_code && value != arm.boxes.end() && value->second != entry.box.default_value) {
      changed = true;
    }
  }
  if (changed && variant == "baseline") {
    return "the variant is \"baseline\", though the arm sets a shape or boot box";
  }
  if (!changed && !variant.empty() && variant != "baseline") {
    return "the variant is \"" + variant + "\", wanted \"baseline\"";
  }
  const auto entries = report.find("entries");
  if (entries == report.end() || !entries->is_object()) return {};
  const std::string serving = member_text(*entries, "malloc");
  if (!serving.empty() && serving != variant) {
    return "malloc is served by the variant \"" + serving + "\", not \"" + variant + "\"";
  }
  return {};
}

}  // namespace

Json find_report(const std::string& report, pid_t pid) {
  Json best = nullptr;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    Json parsed = Json::parse(line, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("pid") || parsed["pid"] != pid) continue;
    const bool best_is_exit = best.is_object() && member_text(best, "event") == "exit";
    if (!best_is_exit || member_text(parsed, "event") == "exit") best = std::move(parsed);
  }
  return best;
}

std::vector<std::string> report_problems(const Arm& arm, const Json& report) {
  if (!report.is_object()) return {"the allocator wrote no report (HAKMEM_REPORT)"};
  std::vector<std::string> problems;
  const std::string library = member_text(report, "library");
  const auto must_be = [&](const char* what, const std::string& found, const std::string& wanted) {
    if (found == wanted) return;
    problems.push_back("the report is of the " + std::string(what) + " \"" + found +
                       "\", wanted \"" + wanted + "\"");
  };
  if (!arm.library.build.empty()) {
    must_be("library", library, arm.library.name == "lab" ? "lab" : "standard");
    must_be("profile", member_text(report, "profile"), profile_of(arm.library));
  }
  const auto boxes = report.find("boxes");
  for (const auto& entry : boxes::kBoxes) {
    const auto wanted = arm.boxes.find(entry.box.env);
    if (wanted == arm.boxes.end()) continue;
    // A library by its path may be another version of ours, with other boxes and other defaults.
    if (arm.library.build.empty() && !arm.env.contains(entry.box.env)) continue;
    const Json reported = boxes != report.end() && boxes->is_object()
                              ? boxes->value(entry.box.env, Json(nullptr))
                              : Json(nullptr);
    std::string problem = box_problem(arm, entry.box, wanted->second, reported);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  std::string problem = library == "standard" ? std::string() : variant_problem(arm, report);
  if (!problem.empty()) problems.push_back(std::move(problem));
  return problems;
}

Proof prove(const Arm& arm, const Cell& cell, const ProcessResult& result, const Json& record,
            const std::string& report) {
  return Prover(arm, cell, result, record).judge(report);
}

}  // namespace hakmem::harness
