#include "harness/box_registry.hpp"

#include <algorithm>

#include "harness/text.hpp"

namespace hakmem::harness {

using boxes::Box;
using boxes::kBoxes;
using boxes::NamedBox;

namespace {

std::string range_text(const Box& box) {
  if (box.minimum == 0 && box.maximum == 1) return "0, 1";
  return std::to_string(box.minimum) + " to " + std::to_string(box.maximum);
}

const NamedBox* find_id(std::string_view id) {
  for (const NamedBox& entry : kBoxes) {
    if (id == entry.id) return &entry;
  }
  return nullptr;
}

std::string env_of(std::string_view id) {
  const NamedBox* const entry = find_id(id);
  return entry == nullptr ? std::string(id) : std::string(entry->box.env);
}

std::string env_list(const char* ids) {
  std::vector<std::string> names;
  for (const std::string& id : split(ids, ' ')) names.push_back("`" + env_of(id) + "`");
  return join(names, ", ");
}

void pad_to(std::string* line, std::size_t column) {
  if (line->size() < column) line->append(column - line->size(), ' ');
  *line += "  ";
}

}  // namespace

const NamedBox* find_box(std::string_view name) {
  for (const NamedBox& entry : kBoxes) {
    if (name == entry.box.env || name == entry.id) return &entry;
  }
  return nullptr;
}

std::vector<std::string> box_names() {
  std::vector<std::string> names;
  for (const NamedBox& entry : kBoxes) names.emplace_back(entry.box.env);
  return names;
}

const char* kind_name(boxes::Kind kind) {
  switch (kind) {
    case boxes::Kind::data:
      return "data";
    case boxes::Kind::slow:
      return "slow";
    case boxes::Kind::shape:
      return "shape";
    case boxes::Kind::boot:
      return "boot";
  }
  return "?";
}

const char* status_name(boxes::Status status) {
  switch (status) {
    case boxes::Status::default_on:
      return "default-on";
    case boxes::Status::research:
      return "research";
    case boxes::Status::archived:
      return "archived";
  }
  return "?";
}

BoxValues default_values() {
  BoxValues values;
  for (const NamedBox& entry : kBoxes) values[entry.box.env] = entry.box.default_value;
  return values;
}

bool is_on(const Box& box, std::int64_t value) {
  const bool is_switch = box.minimum == 0 && box.maximum == 1;
  return is_switch ? value != 0 : value != box.default_value;
}

std::string combination_problem(const BoxValues& values) {
  const auto on = [&](const NamedBox& entry) {
    const auto found = values.find(entry.box.env);
    return found != values.end() && is_on(entry.box, found->second);
  };
  for (const NamedBox& entry : kBoxes) {
    if (!on(entry)) continue;
    for (const std::string& id : split(entry.box.excludes, ' ')) {
      const NamedBox* const other = find_id(id);
      if (other != nullptr && on(*other)) {
        return std::string(entry.box.env) + " and " + other->box.env + " exclude each other";
      }
    }
    for (const std::string& id : split(entry.box.requires_ids, ' ')) {
      const NamedBox* const other = find_id(id);
      if (other != nullptr && !on(*other)) {
        return std::string(entry.box.env) + " requires " + other->box.env +
               ", which is off here (set it in base_env)";
      }
    }
  }
  return {};
}

std::string missing_variant(const BoxValues& values) {
  using boxes::Id;
  std::vector<std::size_t> flipped;
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < boxes::kBoxCount; ++i) {
    const Box& box = kBoxes[i].box;
    const auto found = values.find(box.env);
    const bool fixed_code = box.kind == boxes::Kind::shape || box.kind == boxes::Kind::boot;
    if (!fixed_code || found == values.end() || found->second == box.default_value) continue;
    flipped.push_back(i);
    settings.push_back(std::string(box.env) + "=" + std::to_string(found->second));
  }
  const auto is = [&](std::vector<Id> flips) {
    std::vector<std::size_t> wanted;
    for (const Id id : flips) wanted.push_back(static_cast<std::size_t>(id));
    std::sort(wanted.begin(), wanted.end());
    return wanted == flipped;
  };
#define HAKMEM_VARIANT_ENTRY(name, ...) \
  if (is({__VA_ARGS__})) return {};
#include "core/variants.inc"
#undef HAKMEM_VARIANT_ENTRY
  return "this build has no variant for " + join(settings, " with ") + " (see boxes/combos.def)";
}

Json boxes_json() {
  Json list = Json::array();
  for (const NamedBox& entry : kBoxes) {
    const Box& box = entry.box;
    list.push_back({{"id", entry.id},
                    {"env", box.env},
                    {"kind", kind_name(box.kind)},
                    {"minimum", box.minimum},
                    {"maximum", box.maximum},
                    {"default_value", box.default_value},
                    {"unit", box.unit},
                    {"status", status_name(box.status)},
                    {"phase", box.phase},
                    {"hypothesis", box.hypothesis},
                    {"excludes", split(box.excludes, ' ')},
                    {"requires_ids", split(box.requires_ids, ' ')},
                    {"live", box.live},
                    {"expiry", box.expiry},
                    {"profile", box.profile},
                    {"brittle", box.brittle},
                    {"counter", box.counter}});
  }
  return list;
}

std::string boxes_markdown() {
  std::string page =
      "# Boxes\n\n"
      "Made from `boxes/boxes.def` by `hak boxes --markdown`; do not edit. What the kinds mean "
      "stands in `docs/design/boxes.md`.\n";
  for (const NamedBox& entry : kBoxes) {
    const Box& box = entry.box;
    page += std::string("\n## ") + box.env + "\n\n" + box.hypothesis + "\n\n";
    page += "| | |\n|---|---|\n";
    const auto row = [&page](const char* name, const std::string& value) {
      if (!value.empty()) page += std::string("| ") + name + " | " + value + " |\n";
    };
    row("id", std::string("`") + entry.id + "`");
    row("kind", kind_name(box.kind));
    row("status", status_name(box.status));
    row("values", range_text(box) + (*box.unit == '\0' ? "" : std::string(" ") + box.unit) +
                      ", default " + std::to_string(box.default_value));
    row("experiment", box.phase);
    row("excludes", env_list(box.excludes));
    row("requires", env_list(box.requires_ids));
    row("live", box.live ? "yes: can be switched in a running process" : "");
    row("expires", box.expiry);
    row("build", box.profile);
    row("brittle", box.brittle);
    row("its use count counts",
        *box.counter == '\0' ? "executions, in the observe build" : box.counter);
  }
  return page;
}

std::string boxes_table() {
  std::size_t width = 4;
  for (const NamedBox& entry : kBoxes)
    width = std::max(width, std::string_view(entry.box.env).size());
  std::string table;
  const auto line = [&](const std::string& env, const std::string& kind, const std::string& status,
                        const std::string& value, const std::string& range,
                        const std::string& phase) {
    std::string text = env;
    pad_to(&text, width);
    text += kind;
    pad_to(&text, width + 7);
    text += status;
    pad_to(&text, width + 19);
    text += value;
    pad_to(&text, width + 28);
    text += range;
    pad_to(&text, width + 43);
    table += text + phase + "\n";
  };
  line("box", "kind", "status", "default", "values", "experiment");
  for (const NamedBox& entry : kBoxes) {
    const Box& box = entry.box;
    line(box.env, kind_name(box.kind), status_name(box.status), std::to_string(box.default_value),
         range_text(box), box.phase);
  }
  return table;
}

}  // namespace hakmem::harness
