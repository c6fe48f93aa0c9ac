#include "harness/analysis.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "harness/clock.hpp"
#include "harness/errors.hpp"
#include "harness/signals.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr double kAnswerSeconds = 5;
constexpr double kLookSeconds = 120;  // its first answer waits for scipy on a busy machine

Estimate read_estimate(const Json& cell) {
  Estimate estimate;
  const auto number = [](const Json& value) { return value.is_number() ? value.get<double>() : 0; };
  estimate.delta_pct = number(cell.value("delta_pct", Json(nullptr)));
  const Json interval = cell.value("ci95_pct", Json(nullptr));
  if (interval.is_array() && interval.size() == 2 && interval[0].is_number()) {
    estimate.low_pct = number(interval[0]);
    estimate.high_pct = number(interval[1]);
    estimate.interval = true;
  }
  estimate.blocks = static_cast<int>(number(cell.value("n", Json(nullptr))));
  return estimate;
}

}  // namespace

std::string python_program() {
  const char* const named = std::getenv("HAK_PYTHON");
  return named != nullptr && *named != '\0' ? named : "/usr/bin/python3";
}

std::vector<std::string> analysis_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {python_program(), "-m", "hakmem_analysis"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::vector<std::string> analysis_environment(const Places& places) {
  return {"PYTHONPATH=" + places.root + "/analysis", "HAK_ROOT=" + places.root,
          "HAK_PROGRAM=" + places.executable, "HAK_BUILD=" + places.build};
}

void become_analysis(const Places& places, const std::vector<std::string>& arguments) {
  const std::vector<std::string> command = analysis_command(arguments);
  const std::vector<std::string> environment = tool_environment(analysis_environment(places));
  std::vector<char*> words, lines;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& line : environment) lines.push_back(const_cast<char*>(line.c_str()));
  words.push_back(nullptr);
  lines.push_back(nullptr);
  execvpe(words[0], words.data(), lines.data());
  throw Failure(Exit::missing,
                command[0] + ": cannot start: " + errno_text(errno) + "; type: ./hak setup");
}

Watch::Watch(const Places& places)
    : talk_(start_conversation(analysis_command({"watch"}), analysis_environment(places))) {}

Watch::~Watch() {
  if (talk_.pid <= 0) return;
  talk_.in.reset();
  kill(talk_.pid, SIGKILL);
  waitpid(talk_.pid, nullptr, 0);
}

std::optional<std::string> Watch::answer(double timeout_s) {
  const double deadline = now_s() + timeout_s;
  for (;;) {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (now_s() >= deadline || caught_signal() != 0) return std::nullopt;
    pollfd sources[2] = {{talk_.out.get(), POLLIN, 0}, {signal_fd(), POLLIN, 0}};
    poll(sources, 2, poll_ms(deadline - now_s()));
    char buffer[65536];
    const ssize_t count = read(talk_.out.get(), buffer, sizeof buffer);
    if (count > 0) pending_.append(buffer, static_cast<std::size_t>(count));
    if (count == 0) {
      talk_.out.reset();  // it died; nothing will come any more
      return std::nullopt;
    }
  }
}

Json Watch::ask(const std::string& command, const std::string& folder, double timeout_s) {
  if (talk_.pid <= 0 || !talk_.out.open() || folder.find('\n') != std::string::npos) return nullptr;
  const std::string line = command + " " + folder + "\n";
  if (write(talk_.in.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return nullptr;
  }
  const double deadline = now_s() + timeout_s;
  std::optional<std::string> text;
  for (++owed_; owed_ > 0; --owed_) {
    text = answer(deadline - now_s());
    if (!text) return nullptr;
  }
  Json parsed = Json::parse(*text, nullptr, false);
  return parsed.is_object() ? parsed : Json(nullptr);
}

Json Watch::must_ask(const std::string& command, const std::string& folder) {
  Json answer = ask(command, folder, kLookSeconds);
  if (caught_signal() != 0) return nullptr;
  if (answer.is_object() && !answer.contains("error")) return answer;
  const std::string reason = answer.is_object() && answer["error"].is_string()
                                 ? answer["error"].get<std::string>()
                                 : "it gave no answer";
  throw Failure(Exit::missing,
                "the analysis is needed to decide when to stop: " + reason + "; type: ./hak setup");
}

std::map<std::string, Estimate> Watch::estimate(const std::string& folder) {
  std::map<std::string, Estimate> result;
  const Json found = ask("estimate", folder, kAnswerSeconds);
  if (!found.is_object() || !found.contains("cells") || !found["cells"].is_object()) return result;
  for (const auto& [cell, value] : found["cells"].items()) {
    if (value.is_object() && value.value("delta_pct", Json(nullptr)).is_number()) {
      result[cell] = read_estimate(value);
    }
  }
  return result;
}

std::optional<Look> Watch::look(const std::string& folder) {
  const Json found = must_ask("look", folder);
  if (!found.is_object()) return std::nullopt;
  const Json decision = found.value("decision", Json(""));
  return Look{found.value("stop", Json(false)) == true,
              decision.is_string() ? decision.get<std::string>() : ""};
}

Json Watch::levels(const std::string& folder) { return must_ask("levels", folder); }

}  // namespace hakmem::harness
