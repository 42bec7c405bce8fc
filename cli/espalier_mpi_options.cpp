#include "cli/espalier_mpi_options.hpp"

#include <fmt/format.h>

// smpicxx makes it a macro, but CLI11 has a member of that name.
#undef exit
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "runtime/reduce_operation.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {
namespace {

constexpr std::array<std::string_view, 5> kCommands = {"bcast", "reduce", "allreduce", "bench",
                                                       "probe"};
constexpr std::array<std::string_view, 2> kMappings = {"order", "host"};
constexpr std::size_t kMostRepeats = 1'000'000;
constexpr std::size_t kLargestWindow = 10'000;

// What CLI11 stores before it is checked.
struct Texts {
  std::string message;
  std::string slice;
  std::string map = "order";
  std::string type = "double";
  std::string op = "sum";
  std::string timeout = "1 min";
  std::string sizes = "64KiB,256KiB,1MiB,4MiB,16MiB,64MiB,256MiB";
};

Bytes size_of(const std::string& option, const std::string& text) {
  try {
    return parse_size(text);
  } catch (const InputError& error) {
    throw InputError(option + ": " + error.what());
  }
}

std::optional<Seconds> timeout_of(const std::string& text) {
  if (text == "never") return {};
  try {
    const Seconds timeout = parse_duration(text);
    if (timeout.value > 0) return timeout;
  } catch (const InputError& error) {
    throw InputError(std::string("--timeout: ") + error.what());
  }
  throw InputError("--timeout: " + in_quotes(text) + " is no time to wait; never waits for ever");
}

// How plans are run, whatever for. Options is BroadcastOptions or ReductionOptions.
template <class Options>
void add_running_options(CLI::App& command, Options& to, Texts& texts) {
  command.add_option("--map", texts.map,
                     "which rank is which node: order (rank i is node i), or host (by host name)");
  command.add_option("--window", to.sends_in_flight, "outstanding sends per child")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow))
      ->capture_default_str();
  command.add_option("--receives", to.receives_in_flight, "receives posted ahead per tree")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow))
      ->capture_default_str();
  command
      .add_option("--ports", to.ports,
                  "sends of a rank that are under way at once; 1 is one-port to the letter "
                  "(default: any number)")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow));
  command.add_option("--slice", texts.slice,
                     "slice size; otherwise what suits plan and message, the plan's at most");
  command
      .add_option("--timeout", texts.timeout,
                  "how long a rank waits without anything coming or going (30s), or never")
      ->capture_default_str()
      ->take_last();
}

void add_broadcast_options(CLI::App& command, runtime::BroadcastOptions& to, Texts& texts) {
  add_running_options(command, to, texts);
  command.add_flag(
      "!--as-planned", to.direct_copies,
      "ranks of one host pass slices on along the plan's edges; else they all copy from "
      "the one of them that a tree reaches first");
  command.add_flag("--rounds", to.rounds,
                   "synchronised rounds by the plan's colors (two-tree-sanders makes such plans)");
}

// Of the commands that run one plan.
void add_one_run(CLI::App& command, RunArguments& to, Texts& texts) {
  command.add_option("PLAN", to.plan, "plan file, read by rank 0 only; - is standard input")
      ->required();
  command.add_option("--message", texts.message, "size of a test message (default 64MiB)");
  command.add_option("--repeat", to.repeat, "how often")
      ->check(CLI::Range(std::size_t{1}, kMostRepeats));
  command.add_flag("--json", to.json, "figures as JSON on standard output");
  command.add_flag("--quiet", to.quiet, "no progress");
}

CLI::App* add_bcast(CLI::App& app, BcastArguments& to, Texts& texts) {
  CLI::App* bcast = app.add_subcommand("bcast", "run a broadcast plan on the ranks of this mpirun");
  add_one_run(*bcast, to, texts);
  bcast
      ->add_option("--in", to.in,
                   "file or folder to broadcast, on the plan's source; several are one stream")
      ->expected(1)
      ->take_all();
  bcast->add_option(
      "--out", to.out,
      "where each rank writes it; {rank} and {host} are filled in. A folder, new or empty, for a "
      "folder or several --in. The source writes it too, unless it is the --in file");
  bcast->add_flag("--resume", to.resume,
                  "go on where an earlier --resume broke off; should this one, leave "
                  ".espalier-NAME.part beside the output");
  bcast->add_flag("--verify", to.verify,
                  "check every received byte; with --in, what was written, read back");
  add_broadcast_options(*bcast, to.broadcast, texts);
  bcast->add_flag("--compare-mpi-bcast", to.compare,
                  "time MPI_Bcast of the same message in turns, and give the ratio");
  bcast->add_option("--trace", to.trace,
                    "file for what each rank sent and received when, for chrome://tracing and "
                    "Perfetto");
  return bcast;
}

CLI::App* add_reduce(CLI::App& app, const std::string& name, ReduceArguments& to, Texts& texts) {
  const std::string function = name == "reduce" ? "MPI_Reduce" : "MPI_Allreduce";
  CLI::App* reduce =
      app.add_subcommand(name, fmt::format("run {} {} plan on the ranks of this mpirun",
                                           name == "reduce" ? "a" : "an", name));
  add_one_run(*reduce, to, texts);
  reduce->add_option(
      "--type", texts.type,
      fmt::format("of the elements: {} (default double)", fmt::join(kElementTypes, ", ")));
  reduce->add_option("--op", texts.op,
                     fmt::format("operation: {} (default sum)", fmt::join(kElementOps, ", ")));
  reduce->add_flag("--verify", to.verify, "check every element of the result");
  add_running_options(*reduce, to.reduction, texts);
  reduce->add_flag(
      "--compare-mpi", to.compare,
      fmt::format("time {} of the same message in turns, and give the ratio", function));
  return reduce;
}

CLI::App* add_bench(CLI::App& app, BenchArguments& to, Texts& texts) {
  CLI::App* bench =
      app.add_subcommand("bench", "time plans against what MPI does by itself, in turns");
  bench->add_option("PLAN", to.plans,
                    "plan files, read by rank 0 only; none: only MPI's own is timed");
  bench->add_option("--sizes", texts.sizes, "of messages")->capture_default_str();
  bench->add_option("--repeat", to.repeat, "timed rounds of each size")
      ->check(CLI::Range(std::size_t{1}, kMostRepeats))
      ->capture_default_str();
  bench->add_option("--warm-up", to.warm_up, "rounds before them")
      ->check(CLI::Range(std::size_t{0}, kMostRepeats))
      ->capture_default_str();
  bench->add_flag("--verify", to.verify, "check every received byte");
  bench->add_flag("--json", to.json, "figures as JSON on standard output");
  add_broadcast_options(*bench, to.broadcast, texts);
  return bench;
}

// Of the texts that are common to all that run plans.
template <class Options>
void check_running(Options& to, std::optional<Seconds>& timeout, std::optional<Bytes>& slice,
                   const Texts& texts) {
  if (!texts.slice.empty()) {
    slice = size_of("--slice", texts.slice);
    if (slice->value == 0) throw InputError("--slice: a slice has at least one byte");
  }
  if (std::find(kMappings.begin(), kMappings.end(), texts.map) == kMappings.end()) {
    throw InputError("--map: " + unknown_name("mapping", texts.map, kMappings));
  }
  timeout = timeout_of(texts.timeout);
  if (texts.map == "host") to.mapping = runtime::RankMapping::kByHostName;
}

void check_bench(BenchArguments& to, const Texts& texts) {
  check_running(to.broadcast, to.broadcast.timeout, to.slice, texts);
  for (std::size_t start = 0; start <= texts.sizes.size();) {
    const std::size_t comma = std::min(texts.sizes.find(',', start), texts.sizes.size());
    to.sizes.push_back(size_of("--sizes", texts.sizes.substr(start, comma - start)));
    start = comma + 1;
  }
}

void check_bcast(BcastArguments& to, const Texts& texts) {
  if (!texts.message.empty()) to.message = size_of("--message", texts.message);
  check_running(to.broadcast, to.broadcast.timeout, to.slice, texts);
  if (to.in.empty() != to.out.empty()) throw InputError("--in and --out go together");
  if (!to.in.empty() && !texts.message.empty()) {
    throw InputError("--message is a test message; with --in the file is the message");
  }
  if (to.resume && (to.in.empty() || to.repeat > 1)) {
    throw InputError("--resume is for one run with --in");
  }
  if (!to.in.empty() && to.compare) throw InputError("--compare-mpi-bcast needs a --message");
  if (!to.in.empty() && to.broadcast.ports != 0) {
    throw InputError("--ports is for a --message, which is in memory as a whole");
  }
  if (to.trace == "-") throw InputError("--trace is a file; standard output has the figures");
  if (to.out == "-" || std::find(to.in.begin(), to.in.end(), "-") != to.in.end()) {
    throw InputError("--in and --out are files; standard input and output are not");
  }
}

// The place of a name in its table.
std::size_t place_of(const std::string& option, std::string_view kind, const std::string& name,
                     std::span<const std::string_view> table) {
  const auto found = std::find(table.begin(), table.end(), name);
  if (found == table.end()) throw InputError(option + ": " + unknown_name(kind, name, table));
  return static_cast<std::size_t>(found - table.begin());
}

void check_reduce(ReduceArguments& to, const Texts& texts) {
  if (!texts.message.empty()) to.message = size_of("--message", texts.message);
  check_running(to.reduction, to.timeout, to.slice, texts);
  to.elements.type =
      static_cast<ElementType>(place_of("--type", "type", texts.type, kElementTypes));
  to.elements.op = static_cast<ElementOp>(place_of("--op", "operation", texts.op, kElementOps));
  const std::string fault =
      runtime::operation_fault(mpi_type(to.elements.type), mpi_op(to.elements.op));
  if (!fault.empty()) throw InputError("--op: " + fault);
  const std::size_t element = bytes_of(to.elements.type);
  if (to.message.value % element != 0) {
    throw InputError(fmt::format("--message: {} bytes are no multiple of a {}'s {}",
                                 to.message.value, texts.type, element));
  }
}

// CLI11's texts may have several lines.
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
      "  mpirun -np 8 espalier-mpi bench plan.json",
      "espalier-mpi");
  app.set_version_flag("--version", "espalier-mpi " ESPALIER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 a fault of espalier-mpi's own, 2 wrong usage or input, 4 a "
      "timeout, 5 data that differ.");
  BcastArguments bcast;
  Texts bcast_texts;
  CLI::App* const bcast_command = add_bcast(app, bcast, bcast_texts);
  ReduceArguments reduce;
  Texts reduce_texts;
  CLI::App* const reduce_command = add_reduce(app, "reduce", reduce, reduce_texts);
  CLI::App* const allreduce_command = add_reduce(app, "allreduce", reduce, reduce_texts);
  BenchArguments bench;
  Texts bench_texts;
  CLI::App* const bench_command = add_bench(app, bench, bench_texts);
  ProbeArguments probe;
  CLI::App* const probe_command = add_probe(app, probe);
  const std::array commands = {bcast_command, reduce_command, allreduce_command, bench_command,
                               probe_command};
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
    check_bench(bench, bench_texts);
    return {.bench = bench};
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
