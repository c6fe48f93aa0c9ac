#include "harness/run_many.hpp"

#include <cstdio>

#include "harness/experiment.hpp"
#include "harness/files.hpp"

namespace hakmem::harness {

namespace {

/// Headline of a result; "" where it has none.
std::string headline_of(const std::string& folder) {
  const Json verdict =
      Json::parse(read_file(folder + "/verdict.json").value_or(""), nullptr, false);
  if (!verdict.is_object() || !verdict.contains("headline")) return {};
  const Json& headline = verdict["headline"];
  return headline.is_string() ? headline.get<std::string>() : std::string();
}

/// Runs one; what it throws becomes its code and its line.
Exit run_one(const RunOptions& options, const Places& places, std::string* line) {
  try {
    std::string folder;
    const Exit code = run_command(options, places, &folder);
    *line = code == Exit::interrupted ? "interrupted" : headline_of(folder);
    return code;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "hak: %s\n", failure.what());
    *line = std::string("not run to its end: ") + failure.what();
    return failure.code();
  }
}

}  // namespace

Exit check_experiments(const std::vector<std::string>& files, const Places& places) {
  Exit first = Exit::ok;
  for (const std::string& file : files) {
    try {
      const Experiment experiment = read_experiment(file, places);
      std::printf("%s: ok, %zu arms, %zu cells, %u blocks\n", file.c_str(), experiment.arms.size(),
                  experiment.cells.size(), experiment.runs);
    } catch (const Failure& failure) {
      std::fprintf(stderr, "hak: %s\n", failure.what());
      if (first == Exit::ok) first = failure.code();
    }
  }
  return first;
}

Exit run_experiments(RunOptions options, const std::vector<std::string>& files,
                     const Places& places) {
  Exit first = Exit::ok;
  std::vector<std::string> summary;
  for (const std::string& file : files) {
    options.file = file;
    std::string line;
    const Exit code = run_one(options, places, &line);
    summary.push_back(file + ": " + line);
    if (first == Exit::ok || code == Exit::interrupted) first = code;
    if (code == Exit::interrupted) break;
  }
  std::printf("\n");
  for (const std::string& line : summary) std::printf("%s\n", line.c_str());
  if (summary.size() < files.size()) std::printf("the others were not started\n");
  return first;
}

}  // namespace hakmem::harness
