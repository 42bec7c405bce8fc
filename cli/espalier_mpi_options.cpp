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

constexpr std::array<std::string_view, 3> kCommands = {"bcast", "reduce", "allreduce"};
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
};

Bytes size_of(const std::string& option, const std::string& text) {
  try {
    return parse_size(text);
  } catch (const InputError& error) {
    throw InputError(option + ": " + error.what());
  }
}

// Options is BroadcastOptions or ReductionOptions.
template <class Options>
void add_common(CLI::App* command, RunArguments& to, Options& options, Texts& texts) {
  command->add_option("PLAN", to.plan, "plan file, read by rank 0 only; - is standard input")
      ->required();
  command->add_option("--message", texts.message, "size of a test message (default 64MiB)");
  command->add_option("--repeat", to.repeat, "how often")
      ->check(CLI::Range(std::size_t{1}, kMostRepeats));
  command->add_flag("--json", to.json, "figures as JSON on standard output");
  command->add_option("--map", texts.map,
                      "which rank is which node: order (rank i is node i), or host (by host name)");
  command->add_option("--window", options.sends_in_flight, "outstanding sends per child")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow))
      ->capture_default_str();
  command->add_option("--receives", options.receives_in_flight, "receives posted ahead per tree")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow))
      ->capture_default_str();
  command
      ->add_option("--ports", options.ports,
                   "sends of a rank that are under way at once; 1 is one-port to the letter "
                   "(default: any number)")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow));
  command->add_option("--slice", texts.slice,
                      "slice size; otherwise what suits plan and message, the plan's at most");
  command->add_flag("--quiet", to.quiet, "no progress");
}

CLI::App* add_bcast(CLI::App& app, BcastArguments& to, Texts& texts) {
  CLI::App* bcast = app.add_subcommand("bcast", "run a broadcast plan on the ranks of this mpirun");
  add_common(bcast, to, to.broadcast, texts);
  bcast->add_option("--in", to.in, "file to broadcast, on the plan's source");
  bcast->add_option(
      "--out", to.out,
      "where each rank writes it; {rank} and {host} are filled in. The source writes it "
      "too, unless it is the --in file");
  bcast->add_flag("--verify", to.verify,
                  "check every received byte; with --in, what was written, read back");
  bcast->add_flag("--rounds", to.broadcast.rounds,
                  "synchronised rounds by the plan's colors (two-tree-sanders makes such plans)");
  bcast->add_flag("--compare-mpi-bcast", to.compare,
                  "time MPI_Bcast of the same message in turns, and give the ratio");
  return bcast;
}

CLI::App* add_reduce(CLI::App& app, const std::string& name, ReduceArguments& to, Texts& texts) {
  const std::string function = name == "reduce" ? "MPI_Reduce" : "MPI_Allreduce";
  CLI::App* reduce =
      app.add_subcommand(name, fmt::format("run {} {} plan on the ranks of this mpirun",
                                           name == "reduce" ? "a" : "an", name));
  add_common(reduce, to, to.reduction, texts);
  reduce->add_option(
      "--type", texts.type,
      fmt::format("of the elements: {} (default double)", fmt::join(kElementTypes, ", ")));
  reduce->add_option("--op", texts.op,
                     fmt::format("operation: {} (default sum)", fmt::join(kElementOps, ", ")));
  reduce->add_flag("--verify", to.verify, "check every element of the result");
  reduce->add_flag(
      "--compare-mpi", to.compare,
      fmt::format("time {} of the same message in turns, and give the ratio", function));
  return reduce;
}

template <class Options>
void check_common(RunArguments& to, Options& options, const Texts& texts) {
  if (!texts.message.empty()) to.message = size_of("--message", texts.message);
  if (!texts.slice.empty()) {
    to.slice = size_of("--slice", texts.slice);
    if (to.slice->value == 0) throw InputError("--slice: a slice has at least one byte");
  }
  if (std::find(kMappings.begin(), kMappings.end(), texts.map) == kMappings.end()) {
    throw InputError("--map: " + unknown_name("mapping", texts.map, kMappings));
  }
  if (texts.map == "host") options.mapping = runtime::RankMapping::kByHostName;
}

void check_bcast(BcastArguments& to, const Texts& texts) {
  check_common(to, to.broadcast, texts);
  if (to.in.empty() != to.out.empty()) throw InputError("--in and --out go together");
  if (!to.in.empty() && !texts.message.empty()) {
    throw InputError("--message is a test message; with --in the file is the message");
  }
  if (!to.in.empty() && to.compare) throw InputError("--compare-mpi-bcast needs a --message");
  if (!to.in.empty() && to.broadcast.ports != 0) {
    throw InputError("--ports is for a --message, which is in memory as a whole");
  }
  if (to.in == "-" || to.out == "-") {
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
  check_common(to, to.reduction, texts);
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
      "  mpirun -np 8 espalier-mpi bcast plan.json --message 256MiB --verify\n"
      "  mpirun -np 8 espalier-mpi allreduce plan.json --type float --op max",
      "espalier-mpi");
  app.set_version_flag("--version", "espalier-mpi " ESPALIER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 a fault of espalier-mpi's own, 2 wrong usage or input, 5 data "
      "that differ.");
  BcastArguments bcast;
  ReduceArguments reduce;
  Texts texts;
  add_bcast(app, bcast, texts);
  add_reduce(app, "reduce", reduce, texts);
  CLI::App* const allreduce = add_reduce(app, "allreduce", reduce, texts);
  if (argc == 1) throw InputError("a command is required; see espalier-mpi --help");
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(kCommands.begin(), kCommands.end(), argv[1]) == kCommands.end()) {
    throw InputError(unknown_name("command", argv[1], kCommands));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (const CLI::App* command : app.get_subcommands()) {
      return {{}, {}, command->help("espalier-mpi")};
    }
    return {{}, {}, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return {{}, {}, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    const auto commands = app.get_subcommands();
    const std::string command = commands.empty() ? "" : commands.front()->get_name() + " ";
    throw InputError(
        fmt::format("{}; see espalier-mpi {}--help", first_line(error.what()), command));
  }
  if (app.got_subcommand("bcast")) {
    check_bcast(bcast, texts);
    return {bcast, {}, {}};
  }
  if (allreduce->parsed()) reduce.operation = planner::Operation::kAllreduce;
  check_reduce(reduce, texts);
  return {{}, reduce, {}};
}

}  // namespace espalier::cli
