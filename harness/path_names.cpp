#include "harness/path_names.hpp"

#include <algorithm>
#include <cctype>

#include "harness/files.hpp"

namespace hakmem::harness {

namespace {

bool in_a_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-' ||
         letter == '.';
}

/// Replaces `folder` where it stands as a whole path: "folder/x" by "name/x" ("x" for the name
/// "."), "folder" alone by the name.
void replace(std::string* text, const std::string& folder, const std::string& name) {
  for (std::size_t at = text->find(folder); at != std::string::npos; at = text->find(folder, at)) {
    const std::size_t end = at + folder.size();
    const bool begins = at == 0 || !in_a_name((*text)[at - 1]);
    const bool goes_on = end < text->size() && (*text)[end] == '/';
    if (!begins || (end < text->size() && in_a_name((*text)[end]))) {
      at = end;
      continue;
    }
    const bool is_root = goes_on && name == ".";
    const std::string written = is_root ? "" : name;
    text->replace(at, folder.size() + (is_root ? 1 : 0), written);
    at += written.size();
  }
}

}  // namespace

PathNames::PathNames(const Places& places, const std::string& temporary) {
  const auto add = [this](const std::string& folder, const std::string& name) {
    for (const std::string& path : {folder, real_path(folder)}) {
      if (path.size() > 1 && path.front() == '/') folders_.emplace_back(path, name);
    }
  };
  add(temporary, "$TMPDIR");
  if (!places.build.starts_with(places.root + "/")) add(places.build, "build/standard");
  add(places.root, ".");
  std::stable_sort(folders_.begin(), folders_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::string PathNames::text(std::string text) const {
  for (const auto& [folder, name] : folders_) replace(&text, folder, name);
  return text;
}

Json PathNames::json(Json value) const {
  if (value.is_string()) return text(value.get<std::string>());
  if (value.is_structured()) {
    for (Json& member : value) member = json(std::move(member));
  }
  return value;
}

}  // namespace hakmem::harness
