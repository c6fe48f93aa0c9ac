#include "boxes/state.hpp"

#include "base/text.hpp"
#include "boxes/options.hpp"
#include "os/process.hpp"

namespace hakmem {

namespace boxes {

namespace {

using Line = TextBuffer<512>;

constexpr int kStatusConfig = 78;  // EX_CONFIG
constexpr const char* kPrefix = "HAKMEM_";

bool is_shape(const Box& box) { return box.kind == Kind::shape || box.kind == Kind::boot; }

/// What needs a library, or a variant in it, of its own.
bool is_built_in(const Box& box) { return is_shape(box) || !is_here(box); }

bool any_refused() {
  for (std::size_t i = 0; i < kBoxCount; ++i) {
    if (is_built_in(kBoxes[i].box) && sealed.box_value[i] != kBoxes[i].box.default_value) {
      return true;
    }
  }
  return false;
}

/// Says what is wrong; ends the process under HAKMEM_STRICT=1.
void complain(Line& line) {
  line.add('\n');
  os::say(line);
  if (sealed.strict) os::exit_now(kStatusConfig);
}

/// What the user wrote, on one line: long text is cut, control characters are shown as '?'.
Line& quote(Line& line, const char* text) {
  constexpr std::size_t kLongest = 100;
  for (std::size_t i = 0; text[i] != '\0'; ++i) {
    if (i == kLongest) {
      line.add("...");
      break;
    }
    line.add(static_cast<unsigned char>(text[i]) < ' ' ? '?' : text[i]);
  }
  return line;
}

/// Levenshtein distance, for names under 64 characters.
unsigned distance(const char* a, std::size_t n, const char* b) {
  unsigned row[65];
  const std::size_t m = length(b);
  if (n > 64 || m > 64) return 99;
  for (unsigned j = 0; j <= m; ++j) row[j] = j;
  for (std::size_t i = 1; i <= n; ++i) {
    unsigned diagonal = row[0];
    row[0] = static_cast<unsigned>(i);
    for (std::size_t j = 1; j <= m; ++j) {
      const unsigned replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      const unsigned moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = replaced < moved ? replaced : moved;
    }
  }
  return row[m];
}

const char* nearest_name(const char* name, std::size_t n) {
  const char* best = kBoxes[0].box.env;
  unsigned best_distance = ~0U;
  auto consider = [&](const char* candidate) {
    const unsigned d = distance(name, n, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  };
  for (const NamedBox& box : kBoxes) consider(box.box.env);
  for_option_names(consider);
  return best;
}

/// Whether this build has the box. (The debug build has what is guarded in the hardened one.)
bool is_in_profile(const Box& box) { return kGuarded || *box.profile == '\0'; }

void set_box(std::size_t i, const char* text) {
  const Box& box = kBoxes[i].box;
  if (!is_in_profile(box)) {
    Line line;
    line.add("hakmem: ").add(box.env).add(" needs the build profile ").add(box.profile);
    line.add("; using ").add(box.default_value);
    return complain(line);
  }
  std::int64_t value = 0;
  if (parse_integer(text, value) && value >= box.minimum && value <= box.maximum) {
    sealed.box_value[i] = value;
    return;
  }
  Line line;
  line.add("hakmem: ").add(box.env).add('=');
  quote(line, text).add(": not a number from ");
  line.add(box.minimum).add(" to ").add(box.maximum).add("; using ").add(box.default_value);
  complain(line);
}

void read_option(const char* name, std::size_t n, const char* value) {
  Line line;
  const char* complaint = nullptr;
  if (set_option(name, n, value, &complaint)) {
    if (complaint == nullptr) return;
    line.add("hakmem: ");
    quote(line, name).add(": ").add(complaint);
    return complain(line);
  }
  line.add("hakmem: unknown variable ");
  quote(line, name).add("; nearest known name is ").add(nearest_name(name, n));
  complain(line);
}

void read_variable(const char* entry) {
  const char* equals = entry;
  while (*equals != '\0' && *equals != '=') ++equals;
  if (*equals == '\0') return;
  const auto n = static_cast<std::size_t>(equals - entry);
  for (std::size_t i = 0; i < kBoxCount; ++i) {
    if (length(kBoxes[i].box.env) == n && starts_with(entry, kBoxes[i].box.env)) {
      set_box(i, equals + 1);
      return;
    }
  }
  read_option(entry, n, equals + 1);
}

/// Calls fn(index) for each id of a blank-separated list.
template <class Fn>
void for_ids(const char* list, Fn fn) {
  while (*list != '\0') {
    std::size_t n = 0;
    while (list[n] != '\0' && list[n] != ' ') ++n;
    for (std::size_t i = 0; i < kBoxCount; ++i) {
      if (length(kBoxes[i].id) == n && starts_with(list, kBoxes[i].id)) fn(i);
    }
    list += n;
    while (*list == ' ') ++list;
  }
}

void check_relations() {
  for (std::size_t i = 0; i < kBoxCount; ++i) {
    const Box& box = kBoxes[i].box;
    auto refuse = [&](std::size_t other, const char* why) {
      Line line;
      line.add("hakmem: ").add(box.env).add('=').add(sealed.box_value[i]).add(why);
      line.add(kBoxes[other].box.env).add("; using ").add(box.env).add('=').add(box.default_value);
      sealed.box_value[i] = box.default_value;
      complain(line);
    };
    for_ids(box.requires_ids, [&](std::size_t other) {
      if (sealed.box_value[i] != 0 && sealed.box_value[other] == 0) refuse(other, " needs ");
    });
    for_ids(box.excludes, [&](std::size_t other) {
      if (sealed.box_value[i] != 0 && sealed.box_value[other] != 0) refuse(other, " excludes ");
    });
  }
}

void set_defaults() {
  for (std::size_t i = 0; i < kBoxCount; ++i) sealed.box_value[i] = kBoxes[i].box.default_value;
}

}  // namespace

std::size_t find_by_env(const char* env) {
  std::size_t i = 0;
  while (i < kBoxCount && !same_text(kBoxes[i].box.env, env)) ++i;
  return i;
}

bool any_variable() {
  for (char** entry = os::environment(); *entry != nullptr; ++entry) {
    if (starts_with(*entry, kPrefix)) return true;
  }
  return false;
}

void read_environment(bool has_variants) {
  set_defaults();
  if (os::runs_privileged()) return;
  char** environment = os::environment();
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (same_text(*entry, "HAKMEM_STRICT=1")) sealed.strict = true;
  }
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (starts_with(*entry, kPrefix)) read_variable(*entry);
  }
  check_relations();
  if (!has_variants && any_refused()) {
    refuse_shapes("libhakmem.so has no research boxes, use libhakmem-lab.so");
  }
}

bool shapes_match(const Id* flips, std::size_t count) {
  for (std::size_t i = 0; i < kBoxCount; ++i) {
    const Box& box = kBoxes[i].box;
    if (!is_shape(box)) continue;
    bool flipped = false;
    for (std::size_t k = 0; k < count; ++k) flipped |= static_cast<std::size_t>(flips[k]) == i;
    if ((sealed.box_value[i] != box.default_value) != flipped) return false;
  }
  return true;
}

void refuse_shapes(const char* reason) {
  Line line;
  line.add("hakmem:");
  for (std::size_t i = 0; i < kBoxCount; ++i) {
    const Box& box = kBoxes[i].box;
    if (!is_built_in(box) || sealed.box_value[i] == box.default_value) continue;
    line.add(' ').add(box.env).add('=').add(sealed.box_value[i]);
    sealed.box_value[i] = box.default_value;
  }
  line.add(": ").add(reason).add("; using the defaults");
  complain(line);
}

}  // namespace boxes

}  // namespace hakmem
