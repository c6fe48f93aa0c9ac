#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "harness/errors.hpp"
#include "harness/experiment.hpp"

namespace hakmem::harness {
namespace {

/// A valid experiment on glibc alone, so that no library needs to be built.
Json valid() {
  return Json::parse(R"({
    "phase": "T", "title": "t", "hypothesis": "h", "forecast": {"low": -1, "high": 1},
    "arms": [{"name": "a", "library": "glibc"}, {"name": "b", "library": "glibc"}],
    "workloads": [{"name": "random_mixed", "params": {"ops": 1000, "slots": [10, 20]}}]
  })");
}

Experiment read_text(const std::string& text) {
  const std::string path = testing::TempDir() + "/hak-" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << text;
  Places places;
  places.root = "/nowhere";
  places.build = "/nowhere";
  try {
    Experiment experiment = read_experiment(path, places);
    std::remove(path.c_str());
    return experiment;
  } catch (...) {
    std::remove(path.c_str());
    throw;
  }
}

Experiment read(const Json& json) { return read_text(json.dump(1)); }

/// The message for a file, which must be refused with `code`.
std::string refusal(const Json& json, Exit code = Exit::usage) {
  try {
    read(json);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), code) << failure.what();
    const std::string text = failure.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << "accepted: " << json.dump();
  return "";
}

void expect_refused(const Json& json, const std::string& part) {
  const std::string text = refusal(json);
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

TEST(Experiment, DefaultsAndProduct) {
  const Experiment experiment = read(valid());
  ASSERT_EQ(experiment.cells.size(), 2U);
  EXPECT_EQ(experiment.cells[0].name, "random_mixed slots=10");
  EXPECT_EQ(experiment.cells[1].params["slots"], 20);
  EXPECT_EQ(experiment.cells[1].params["ops"], 1000);
  EXPECT_TRUE(experiment.cells[0].primary);
  EXPECT_FALSE(experiment.cells[1].primary);
  EXPECT_EQ(experiment.runs, 10U);
  EXPECT_EQ(experiment.folder(), "t");
  EXPECT_EQ(experiment.arms[0].role, "baseline");
  EXPECT_EQ(experiment.arms[1].role, "treatment");
  EXPECT_EQ(experiment.sha256.size(), 64U);
  EXPECT_EQ(experiment.normalised()["seeds"], Json::parse("[42, 43]"));
}

TEST(Experiment, UnknownKeysNameTheNearestEverywhere) {
  Json json = valid();
  json["hypotesis"] = "x";
  expect_refused(json, "hypotesis: unknown key; nearest is \"hypothesis\"");
  json = valid();
  json["forecast"]["hihg"] = 2;
  expect_refused(json, "forecast.hihg: unknown key; nearest is \"high\"");
  json = valid();
  json["arms"][1]["lib"] = "x";
  expect_refused(json, "arms[1].lib: unknown key; nearest is \"library\"");
  json = valid();
  json["workloads"][0]["param"] = 1;
  expect_refused(json, "workloads[0].param: unknown key; nearest is \"params\"");
  json = valid();
  json["workloads"][0]["params"]["slot"] = 1;
  expect_refused(json, "workloads[0].params.slot: random_mixed has no such parameter; nearest is");
  json = valid();
  json["guards"] = Json::parse(R"([{"metric": "wall_s", "direction": "lower", "margin": 2}])");
  expect_refused(json, "guards[0].margin: unknown key; nearest is \"margin_pct\"");
}

TEST(Experiment, UnknownNamesNameTheNearest) {
  Json json = valid();
  json["workloads"][0]["name"] = "randommixed";
  expect_refused(json, "workloads[0].name: \"randommixed\" is not one of");
  EXPECT_NE(refusal(json).find("nearest is \"random_mixed\""), std::string::npos);
  json = valid();
  json["arms"][0]["library"] = "gibc";
  expect_refused(json, "arms[0].library: unknown library \"gibc\"; nearest is \"glibc\"");
  json = valid();
  json.erase("arms");
  json["box"] = "HAKMEM_REFIL_BATCH";
  json["values"] = {1, 16};
  expect_refused(json,
                 "box: unknown box \"HAKMEM_REFIL_BATCH\"; nearest is \"HAKMEM_REFILL_BATCH\"");
  json = valid();
  json["base_env"]["HAKMEM_C7_ULTA"] = "1";
  expect_refused(json, "base_env.HAKMEM_C7_ULTA: unknown box; nearest is \"HAKMEM_C7_ULTRA\"");
}

TEST(Experiment, MessageNamesFileAndLine) {
  Json json = valid();
  json["runs"] = 0;
  const std::string text = refusal(json);
  const std::string dump = json.dump(1);
  const auto lines =
      std::count(dump.begin(), dump.begin() + static_cast<long>(dump.find("runs")), '\n');
  EXPECT_NE(text.find(".json:" + std::to_string(lines + 1) + ": runs: "), std::string::npos)
      << text;
}

TEST(Experiment, MissingKeys) {
  for (const char* const key : {"phase", "title", "hypothesis", "forecast", "workloads", "arms"}) {
    Json json = valid();
    json.erase(key);
    expect_refused(json, key);
  }
  Json json = valid();
  json["forecast"].erase("low");
  expect_refused(json, "forecast: the key \"low\" is missing");
  json = valid();
  json["arms"][0].erase("name");
  expect_refused(json, "arms[0]: the key \"name\" is missing");
}

TEST(Experiment, WrongTypesAndRanges) {
  const std::pair<const char*, const char*> kBad[] = {
      {"runs", "0"},
      {"runs", "-1"},
      {"runs", "1.5"},
      {"runs", "\"10\""},
      {"runs", "20000"},
      {"phase", "\"\""},
      {"phase", "\"../x\""},
      {"phase", "\"a/b\""},
      {"phase", "7"},
      {"title", "\"a\\nb\""},
      {"title", "[]"},
      {"neutral_threshold_pct", "0"},
      {"neutral_threshold_pct", "null"},
      {"seeds", "[]"},
      {"seeds", "[-1]"},
      {"seeds", "42"},
      {"order_seed", "1e300"},
      {"timeout_seconds", "0"},
      {"timeout_seconds", "true"},
      {"min_seconds", "-1"},
      {"forecast", "{\"low\": 2, \"high\": 1}"},
      {"forecast", "[1, 2]"},
      {"workloads", "[]"},
      {"workloads", "{}"},
      {"arms", "[]"},
      {"references", "\"mimalloc\""},
      {"metric", "{\"name\": \"ops\", \"direction\": \"higher\"}"},
      {"metric", "{\"name\": \"ops_per_s\", \"direction\": \"up\"}"},
      {"void_limits", "{\"steal\": 1}"},
      {"guards", "{}"},
      {"base_env", "[]"}};
  for (const auto& [key, value] : kBad) {
    Json json = valid();
    json[key] = Json::parse(value);
    EXPECT_NE(refusal(json).find(key), std::string::npos) << key << " = " << value;
  }
  EXPECT_THROW(read_text("[]"), Failure);
  EXPECT_THROW(read_text("7"), Failure);
  EXPECT_THROW(read_text(""), Failure);
}

TEST(Experiment, ParametersAreChecked) {
  for (const char* const value : {"0", "-3", "\"x\"", "[]", "[1, \"x\"]", "null", "{}"}) {
    Json json = valid();
    json["workloads"][0]["params"]["ops"] = Json::parse(value);
    expect_refused(json, "workloads[0].params.ops");
  }
  Json json = valid();
  json["workloads"][0]["params"]["seed"] = 1;
  expect_refused(json, "seeds stand in the key");
}

TEST(Experiment, ValuesOfABoxAreChecked) {
  Json json = valid();
  json.erase("arms");
  json["box"] = "HAKMEM_REFILL_BATCH";
  json["values"] = {1, 9999};
  expect_refused(json, "values[1]: \"9999\" is not a value of HAKMEM_REFILL_BATCH (1 to 256)");
  json["values"] = {1};
  expect_refused(json, "values");
  json["values"] = {1, "x"};
  expect_refused(json, "values[1]");
  json["values"] = {1, 2};
  json["arms"] = Json::array();
  expect_refused(json, "arms: give one of box and values, arms, and factors");
}

TEST(Experiment, FactorsAreChecked) {
  Json json = valid();
  json.erase("arms");
  json["factors"] = {{"HAKMEM_REFILL_BATCH", {16}}};
  expect_refused(json, "factors.HAKMEM_REFILL_BATCH");
  json["factors"] = {{"HAKMEM_REFILL_BATCH", {16, 9999}}};
  expect_refused(json, "factors.HAKMEM_REFILL_BATCH[1]: \"9999\" is not a value");
  json["factors"] = {{"HAKMEM_REFIL_BATCH", {16, 32}}};
  expect_refused(json, "unknown box; nearest is \"HAKMEM_REFILL_BATCH\"");
  json["factors"] = Json::array();
  expect_refused(json, "factors: must be an object");
}

TEST(Experiment, ALibraryThatIsNotBuiltIsMissing) {
  Json json = valid();
  json.erase("arms");
  json["box"] = "HAKMEM_REFILL_BATCH";
  json["values"] = {1, 16};
  EXPECT_NE(refusal(json, Exit::missing).find("./hak build"), std::string::npos);
}

TEST(Experiment, ALibraryPathMustExistAndBeALibrary) {
  Json json = valid();
  json["arms"][0]["library"] = "/no/such/lib.so";
  expect_refused(json, "arms[0].library: library path does not exist: /no/such/lib.so");
  json["arms"][0]["library"] = "/etc/passwd";
  expect_refused(json, "is not a shared library");
}

TEST(Experiment, BoxesOnAForeignLibraryAreRefused) {
  Json json = valid();
  json["arms"][0]["env"]["HAKMEM_REFILL_BATCH"] = "1";
  expect_refused(json, "the library glibc has no boxes");
}

TEST(Experiment, VariablesOfTheHarnessAreRefused) {
  for (const char* const name : {"LD_PRELOAD", "PATH", "HAKMEM_REPORT", "HAK_PAD", "a=b", ""}) {
    Json json = valid();
    json["arms"][0]["env"][name] = "x";
    expect_refused(json, "arms[0].env");
  }
}

TEST(Experiment, RolesAndNames) {
  Json json = valid();
  json["arms"][1]["role"] = "baseline";
  expect_refused(json, "exactly one baseline");
  json = valid();
  json["arms"][1]["name"] = "a";
  expect_refused(json, "a second arm");
  json = valid();
  json["arms"][0]["role"] = "treatment";
  json["arms"][1]["role"] = "baseline";
  EXPECT_EQ(read(json).arms[0].name, "b");
}

TEST(Experiment, Programs) {
  Json json = valid();
  json["workloads"] = Json::parse(
      R"([{"name": "program", "command": ["/bin/x", "a b", "", "*;'\""], "metric_from": "wall"},
          {"name": "program", "command": ["x"], "primary": true}])");
  const Experiment experiment = read(json);
  EXPECT_EQ(experiment.cells[0].name, "x");
  EXPECT_EQ(experiment.cells[1].name, "x 2");
  EXPECT_TRUE(experiment.cells[1].primary);
  EXPECT_EQ(experiment.cells[0].command[3], "*;'\"");
  json["workloads"][0]["command"] = Json::array();
  expect_refused(json, "workloads[0].command");
  json["workloads"][0]["command"] = "x";
  expect_refused(json, "workloads[0].command: must be a list");
  json["workloads"][0]["command"] = {"x", 1};
  expect_refused(json, "workloads[0].command[1]");
}

TEST(Experiment, TheSameCellTwiceIsRefusedAndLikeCellsAreTold) {
  Json json = valid();
  json["workloads"].push_back(json["workloads"][0]);
  expect_refused(json, "stands here twice");
  json["workloads"] = Json::parse(
      R"([{"name": "random_mixed"}, {"name": "random_mixed", "params": {"size": 64}}])");
  const Experiment experiment = read(json);
  EXPECT_EQ(experiment.cells[1].name, "random_mixed size=64");
}

}  // namespace
}  // namespace hakmem::harness
