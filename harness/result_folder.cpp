#include "harness/result_folder.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <thread>
#include <utility>

#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

std::string make_run_folder(const std::string& phase) {
  make_folders(phase);
  for (int tries = 0; tries < 100; ++tries) {
    std::string path = phase + "/" + run_name(std::time(nullptr));
    if (mkdir(path.c_str(), 0755) == 0) return path;
    if (errno != EEXIST) {
      throw Failure(Exit::io, path + ": cannot make this folder: " + errno_text(errno) +
                                  "; choose another folder with --results DIR");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  throw Failure(Exit::io, phase + ": cannot find a free name for the run");
}

ResultFolder::ResultFolder(std::string path)
    : path_(std::move(path)), samples_(path_ + "/samples.jsonl", &warning_) {}

ResultFolder ResultFolder::create(const std::string& results, const Experiment& experiment) {
  const std::string path = make_run_folder(results + "/" + experiment.folder());
  write_whole(path + "/experiment.json", experiment.text);
  return ResultFolder(path);
}

ResultFolder ResultFolder::open(const std::string& path) {
  const std::string whole = real_path(path);
  if (whole.empty() || !exists(whole + "/manifest.json") || !exists(whole + "/experiment.json")) {
    throw Failure(Exit::usage, path + " is no result folder (no manifest.json, experiment.json)");
  }
  return ResultFolder(whole);
}

std::string ResultFolder::run() const { return base_of(path_); }

Json ResultFolder::manifest() const {
  Json manifest = Json::parse(read_file(path_ + "/manifest.json").value_or(""), nullptr, false);
  return manifest.is_object() ? manifest : Json(nullptr);
}

void ResultFolder::write_manifest(const Json& manifest) const {
  write_whole(path_ + "/manifest.json",
              names_.json(manifest).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void ResultFolder::keep_output(const Json& sample, const std::string& out,
                               const std::string& err) const {
  std::string name = sample["cell"].get<std::string>() + "." + sample["arm"].get<std::string>() +
                     ".block" + sample["block"].dump() + ".attempt" + sample["attempt"].dump();
  for (char& letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte <= ' ' || byte == '/' || byte >= 127) letter = '_';
  }
  make_folders(path_ + "/output");
  if (!out.empty()) write_whole(path_ + "/output/" + name + ".out", names_.text(out));
  if (!err.empty()) write_whole(path_ + "/output/" + name + ".err", names_.text(err));
}

}  // namespace hakmem::harness
