// Builds of one source as arms: where they lie, what is known of them, what they were trained on.
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/library.hpp"
#include "harness/manifest.hpp"

namespace hakmem::harness {
namespace {

TEST(Builds, NamesLeadToFolders) {
  EXPECT_EQ(build_of("lab"), "standard");
  EXPECT_EQ(build_of("fast-pgo-clang"), "fast-pgo-clang");
  EXPECT_EQ(build_of("glibc"), "");
  EXPECT_EQ(build_of("observe"), "");
  Library library;
  library.build = "fast-pgo-clang";
  EXPECT_EQ(profile_of(library), "fast-pgo");
}

TEST(Builds, AMissingOneSaysWhatToType) {
  Places places;
  places.root = places.build = "/nowhere/build/standard";
  try {
    find_library("fast-clang", places);
    FAIL() << "found";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::missing);
    EXPECT_NE(std::string(failure.what()).find("./hak build fast --clang"), std::string::npos)
        << failure.what();
  }
}

class Trained : public testing::Test {
 protected:
  void SetUp() override {
    make_folders(folder_);
    write_whole(folder_ + "/build.json", R"({"profile": "fast-pgo", "compiler": "gcc 12"})");
    write_whole(folder_ + "/training.json", R"({"workloads": [
      {"workload": "random_mixed", "params": {"ops": 9, "rule": "toggle"}, "seed": 7}]})");
    Arm arm;
    arm.name = "baseline";
    experiment_.arms.push_back(arm);
    arm.name = "fast-pgo";
    arm.library.path = folder_ + "/libhakmem.so";
    arm.library.sha256 = "other";
    experiment_.arms.push_back(arm);
    Cell cell;
    cell.name = "measured";
    cell.workload = "random_mixed";
    experiment_.cells.push_back(cell);
  }
  void TearDown() override {
    for (const char* const file : {"/build.json", "/training.json"}) {
      unlink((folder_ + file).c_str());
    }
    rmdir(folder_.c_str());
  }

  /// Whether a run with these parameters of the measured cell is warned of.
  bool warned(const Json& params) {
    experiment_.cells[0].params = params;
    CpuPlan plan;
    plan.workload = 0;
    plan.harness = 1;
    for (const std::string& notice : plan_notices(experiment_, plan)) {
      if (notice.find("the arm fast-pgo was trained on random_mixed") != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  std::string folder_ = testing::TempDir() + "/hak-trained-" + std::to_string(getpid());
  Experiment experiment_;
};

TEST_F(Trained, FactsCarryTheTraining) {
  const Json facts = build_facts(experiment_.arms[1].library);
  EXPECT_EQ(facts["profile"], "fast-pgo");
  EXPECT_EQ(facts["training"]["workloads"][0]["seed"], 7);
  EXPECT_TRUE(build_facts(experiment_.arms[0].library).is_null());
}

TEST_F(Trained, WarnsWhereTheTrainingIsMeasured) {
  EXPECT_TRUE(warned({{"ops", 20000000}, {"slots", 400}, {"rule", "toggle"}}));
  EXPECT_TRUE(warned(Json::object()));
  EXPECT_FALSE(warned({{"rule", "replace"}}));
  experiment_.cells[0].workload = "larson";
  EXPECT_FALSE(warned(Json::object()));
}

}  // namespace
}  // namespace hakmem::harness
