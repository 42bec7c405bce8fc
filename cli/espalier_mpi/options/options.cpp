#include "cli/espalier_mpi/options/options.hpp"

#include <fmt/format.h>

// smpicxx makes it a macro, but CLI11 has a member of that name.
#undef exit
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "cli/espalier_mpi/options/running_options.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {
namespace {

constexpr std::array<std::string_view, 6> kCommands = {"bcast", "reduce", "allreduce",
                                                       "bench", "tune",   "probe"};
// The unchecked texts that CLI11 stores.
struct Texts {
  std::string message;
  RunningTexts running;
  ElementTexts elements;
};

// The options common to the commands that run one plan.
void add_one_run(CLI::App& command, RunArguments& to, Texts& texts) {
  command.add_option("PLAN", to.plan, "plan file, read by rank 0 only; - is standard input");
  command.add_option("--decisions", to.decisions,
                     "instead of PLAN: a table of espalier decide --json, which selects the "
                     "algorithm for these ranks and this message; read by rank 0 only");
  command.add_option("--root", to.root, "with --decisions: the root's rank (default 0)");
  command.add_option("--message", texts.message, "size of a test message (default 64MiB)");
  command.add_option("--repeat", to.repeat, "number of runs")
      ->check(CLI::Range(std::size_t{1}, kMostRepeats));
  add_tuned_option(command, to.tuned);
  command.add_flag("--json", to.json, "figures as JSON on standard output");
  command.add_flag("--quiet", to.quiet, "no progress");
}

CLI::App* add_bcast(CLI::App& app, BcastArguments& to, Texts& texts) {
  CLI::App* bcast = app.add_subcommand("bcast", "run a broadcast plan on the ranks of this mpirun");
  add_one_run(*bcast, to, texts);
  bcast
      ->add_option(
          "--in", to.in,
          "file or folder to broadcast, on the plan's source; several are sent as one stream")
      ->expected(1)
      ->take_all();
  bcast->add_option(
      "--out", to.out,
      "output file of each rank; {rank} and {host} are replaced. For a folder or several --in: an "
      "output folder, new or empty. The source writes it too, unless it is the --in file");
  bcast->add_flag("--resume", to.resume,
                  "continue an interrupted run that had --resume; if this run is interrupted, keep "
                  ".espalier-NAME.part beside the output");
  bcast->add_flag("--allow-changes", to.allow_changes,
                  "send a source that changes meanwhile, such as a log that grows, with a warning; "
                  "without this option such a run ends with status 5 and writes no output");
  bcast->add_flag("--verify", to.verify,
                  "check every received byte; with --in, read the written files back");
  add_broadcast_options(*bcast, to.broadcast, texts.running);
  bcast->add_flag("--compare-mpi-bcast", to.compare,
                  "time MPI_Bcast of the same message in alternation, and print the ratio");
  bcast->add_option("--trace", to.trace,
                    "write the times of each rank's sends and receives to this file, for "
                    "chrome://tracing and Perfetto");
  return bcast;
}

CLI::App* add_reduce(CLI::App& app, const std::string& name, ReduceArguments& to, Texts& texts) {
  const std::string function = name == "reduce" ? "MPI_Reduce" : "MPI_Allreduce";
  CLI::App* reduce =
      app.add_subcommand(name, fmt::format("run {} {} plan on the ranks of this mpirun",
                                           name == "reduce" ? "a" : "an", name));
  add_one_run(*reduce, to, texts);
  add_element_options(*reduce, texts.elements);
  reduce->add_flag("--verify", to.verify, "check every element of the result");
  runtime::ReductionOptions& options = to.reduction;
  add_running_options(*reduce, {options.sends_in_flight, options.receives_in_flight, options.ports},
                      texts.running);
  reduce->add_flag(
      "--compare-mpi", to.compare,
      fmt::format("time {} of the same message in alternation, and print the ratio", function));
  return reduce;
}

// Exactly one of PLAN and --decisions is given, with options that fit it.
void check_plan_source(const RunArguments& to, std::string_view command,
                       runtime::RankMapping mapping, const runtime::BroadcastOptions& options) {
  if (to.decisions.empty()) {
    if (to.plan.empty()) {
      throw InputError(fmt::format("PLAN is required; see espalier-mpi {} --help", command));
    }
    if (to.root) throw InputError("--root is for --decisions; a plan has its own source");
    return;
  }
  if (!to.plan.empty()) throw InputError("PLAN and --decisions are given; give one of them");
  const bool timed = options.rounds || options.schedule;
  if (to.segment || !to.tuned.empty() || timed || mapping != runtime::RankMapping::kByOrder) {
    throw InputError(
        "--decisions sets the segment size, for ranks in order; leave out --segment, --tuned, "
        "--rounds, --schedule and --map");
  }
}

void check_one_tuned(const RunArguments& to, const runtime::BroadcastOptions& options) {
  check_tuned(to.tuned, to.segment, options);
  if (to.tuned.size() > 1) throw InputError("--tuned: there is only one plan; give one file");
}

void check_bcast(BcastArguments& to, const Texts& texts) {
  if (!texts.message.empty()) to.message = size_of("--message", texts.message);
  const Running running = check_running(texts.running);
  to.broadcast.mapping = running.mapping;
  to.broadcast.timeout = running.timeout;
  to.segment = running.segment;
  check_one_tuned(to, to.broadcast);
  check_plan_source(to, "bcast", running.mapping, to.broadcast);
  if (!to.decisions.empty() && !to.in.empty()) {
    throw InputError("--decisions needs a --message; of --in only the source knows the size");
  }
  if (to.in.empty() != to.out.empty()) throw InputError("--in and --out must be given together");
  if (!to.in.empty() && !texts.message.empty()) {
    throw InputError("--message and --in are given; give one of them");
  }
  if (to.resume && (to.in.empty() || to.repeat > 1)) {
    throw InputError("--resume needs --in, and --repeat 1");
  }
  if (to.allow_changes && to.in.empty()) throw InputError("--allow-changes needs --in");
  if (!to.in.empty() && to.compare) {
    throw InputError("--compare-mpi-bcast needs a --message; leave out --in");
  }
  if (!to.in.empty() && to.broadcast.ports != 0) {
    throw InputError("--ports needs a --message, which is entirely in memory; leave out --in");
  }
  if (to.trace == "-")
    throw InputError("--trace needs a file name; standard output contains the figures");
  if (to.out == "-" || std::find(to.in.begin(), to.in.end(), "-") != to.in.end()) {
    throw InputError("--in and --out need file names; - is not supported");
  }
}

void check_reduce(ReduceArguments& to, const Texts& texts) {
  if (!texts.message.empty()) to.message = size_of("--message", texts.message);
  const Running running = check_running(texts.running);
  to.reduction.mapping = running.mapping;
  to.timeout = running.timeout;
  to.segment = running.segment;
  check_one_tuned(to, {});
  check_plan_source(to, planner::name_of(to.operation), running.mapping, {});
  to.elements = check_elements(texts.elements);
  require_whole("--message", to.message, to.elements);
}

// CLI11's messages may have several lines.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CLI::App app(
      "Runs the plans of espalier on the ranks of an mpirun:\n"
      "  mpirun -np 8 espalier-mpi probe -o platform.json\n"
      "  mpirun -np 8 espalier-mpi bcast plan.json --message 256MiB --verify\n"
      "  mpirun -np 8 espalier-mpi allreduce plan.json --type float --op max\n"
      "  mpirun -np 8 espalier-mpi bench plan.json\n"
      "  mpirun -np 8 espalier-mpi tune plan.json --message 1MiB,64MiB",
      "espalier-mpi");
  app.set_version_flag("--version", "espalier-mpi " ESPALIER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 internal error, 2 wrong usage or input, 4 timeout, 5 received data "
      "differ, or the source changed while it was sent.");
  BcastArguments bcast;
  Texts bcast_texts;
  CLI::App* const bcast_command = add_bcast(app, bcast, bcast_texts);
  ReduceArguments reduce;
  Texts reduce_texts;
  CLI::App* const reduce_command = add_reduce(app, "reduce", reduce, reduce_texts);
  CLI::App* const allreduce_command = add_reduce(app, "allreduce", reduce, reduce_texts);
  BenchArguments bench;
  BenchTexts bench_texts;
  CLI::App* const bench_command = add_bench(app, bench, bench_texts);
  TuneArguments tune;
  BenchTexts tune_texts;
  CLI::App* const tune_command = add_tune(app, tune, tune_texts);
  ProbeArguments probe;
  CLI::App* const probe_command = add_probe(app, probe);
  const std::array commands = {bcast_command, reduce_command, allreduce_command,
                               bench_command, tune_command,   probe_command};
  if (argc == 1) throw InputError("a command is required; see espalier-mpi --help");
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(kCommands.begin(), kCommands.end(), argv[1]) == kCommands.end()) {
    throw InputError(unknown_name("command", argv[1], kCommands));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (CLI::App* command : commands) {
      if (command->parsed()) return {.text = command->help("espalier-mpi")};
    }
    return {.text = app.help()};
  } catch (const CLI::CallForVersion& version) {
    return {.text = std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    const auto given = std::ranges::find_if(commands, &CLI::App::parsed);
    throw InputError(first_line(error.what()) + "; see espalier-mpi " +
                     (given == commands.end() ? "" : (*given)->get_name() + " ") + "--help");
  }
  if (bench_command->parsed()) {
    check_bench(*bench_command, bench, bench_texts);
    return {.bench = bench};
  }
  if (tune_command->parsed()) {
    check_tune(*tune_command, tune, tune_texts);
    return {.tune = tune};
  }
  if (probe_command->parsed()) {
    check_probe(probe);
    return {.probe = probe};
  }
  if (bcast_command->parsed()) {
    check_bcast(bcast, bcast_texts);
    return {.bcast = bcast};
  }
  if (allreduce_command->parsed()) reduce.operation = planner::Operation::kAllreduce;
  check_reduce(reduce, reduce_texts);
  return {.reduce = reduce};
}

}  // namespace espalier::cli
