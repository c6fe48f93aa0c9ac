#include "harness/hakbench/record.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include "harness/hakbench/direct.hpp"
#include "harness/hakbench/slices.hpp"

namespace hakbench {

namespace {

/// The object whose malloc this process calls.
std::string_view malloc_library() {
  Dl_info info;
  void* symbol = ::dlsym(RTLD_DEFAULT, "malloc");
  if (symbol == nullptr || ::dladdr(symbol, &info) == 0) return {};
  return info.dli_fname;
}

/// `threads` has its own place in the record, and `size` shows in min and max.
bool shown_in_params(const Parameter& parameter) {
  return parameter.name != "threads" && parameter.name != "size";
}

void write_params(Text& text, const Options& options) {
  text << "\"params\": {";
  std::string_view comma;
  if (options.file() != nullptr) {
    text << "\"file\": ";
    text.quoted(options.file());
    comma = ", ";
  }
  for (const Parameter& parameter : options.workload().parameters) {
    if (!shown_in_params(parameter)) continue;
    text << comma;
    text.quoted(parameter.name) << ": ";
    if (parameter.words.empty()) {
      text << options[parameter.name];
    } else {
      text.quoted(options.word(parameter.name));
    }
    comma = ", ";
  }
  text << "}";
}

void write_latency(Text& text, const CallTimes* times, double ns_per_tick) {
  text << ", \"latency_ns\": ";
  if (times == nullptr) {
    text << "null";
  } else {
    times->write(text, ns_per_tick, find_path_reader() != nullptr);
  }
}

void write_rate(Text& text, const Outcome& outcome) {
  const double seconds = static_cast<double>(outcome.run_ns) * 1e-9;
  const double ops = static_cast<double>(outcome.ops);
  text << ", \"ops\": " << outcome.ops << ", \"passes\": " << outcome.passes << ", \"seconds\": ";
  text.fixed(seconds, 9) << ", \"ops_per_s\": ";
  text.fixed(ops / seconds, 1) << ", \"ns_per_op\": ";
  text.fixed(static_cast<double>(outcome.run_ns) / ops, 4) << ", \"setup_s\": ";
  text.fixed(static_cast<double>(outcome.setup_ns) * 1e-9, 9) << ", \"drain_s\": ";
  text.fixed(static_cast<double>(outcome.drain_ns) * 1e-9, 9);
}

void write_parameters_json(Text& text, std::span<const Parameter> parameters) {
  text << "[";
  std::string_view comma;
  for (const Parameter& parameter : parameters) {
    text << comma << "{\"name\": ";
    text.quoted(parameter.name) << ", \"min\": " << parameter.min << ", \"max\": " << parameter.max
                                << ", \"default\": " << parameter.fallback << ", \"words\": ";
    text.quoted(parameter.words) << ", \"doc\": ";
    text.quoted(parameter.doc) << "}";
    comma = ", ";
  }
  text << "]";
}

void write_catalogue_json(Text& text) {
  text << "{\"common\": ";
  write_parameters_json(text, kCommonParameters);
  text << ", \"workloads\": [";
  std::string_view comma;
  for (const Workload& workload : kCatalogue) {
    text << comma << "\n{\"name\": ";
    text.quoted(workload.name) << ", \"doc\": ";
    text.quoted(workload.doc) << ", \"parameters\": ";
    write_parameters_json(text, workload.parameters);
    text << "}";
    comma = ",";
  }
  text << "]}\n";
}

void write_parameters_table(Text& text, std::span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters) {
    text << "  --" << parameter.name;
    for (std::size_t column = parameter.name.size(); column < 12; ++column) text << ' ';
    text << parameter.doc << " (" << parameter.fallback << "; " << parameter.min << " to "
         << parameter.max;
    if (!parameter.words.empty()) text << ", or " << parameter.words;
    text << ")\n";
  }
}

void write_catalogue_table(Text& text) {
  for (const Workload& workload : kCatalogue) {
    text << workload.name << ": " << workload.doc << '\n';
    write_parameters_table(text, workload.parameters);
    if (!workload.positional.empty()) {
      text << "  also as:";
      for (std::string_view name : workload.positional) text << ' ' << name;
      text << '\n';
    }
  }
  text << "every workload:\n";
  write_parameters_table(text, kCommonParameters);
  text << "  --min-seconds least time of the measured region (1.0)\n"
          "  --slices      two settings of live boxes in turns: "
          "NAME:BOX=VALUE,.../NAME:BOX=VALUE,...\n"
          "  --slices-seconds how long slices are taken, each of --min-seconds (10)\n";
}

}  // namespace

bool write_record(const Options& options, const Outcome& outcome, const Steps& steps,
                  const Slices* slices) {
  Text text(STDOUT_FILENO);
  text << "{\"hakbench\": 1, \"workload\": ";
  text.quoted(options.workload().name) << ", ";
  write_params(text, options);
  text << ", \"seed\": " << options["seed"] << ", \"rng\": ";
  text.quoted(options.word("rng")) << ", \"threads\": " << std::uint64_t{options.threads()};
  write_rate(text, outcome);
  write_latency(text, steps.latency(steps.workload), outcome.ns_per_tick);
  text << ", \"peak_rss_kib\": " << outcome.resident.peak_kib
       << ", \"final_rss_kib\": " << outcome.resident.now_kib << ", \"checksum\": \"";
  text.hex(outcome.checksum, 16) << "\", \"details\": {";
  steps.describe(steps.workload, text);
  text << "}, \"malloc_library\": ";
  text.quoted(malloc_library());
  if (slices != nullptr) slices->write(text);
  if (calls_are_direct()) text << ", \"calls\": \"direct\"";
  text << "}\n";
  return text.flush();
}

bool write_catalogue(bool json) {
  Text text(STDOUT_FILENO);
  if (json) {
    write_catalogue_json(text);
  } else {
    write_catalogue_table(text);
  }
  return text.flush();
}

}  // namespace hakbench
