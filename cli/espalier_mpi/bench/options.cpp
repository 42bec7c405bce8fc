#include <fmt/format.h>

// smpicxx makes it a macro, but CLI11 has a member of that name.
#undef exit
#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "cli/espalier_mpi/bench/bench.hpp"
#include "cli/espalier_mpi/commands/tune.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

std::vector<std::string_view> operation_names() {
  std::vector<std::string_view> names;
  for (const planner::Operation operation : planner::kOperations) {
    names.push_back(planner::name_of(operation));
  }
  return names;
}

// The options of commands that time rounds.
void add_timed_options(CLI::App& command, BenchArguments& to, BenchTexts& texts) {
  command.add_option("--repeat", to.repeat, "timed rounds of each size")
      ->check(CLI::Range(std::size_t{1}, kMostRepeats))
      ->capture_default_str();
  command.add_option("--warm-up", to.warm_up, "untimed rounds before them")
      ->check(CLI::Range(std::size_t{0}, kMostRepeats))
      ->capture_default_str();
  command.add_flag("--verify", to.verify, "check every byte, or element, of the output");
  command.add_flag("--json", to.json, "figures as JSON on standard output");
  add_element_options(command, texts.elements);
  add_broadcast_options(command, to.broadcast, texts.running);
}

}  // namespace

CLI::App* add_bench(CLI::App& app, BenchArguments& to, BenchTexts& texts) {
  CLI::App* bench = app.add_subcommand("bench", "time plans and MPI's own function alternately");
  bench->add_option("PLAN", to.plans,
                    "plan files for one operation, read by rank 0 only; none: time only MPI's own "
                    "function");
  bench->add_option("--operation", texts.operation,
                    fmt::format("{} (default: the plans')", fmt::join(operation_names(), ", ")));
  bench->add_option("--sizes", texts.sizes, "message sizes, separated by commas")
      ->capture_default_str();
  add_timed_options(*bench, to, texts);
  add_tuned_option(*bench, to.tuned);
  return bench;
}

CLI::App* add_tune(CLI::App& app, TuneArguments& to, BenchTexts& texts) {
  CLI::App* tune = app.add_subcommand(
      "tune", "run a plan in segments around the predicted size, and save the best");
  tune->add_option("PLAN", to.plan, "plan file, read by rank 0 only; - is standard input")
      ->required();
  texts.sizes.clear();
  tune->add_option("--message", texts.sizes, "sizes of messages, separated by commas")->required();
  tune->add_option(
      "-o,--output", to.out,
      "file of tuned segments to which the result is added (default: PLAN.tuned.json)");
  add_timed_options(*tune, to.bench, texts);
  tune->add_option("--platform", to.platform,
                   "the plan's platform, in Espalier's JSON, read by rank 0 only: search around "
                   "the segment that is best by simulation");
  tune->get_option("--segment")
      ->description(
          "search around this segment; plan: the plan's own (default: the segment from simulation "
          "with --platform, otherwise from a formula)");
  return tune;
}

void check_bench(const CLI::App& command, BenchArguments& to, const BenchTexts& texts) {
  const Running running = check_running(texts.running);
  to.segment = running.segment;
  to.timeout = to.broadcast.timeout = running.timeout;
  to.reduction.mapping = to.broadcast.mapping = running.mapping;
  // The options are the same, but the defaults differ.
  to.reduction.ports = to.broadcast.ports;
  if (command.count("--window") > 0) to.reduction.sends_in_flight = to.broadcast.sends_in_flight;
  if (command.count("--receives") > 0) {
    to.reduction.receives_in_flight = to.broadcast.receives_in_flight;
  }
  if (!texts.operation.empty()) {
    to.operation = planner::kOperations[place_of("--operation", "operation", texts.operation,
                                                 operation_names())];
  }
  to.elements = check_elements(texts.elements);
  for (const char* option : {"--type", "--op"}) {
    if (command.count(option) > 0) to.only_for_reductions = option;
  }
  for (const char* option : {"--as-planned", "--rounds", "--schedule"}) {
    if (command.count(option) > 0) to.only_for_broadcasts = option;
  }
  to.sizes = sizes_of(to.sizes_option, texts.sizes);
  check_tuned(to.tuned, to.segment, to.broadcast);
}

void check_tune(const CLI::App& command, TuneArguments& to, const BenchTexts& texts) {
  to.bench.sizes_option = "--message";
  BenchTexts rest = texts;
  to.around_plan_segment = texts.running.segment == "plan";
  if (to.around_plan_segment) rest.running.segment.clear();
  check_bench(command, to.bench, rest);
  if (!to.platform.empty() && (to.around_plan_segment || to.bench.segment)) {
    throw InputError("--platform and --segment both set where to search; give one of them");
  }
  for (const Bytes size : to.bench.sizes) {
    if (size.value == 0)
      throw InputError("--message: an empty message has no segments; give at least 1 byte");
  }
  if (to.bench.broadcast.rounds)
    throw InputError("--rounds needs the plan's segments; leave it out");
  if (to.bench.broadcast.schedule) {
    throw InputError("--schedule needs the plan's segments; leave it out");
  }
  if (to.out == "-") throw InputError("-o needs a file name; standard output contains the figures");
  if (to.out.empty()) {
    if (to.plan == "-") throw InputError("-o is required for a plan from standard input");
    to.out = to.plan + ".tuned.json";
  }
}

}  // namespace espalier::cli
