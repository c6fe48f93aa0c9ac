// Arms of an experiment: two values of a box, or anything that differs in library or environment.
#include <algorithm>
#include <limits>

#include "harness/errors.hpp"
#include "harness/experiment_parts.hpp"
#include "harness/files.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

using Env = std::map<std::string, std::string>;

constexpr const char* kQuotedPeer = "mimalloc";
const std::vector<std::string> kRoles = {"baseline", "treatment", "reference"};

/// Value of an environment variable: text, or a whole number for convenience.
std::string env_value(const Checker& check, const std::string& path, const Json& value) {
  if (value.is_number_integer()) return value.dump();
  if (!value.is_string()) check.fail(path, "must be a text or a whole number");
  std::string text = value.get<std::string>();
  if (text.find('\0') != std::string::npos) check.fail(path, "must not hold a zero byte");
  return text;
}

/// Checks a HAKMEM_ variable against the registry.
void check_box(const Checker& check, const std::string& path, const std::string& name,
               const std::string& value) {
  const boxes::NamedBox* const entry = find_box(name);
  if (entry == nullptr || name != entry->box.env) {
    check.fail(path, "unknown box" + nearest_hint(name, box_names()));
  }
  std::int64_t number = 0;
  if (!parse_integer(value, &number) || number < entry->box.minimum ||
      number > entry->box.maximum) {
    check.fail(path, "\"" + value + "\" is not a value of " + name + " (" +
                         std::to_string(entry->box.minimum) + " to " +
                         std::to_string(entry->box.maximum) + ")");
  }
}

Env read_env(const Checker& check, const std::string& path, const Json& object) {
  static const std::vector<std::string> kOwned = {"LD_PRELOAD", "PATH",          "HOME",
                                                  "LC_ALL",     "HAKMEM_STRICT", "TMPDIR",
                                                  "HAK_PAD",    "HAKMEM_REPORT"};
  if (!object.is_object()) check.fail(path, "must be an object of names and values");
  Env env;
  for (const auto& [name, value] : object.items()) {
    const std::string place = child_path(path, name);
    if (name.empty() || name.find_first_of(std::string("=\0", 2)) != std::string::npos) {
      check.fail(place, "is not a name of an environment variable");
    }
    if (std::find(kOwned.begin(), kOwned.end(), name) != kOwned.end()) {
      check.fail(place, "is set by the harness itself");
    }
    const std::string text = env_value(check, place, value);
    if (name.starts_with("HAKMEM_")) check_box(check, place, name, text);
    env[name] = text;
  }
  return env;
}

class ArmReader {
 public:
  ArmReader(const Checker& check, const Json& root, const Places& places, Experiment* result)
      : check_(check), root_(root), places_(places), result_(result) {}

  void read() {
    if (const Json* const env = Checker::find(root_, "base_env")) {
      base_env_ = read_env(check_, "base_env", *env);
    }
    if (const Json* const library = Checker::find(root_, "library")) {
      library_ = check_.line("library", *library);
    }
    read_by_form();
    read_references();
    read_libraries();
    order_roles();
    share_names();
    if (!missing_.empty()) throw Failure(Exit::missing, missing_);
  }

 private:
  /// The arms stand in one of three forms.
  void read_by_form() {
    const bool pair = root_.contains("box") || root_.contains("values");
    const bool list = root_.contains("arms"), factors = root_.contains("factors");
    if (pair + list + factors > 1) {
      check_.fail(list ? "arms" : "factors", "give one of box and values, arms, and factors");
    }
    if (pair) return read_pair();
    if (list) return read_list();
    if (factors) return read_factors();
    check_.fail("", "the key \"box\" (with \"values\"), \"arms\" or \"factors\" is missing");
  }

  /// Both arms set the same names: what one hakmem arm sets, the others set to its default.
  void share_names() {
    Env shared;
    for (const Arm& arm : result_->arms) {
      for (const auto& [name, value] : arm.env) {
        const boxes::NamedBox* const entry = find_box(name);
        if (entry != nullptr) shared[name] = std::to_string(entry->box.default_value);
      }
    }
    for (Arm& arm : result_->arms) {
      if (arm.library.hakmem) arm.env.insert(shared.begin(), shared.end());
    }
  }

  void read_pair() {
    const std::string box = check_.line("box", check_.need("", root_, "box"));
    if (const boxes::NamedBox* const entry = find_box(box);
        entry == nullptr || box != entry->box.env) {
      check_.fail("box", "unknown box \"" + box + "\"" + nearest_hint(box, box_names()));
    }
    const Json& values = check_.list("values", check_.need("", root_, "values"), 2);
    if (values.size() != 2) check_.fail("values", "must be [baseline, treatment]");
    if (base_env_.contains(box)) {
      check_.fail(child_path("base_env", box), "is the box under test; its values stand in values");
    }
    result_->box = box;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string path = child_path("values", i);
      const std::string value = env_value(check_, path, values[i]);
      check_box(check_, path, box, value);
      add(path, kRoles[i], kRoles[i], "library", library_, {{box, value}});
    }
  }

  void read_list() {
    const Json& arms = check_.list("arms", root_["arms"], 2);
    for (std::size_t i = 0; i < arms.size(); ++i) {
      const std::string path = child_path("arms", i);
      check_.keys(path, arms[i], {"name", "library", "env", "role"});
      const std::string name = read_name(path, arms[i]);
      std::string role = kRoles[std::min<std::size_t>(i, 2)];
      if (const Json* const given = Checker::find(arms[i], "role")) {
        role = check_.word(path + ".role", *given, kRoles);
      }
      const Json* const library = Checker::find(arms[i], "library");
      const Json* const env = Checker::find(arms[i], "env");
      add(path, name, role, library == nullptr ? "library" : path + ".library",
          library == nullptr ? library_ : check_.line(path + ".library", *library),
          env == nullptr ? Env() : read_env(check_, path + ".env", *env));
    }
  }

  /// The product of lists of values: of boxes, and of libraries. The baseline has the first value
  /// of each; every other arm is named after what it changes.
  void read_factors() {
    constexpr std::size_t kMostArms = 64;
    const Json& factors = root_["factors"];
    if (!factors.is_object() || factors.empty()) {
      check_.fail("factors", "must be an object of boxes (or \"library\") and lists of values");
    }
    std::vector<Draft> drafts = {{"", library_, {}, false}};
    for (const auto& [factor, values] : factors.items()) {
      const std::string path = child_path("factors", factor);
      check_.list(path, values, 2);
      std::vector<Draft> next;
      for (const Draft& draft : drafts) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          next.push_back(with_factor(draft, factor, child_path(path, i), values[i], i > 0));
        }
      }
      if (next.size() > kMostArms) check_.fail("factors", "the product of its lists is too large");
      drafts = std::move(next);
    }
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      Draft& draft = drafts[i];
      if (!find("factors.library", draft.library).hakmem) {
        if (draft.boxes_changed) continue;  // it has no boxes: it stands here once
        draft.env.clear();
      }
      add("factors", i == 0 ? "baseline" : draft.name, kRoles[i == 0 ? 0 : 1], "factors.library",
          draft.library, draft.env);
    }
  }

  /// An arm in the making.
  struct Draft {
    std::string name, library;
    Env env;
    bool boxes_changed = false;
  };

  Draft with_factor(Draft draft, const std::string& factor, const std::string& place,
                    const Json& value, bool changed) const {
    std::string word;
    if (factor == "library") {
      draft.library = check_.line(place, value);
      word = draft.library.substr(draft.library.rfind('/') + 1);
    } else {
      const std::string text = env_value(check_, place, value);
      check_box(check_, place, factor, text);
      draft.env[factor] = text;
      draft.boxes_changed = draft.boxes_changed || changed;
      word = std::string(find_box(factor)->id) + "_" + text;
    }
    if (changed) draft.name += (draft.name.empty() ? "" : ".") + word;
    return draft;
  }

  void read_references() {
    const Json* const references = Checker::find(root_, "references");
    if (references == nullptr) return;
    result_->names_references = true;
    check_.list("references", *references, 0);
    for (std::size_t i = 0; i < references->size(); ++i) {
      const std::string path = child_path("references", i);
      const std::string library = check_.line(path, (*references)[i]);
      const std::string name = library.substr(library.rfind('/') + 1);
      add(path, name, "reference", path, library, {});
    }
  }

  /// Libraries beside the arms, each with a name of its own: what --lib adds.
  void read_libraries() {
    const Json* const libraries = Checker::find(root_, "libraries");
    if (libraries == nullptr) return;
    check_.list("libraries", *libraries, 0);
    for (std::size_t i = 0; i < libraries->size(); ++i) {
      const std::string path = child_path("libraries", i);
      const Json& entry = (*libraries)[i];
      check_.keys(path, entry, {"name", "library"});
      add(path, read_name(path, entry), "reference", path + ".library",
          check_.line(path + ".library", check_.need(path, entry, "library")), {});
    }
  }

  std::string read_name(const std::string& path, const Json& entry) {
    const std::string name = check_.line(path + ".name", check_.need(path, entry, "name"));
    if (!is_plain_name(name)) {
      check_.fail(path + ".name", "may hold letters, digits, '.', '_' and '-' only");
    }
    return name;
  }

  Library find(const std::string& path, const std::string& name) {
    const std::vector<std::string> names = library_names();
    const bool is_path = name.find('/') != std::string::npos;
    if (!is_path && std::find(names.begin(), names.end(), name) == names.end()) {
      check_.fail(path, "unknown library \"" + name + "\"" + nearest_hint(name, names) +
                            " (a path has a '/')");
    }
    try {
      return find_library(name, places_);
    } catch (const Failure& failure) {
      if (failure.code() == Exit::usage) check_.fail(path, failure.what());
      if (missing_.empty()) missing_ = failure.what();  // errors of the file come first
    }
    Library library;
    library.name = name;
    library.build = build_of(name);
    library.hakmem = !library.build.empty();
    return library;
  }

  /// `path` is where the arm stands in the file, `library_path` where its library does.
  void add(const std::string& path, const std::string& name, const std::string& role,
           const std::string& library_path, const std::string& library, const Env& env) {
    for (const Arm& other : result_->arms) {
      if (other.name == name) check_.fail(path, "a second arm with the name \"" + name + "\"");
    }
    Arm arm;
    arm.name = name;
    arm.role = role;
    arm.library = find(library_path, library);
    arm.env = env;
    if (arm.library.hakmem) {
      arm.env.insert(base_env_.begin(), base_env_.end());
      fill_boxes(path, &arm);
    }
    const auto ours = std::find_if(arm.env.begin(), arm.env.end(), [](const auto& variable) {
      return variable.first.starts_with("HAKMEM_");
    });
    if (ours != arm.env.end() && !arm.library.hakmem) {
      check_.fail(path, ours->first + " is set, but the library " + library + " has no boxes");
    }
    result_->arms.push_back(std::move(arm));
  }

  void fill_boxes(const std::string& path, Arm* arm) {
    arm->boxes = default_values();
    for (const auto& [name, value] : arm->env) {
      const boxes::NamedBox* const entry = find_box(name);
      if (entry == nullptr) continue;
      std::int64_t number = 0;
      parse_integer(value, &number);
      arm->boxes[name] = number;
      const bool fixed_code =
          entry->box.kind == boxes::Kind::shape || entry->box.kind == boxes::Kind::boot;
      const bool elsewhere = number != entry->box.default_value && !arm->library.build.empty() &&
                             arm->library.name != "lab";
      if (fixed_code && elsewhere) {
        check_.fail(path, name + " is a " + kind_name(entry->box.kind) +
                              " box: only the library \"lab\" has its variant");
      }
      if (elsewhere && entry->box.status == boxes::Status::research) {
        check_.fail(path, name + " is a research box: only the library \"lab\" has its code");
      }
    }
    std::string problem = combination_problem(arm->boxes);
    if (problem.empty() && arm->library.name == "lab") problem = missing_variant(arm->boxes);
    if (!problem.empty()) check_.fail(path, problem);
  }

  /// Baseline first, then the treatments, of which the first decides, then the references in the
  /// order of the file.
  void order_roles() {
    const auto count = [&](const std::string& role) {
      return std::count_if(result_->arms.begin(), result_->arms.end(),
                           [&](const Arm& arm) { return arm.role == role; });
    };
    if (count("baseline") != 1) {
      check_.fail("arms",
                  "must hold exactly one baseline, not " + std::to_string(count("baseline")));
    }
    if (count("treatment") == 0) check_.fail("arms", "must hold a treatment, not only references");
    std::stable_sort(result_->arms.begin(), result_->arms.end(), [](const Arm& a, const Arm& b) {
      const auto rank = [](const Arm& arm) {
        return std::find(kRoles.begin(), kRoles.end(), arm.role) - kRoles.begin();
      };
      return rank(a) < rank(b);
    });
  }

  const Checker& check_;
  const Json& root_;
  const Places& places_;
  Experiment* result_;
  Env base_env_;
  std::string library_ = "lab";
  std::string missing_;  ///< what to say of a library that is not there
};

}  // namespace

Json library_argument(const std::string& text) {
  const std::size_t equal = text.find('=');
  const std::string name = text.substr(0, equal);
  std::string library = equal == std::string::npos ? std::string() : text.substr(equal + 1);
  if (library.empty() || !is_plain_name(name)) {
    throw Failure(Exit::usage, "--lib " + text +
                                   ": must be NAME=PATH, the name of letters, digits, '.', '_' "
                                   "and '-'");
  }
  const std::vector<std::string> known = library_names();
  if (std::find(known.begin(), known.end(), library) == known.end()) {
    const std::string path = real_path(library);
    if (path.empty()) {
      throw Failure(Exit::usage, "--lib " + text + ": there is no file " + library);
    }
    library = path;
  }
  return {{"name", name}, {"library", library}};
}

std::string add_quoted_peer(const Places& places, unsigned blocks, Experiment* experiment) {
  const std::vector<Arm>& arms = experiment->arms;
  const bool is_wanted = std::any_of(arms.begin(), arms.end(),
                                     [](const Arm& arm) { return !arm.library.build.empty(); });
  const bool is_there = std::any_of(arms.begin(), arms.end(), [](const Arm& arm) {
    return arm.library.name == kQuotedPeer || arm.name == kQuotedPeer;
  });
  if (!is_wanted || is_there || experiment->names_references || experiment->report != "verdict" ||
      experiment->mode == "slices") {
    return {};
  }
  Arm arm;
  arm.name = kQuotedPeer;
  arm.role = "reference";
  arm.blocks = blocks;
  try {
    arm.library = find_library(kQuotedPeer, places);
  } catch (const Failure& failure) {
    return std::string("no percentage of ") + kQuotedPeer + ": " + failure.what();
  }
  experiment->arms.push_back(std::move(arm));
  return {};
}

void read_arms(const Checker& check, const Json& root, const Places& places,
               Experiment* experiment) {
  ArmReader(check, root, places, experiment).read();
}

}  // namespace hakmem::harness
