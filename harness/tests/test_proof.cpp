#include <gtest/gtest.h>

#include "harness/proof.hpp"
#include "harness/sample.hpp"

namespace hakmem::harness {
namespace {

Arm lab_arm(std::int64_t batch) {
  Arm arm;
  arm.name = "treatment";
  arm.library.name = "lab";
  arm.library.build = "standard";
  arm.library.hakmem = true;
  arm.boxes = default_values();
  arm.boxes["HAKMEM_REFILL_BATCH"] = batch;
  arm.env["HAKMEM_REFILL_BATCH"] = std::to_string(batch);
  return arm;
}

Json report_of(const Arm& arm, int uses = 5) {
  Json report = {
      {"library", "lab"}, {"profile", "standard"}, {"pid", 7},
      {"event", "exit"},  {"variant", "baseline"}, {"entries", {{"malloc", "baseline"}}}};
  for (const auto& [name, value] : arm.boxes) {
    report["boxes"][name] = {{"value", value}, {"uses", uses}};
  }
  return report;
}

std::string problems_of(const Arm& arm, const Json& report) {
  std::string text;
  for (const std::string& problem : report_problems(arm, report)) text += problem + "; ";
  return text;
}

TEST(Proof, AGoodReportHasNoProblem) {
  const Arm arm = lab_arm(1);
  EXPECT_EQ(problems_of(arm, report_of(arm)), "");
}

TEST(Proof, NoReport) { EXPECT_NE(problems_of(lab_arm(1), nullptr), ""); }

TEST(Proof, AnotherValueThanWanted) {
  const Arm arm = lab_arm(1);
  Json report = report_of(arm);
  report["boxes"]["HAKMEM_REFILL_BATCH"]["value"] = 16;
  EXPECT_EQ(problems_of(arm, report), "HAKMEM_REFILL_BATCH is 16, wanted 1; ");
  report["boxes"].erase("HAKMEM_REFILL_BATCH");
  EXPECT_EQ(problems_of(arm, report), "HAKMEM_REFILL_BATCH is not in the allocator's report; ");
}

TEST(Proof, AnotherVersionOfOursHasToHaveWhatTheArmSets) {
  Arm arm = lab_arm(1);
  arm.library.name = "before";
  arm.library.build = "";
  Json report = report_of(arm);
  report["boxes"].erase("HAKMEM_RUN_CACHE");
  report["boxes"]["HAKMEM_PURGE_DELAY"]["value"] = 100;
  EXPECT_EQ(problems_of(arm, report), "");
  report["boxes"].erase("HAKMEM_REFILL_BATCH");
  EXPECT_EQ(problems_of(arm, report), "HAKMEM_REFILL_BATCH is not in the allocator's report; ");
}

TEST(Proof, ABuildIsKnownByItsProfile) {
  Arm arm = lab_arm(16);
  arm.library.name = arm.library.build = "fast-pgo-clang";
  Json report = report_of(arm);
  report["library"] = "standard";
  report["profile"] = "fast-pgo";
  EXPECT_EQ(problems_of(arm, report), "");
  report["profile"] = "standard";
  EXPECT_EQ(problems_of(arm, report),
            "the report is of the profile \"standard\", wanted \"fast-pgo\"; ");
}

TEST(Proof, ABoxThatIsSetAndNeverUsed) {
  const Arm arm = lab_arm(1);
  EXPECT_NE(problems_of(arm, report_of(arm, 0)).find("never used"), std::string::npos);
  const Arm standard = lab_arm(16);  // at its default it need not be used
  EXPECT_EQ(problems_of(standard, report_of(standard, 0)), "");
}

TEST(Proof, VariantMustFollowShapes) {
  Arm arm = lab_arm(16);
  Json report = report_of(arm);
  report["variant"] = "c7_ultra";
  EXPECT_NE(problems_of(arm, report).find("wanted \"baseline\""), std::string::npos);
  arm.boxes["HAKMEM_C7_ULTRA"] = 1;
  report = report_of(arm);
  EXPECT_NE(problems_of(arm, report).find("the variant is \"baseline\""), std::string::npos);
  report["variant"] = "c7_ultra";
  EXPECT_NE(problems_of(arm, report).find("malloc is served by the variant"), std::string::npos);
  report["entries"]["malloc"] = "c7_ultra";
  EXPECT_EQ(problems_of(arm, report), "");
}

TEST(Proof, AnotherLibraryThanWanted) {
  const Arm arm = lab_arm(1);
  Json report = report_of(arm);
  report["library"] = "standard";
  EXPECT_NE(problems_of(arm, report).find("wanted \"lab\""), std::string::npos);
}

TEST(Proof, ReportOfTheProcessIsChosenAmongItsChildren) {
  const std::string text =
      "{\"pid\": 1, \"event\": \"exit\"}\nrubbish\n{\"pid\": 2, \"event\": \"oom\"}\n"
      "{\"pid\": 2, \"event\": \"exit\"}\n{\"pid\": 3, \"ev";
  EXPECT_EQ(find_report(text, 2)["event"], "exit");
  EXPECT_TRUE(find_report(text, 3).is_null());
  EXPECT_TRUE(find_report("", 3).is_null());
}

TEST(Record, OneRecordAmongOtherLines) {
  std::string problem;
  EXPECT_EQ(find_record("hello\n{\"hakbench\": 1}\n", &problem)["hakbench"], 1);
  EXPECT_TRUE(find_record("hello\n", &problem).is_null());
  EXPECT_EQ(problem, "the output holds no record of hakbench");
  EXPECT_TRUE(find_record("{\"hakbench\": 1}\n{\"hakbench\": 1}\n", &problem).is_null());
  EXPECT_EQ(problem, "the output holds two records");
}

}  // namespace
}  // namespace hakmem::harness
