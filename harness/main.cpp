// hak: the measuring instrument. Reads the command line and hands over.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "harness/analysis.hpp"
#include "harness/box_registry.hpp"
#include "harness/build_info.hpp"
#include "harness/burn_command.hpp"
#include "harness/calibrate_command.hpp"
#include "harness/compare_command.hpp"
#include "harness/doctor.hpp"
#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/places.hpp"
#include "harness/profile_command.hpp"
#include "harness/record/record_command.hpp"
#include "harness/run_command.hpp"
#include "harness/run_many.hpp"
#include "harness/signals.hpp"

namespace hakmem::harness {

namespace {

constexpr const char* kFooter =
    "Allocation traces: record [-o FILE] -- COMMAND, trace show FILE [--out DIR]. Heap profiles: "
    "heap FILE.\n"
    "Commands of the analysis: report DIR, report FILE, history, candidates, profile-report "
    "DIR, selftest, export,\n"
    "family DIR... --title T --out DIR, promote BOX --evidence DIR, retire BOX, slices-power.\n"
    "\n"
    "Exit codes:\n"
    "  0    done; for run: a verdict was reached, whatever it says\n"
    "  1    a defect of hak itself\n"
    "  2    wrong arguments, or an experiment file with an error (the line says where)\n"
    "  3    a program, library or package is missing (the line says what to type)\n"
    "  5    the machine refused: disk full, read-only folder, another run with --no-wait\n"
    "  10   with --gate: the decision is NO-GO\n"
    "  11   with --gate undecided: the decision is UNDECIDED\n"
    "  12   the decision is INVALID\n"
    "  130  interrupted; all samples are kept, go on with --resume\n"
    "\n"
    "docs/guide/harness.md says more.";

/// What the analysis owns goes to it as it stands, so that its options are its own.
bool is_analysis(const std::string& command) {
  for (const char* const known :
       {"report", "history", "selftest", "export", "trace", "heap", "calibrate-report",
        "calibrate-times", "promote", "retire", "candidates", "profile-report", "layout-report",
        "slices-power", "family"}) {
    if (command == known) return true;
  }
  return false;
}

/// A preload of the caller's would serve the harness's own malloc: start again without it.
void drop_preload(char** argv) {
  const char* const preload = std::getenv("LD_PRELOAD");
  if (preload == nullptr) return;
  if (*preload != '\0') {
    std::fprintf(stderr, "hak: warning: LD_PRELOAD=%s is removed; arms set their own\n", preload);
  }
  unsetenv("LD_PRELOAD");
  if (*preload != '\0') execv("/proc/self/exe", argv);
}

struct Options {
  RunOptions run;
  ProfileOptions profile;
  BurnOptions burn;
  CompareOptions compare;
  std::vector<std::string> files;
  bool check = false;
  bool clang = false;
  unsigned times = 0;
  bool boxes_json = false, boxes_markdown = false, doctor_json = false;
};

void define_run(CLI::App* run, Options* options) {
  RunOptions& o = options->run;
  run->add_option("file", options->files,
                  "experiments (experiments/NAME.json), one after the other")
      ->type_name("FILE...");
  run->add_flag("--check", options->check, "check the files, run nothing");
  run->add_option("--results", o.results, "folder of results (default: results/ of the repository)")
      ->type_name("DIR");
  run->add_option("--runs", o.runs, "blocks, instead of the experiment's")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  run->add_flag("--until-decided", o.until_decided,
                "stop at the first look (10, 20, 40, 80 blocks) whose evidence is decided");
  run->add_option("--resume", o.resume, "go on with a run that was stopped")->type_name("DIR");
  run->add_option("--lib", o.libraries, "a further library beside the arms")
      ->type_name("NAME=PATH");
  run->add_option("--mode", o.mode,
                  "process: one fresh process a run; slices: both arms in turns inside one")
      ->check(CLI::IsMember({"process", "slices"}));
  run->add_option("--gate", o.gate, "exit 10 for NO-GO; with undecided also 11 for UNDECIDED")
      ->check(CLI::IsMember({"no-go", "undecided"}));
  run->add_flag("--yes,-y", o.yes, "ask nothing");
  run->add_flag("--quick", o.quick, "three short blocks: does it work?");
  run->add_flag("--force", o.force, "with --resume: go on where another machine began");
  run->add_flag("--no-code", o.no_code, "do not count instructions, nor check the box's rules");
  run->add_flag("--no-wait", o.no_wait, "refuse where another run holds the machine");
}

void define_profile(CLI::App* profile, ProfileOptions* o) {
  profile->add_option("target", o->target, "experiment file, or workload of hakbench")->required();
  profile->add_option("--param", o->params, "of a workload, may be given again")
      ->type_name("NAME=VALUE");
  profile->add_option("--arm", o->arm, "arm (of a workload: library; default: the one under test)");
  profile->add_option("--against", o->against, "another arm: where do they differ?");
  profile->add_option("--cell", o->cell, "cell of the experiment (default: the primary one)");
  profile->add_option("--runs", o->runs, "recordings of each arm (3)")->check(CLI::Range(1, 100));
  profile->add_option("--seconds", o->seconds, "measured time of a recording (3)")
      ->check(CLI::Range(0.05, 3600.0));
  profile->add_option("--frequency", o->frequency, "samples a second (999)")
      ->check(CLI::Range(10, 20000));
  profile->add_option("--call-graph", o->call_graph, "auto: lbr where the CPU has it, else dwarf")
      ->check(CLI::IsMember({"auto", "lbr", "dwarf", "fp"}));
  profile->add_option("--results", o->results, "folder of results")->type_name("DIR");
  profile->add_flag("--bands", o->bands, "count instructions for each size band as well");
  profile->add_flag("--keep-raw", o->keep_raw, "keep what perf and callgrind wrote");
}

void define_burn(CLI::App* burn, BurnOptions* o) {
  burn->add_option("workload", o->workload, "of hakbench (hakbench list)")->required();
  burn->add_option("parameters", o->parameters, "NAME=VALUE of the workload");
  burn->add_option("--percent", o->percents, "by how much throughput shall fall (repeatable)")
      ->required()
      ->allow_extra_args(false)
      ->check(CLI::Range(0.01, 50.0));
  burn->add_option("--out", o->out, "write an experiment for each percentage there")
      ->type_name("DIR");
  burn->add_option("--seconds", o->seconds, "measured time of each of its twelve processes")
      ->check(CLI::Range(0.01, 60.0));
}

void define_compare(CLI::App* compare, Options* options) {
  RunOptions& run = options->run;
  CompareOptions& o = options->compare;
  compare->add_flag("--quick", o.quick, "under 4 minutes: three short blocks");
  compare->add_flag("--all", o.all, "more workloads, recorded traces, real programs");
  compare->add_option("--lib", o.libraries, "a further library")->type_name("NAME=PATH");
  compare->add_option("--only", o.only, "these cells or workloads only")
      ->type_name("CELL,...")
      ->delimiter(',');
  compare->add_option("--runs", o.runs, "blocks, instead of 12")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  compare->add_option("--void-above", o.void_above, "steal or foreign load that voids a block")
      ->type_name("PERCENT")
      ->check(CLI::Range(0, 100));
  compare->add_option("--results", run.results, "folder of results")->type_name("DIR");
  compare->add_option("--resume", run.resume, "go on with a sweep that was stopped")
      ->type_name("DIR");
  compare->add_flag("--no-wait", run.no_wait, "refuse where another run holds the machine");
}

void define_all(CLI::App* app, Options* options) {
  app->footer(kFooter);
  app->require_subcommand(1);
  app->set_version_flag("--version", std::string("hak ") + HAK_VERSION);
  define_run(app->add_subcommand("run", "run an experiment and write its report"), options);
  CLI::App* const ceiling = app->add_subcommand(
      "ceiling", "standard against the fast and fast-pgo builds: what could the compiler give?");
  define_run(ceiling, options);
  ceiling->add_flag("--clang", options->clang, "clang's builds (experiments/ceiling_clang.json)");
  CLI::App* const calibrate = app->add_subcommand(
      "calibrate", "the same arm twice: what is this machine's noise, and is the verdict honest?");
  define_run(calibrate, options);
  calibrate->add_option("--times", options->times, "short A/A runs instead of a long one")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  define_profile(app->add_subcommand("profile", "where an arm's time goes, and what could be won"),
                 &options->profile);
  define_burn(app->add_subcommand("burn", "the HAKMEM_BURN that slows a workload by so much"),
              &options->burn);
  define_compare(
      app->add_subcommand("compare", "hakmem against other allocators on many workloads"), options);
  CLI::App* const boxes = app->add_subcommand("boxes", "the optimizations and their defaults");
  auto* const json = boxes->add_flag("--json", options->boxes_json, "for programs");
  boxes->add_flag("--markdown", options->boxes_markdown, "the page docs/boxes.md")->excludes(json);
  CLI::App* const doctor =
      app->add_subcommand("doctor", "what on this machine disturbs a measurement");
  doctor->add_flag("--json", options->doctor_json, "for programs");
  app->add_subcommand("help", "this text");
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0) throw Failure(Exit::io, "cannot write to stdout");
}

Exit show_boxes(const Options& options) {
  if (options.boxes_json) {
    print(boxes_json().dump(1) + "\n");
  } else {
    print(options.boxes_markdown ? boxes_markdown() : boxes_table());
  }
  return Exit::ok;
}

Exit show_doctor(const Options& options) {
  const std::vector<Check> checks = examine(plan_cpus());
  print(options.doctor_json ? doctor_json(checks).dump(1) + "\n" : doctor_text(checks, true));
  return Exit::ok;
}

int dispatch(int argc, char** argv) {
  if (argc > 1 && is_analysis(argv[1])) {
    become_analysis(find_places(), std::vector<std::string>(argv + 1, argv + argc));
  }
  if (argc > 1 && std::strcmp(argv[1], "record") == 0) {  // what follows is the command's own
    return record_command(find_places(), std::vector<std::string>(argv + 2, argv + argc));
  }
  Options options;
  CLI::App app("hak: is a change to the allocator a gain?", "hak");
  define_all(&app, &options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw Failure(Exit::usage, std::string(error.what()) + " (hak help shows the options)");
  }
  const std::string command = app.get_subcommands().front()->get_name();
  if (command == "help") {
    print(app.help());
    return 0;
  }
  if (command == "boxes") return static_cast<int>(show_boxes(options));
  if (command == "doctor") return static_cast<int>(show_doctor(options));
  install_signals();
  const Places places = find_places();
  if (command == "profile") return static_cast<int>(profile_command(options.profile, places));
  if (command == "burn") return static_cast<int>(burn_command(options.burn, places));
  if (options.check) {
    if (options.files.empty()) throw Failure(Exit::usage, "run --check needs an experiment file");
    return static_cast<int>(check_experiments(options.files, places));
  }
  if (options.files.size() > 1 && command != "run") {
    throw Failure(Exit::usage, command + " takes one experiment");
  }
  if (options.files.size() > 1) {
    if (!options.run.resume.empty()) {
      throw Failure(Exit::usage, "--resume goes on with one run; name one experiment or none");
    }
    return static_cast<int>(run_experiments(options.run, options.files, places));
  }
  if (!options.files.empty()) options.run.file = options.files.front();
  if (command == "compare" && options.run.resume.empty()) {
    plan_compare(options.compare, places, &options.run);
  }
  if (command == "ceiling" && options.run.file.empty() && options.run.resume.empty()) {
    options.run.file =
        places.root + "/experiments/ceiling" + (options.clang ? "_clang" : "") + ".json";
  }
  if (command == "calibrate") {
    return static_cast<int>(calibrate_command(options.run, options.times, places));
  }
  return static_cast<int>(run_command(options.run, places));
}

int guarded(int argc, char** argv) {
  try {
    drop_preload(argv);
    return dispatch(argc, argv);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "hak: %s\n", failure.what());
    return static_cast<int>(failure.code());
  } catch (const std::bad_alloc&) {
    std::fputs("hak: out of memory\n", stderr);
    return static_cast<int>(Exit::io);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hak: a defect of hak: %s\n", error.what());
    return static_cast<int>(Exit::failure);
  }
}

}  // namespace

}  // namespace hakmem::harness

int main(int argc, char** argv) { return hakmem::harness::guarded(argc, argv); }
