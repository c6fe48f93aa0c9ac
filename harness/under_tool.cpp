#include "harness/under_tool.hpp"

namespace hakmem::harness {

namespace {

bool is_preload(const std::string& line) { return line.starts_with("LD_PRELOAD="); }

}  // namespace

RunRequest under_tool(const RunRequest& request, const std::vector<std::string>& tool) {
  RunRequest result = request;
  result.command = tool;
  result.command.emplace_back("/usr/bin/env");
  for (const std::string& line : request.environment) {
    if (is_preload(line)) result.command.push_back(line);
  }
  result.command.insert(result.command.end(), request.command.begin(), request.command.end());
  std::erase_if(result.environment, is_preload);
  result.wanted_library.clear();
  return result;
}

}  // namespace hakmem::harness
