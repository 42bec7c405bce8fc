#include "cli/espalier_mpi_options.hpp"

#include <fmt/format.h>

// smpicxx makes it a macro, but CLI11 has a member of that name.
#undef exit
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {
namespace {

constexpr std::array<std::string_view, 2> kCommands = {"bcast", "probe"};
constexpr std::array<std::string_view, 2> kMappings = {"order", "host"};
constexpr std::size_t kMostRepeats = 1'000'000;
constexpr std::size_t kLargestWindow = 10'000;

// What CLI11 stores before it is checked.
struct Texts {
  std::string message;
  std::string slice;
  std::string map = "order";
};

Bytes size_of(const std::string& option, const std::string& text) {
  try {
    return parse_size(text);
  } catch (const InputError& error) {
    throw InputError(option + ": " + error.what());
  }
}

CLI::App* add_bcast(CLI::App& app, BcastArguments& to, Texts& texts) {
  CLI::App* bcast = app.add_subcommand("bcast", "run a broadcast plan on the ranks of this mpirun");
  bcast->add_option("PLAN", to.plan, "plan file, read by rank 0 only; - is standard input")
      ->required();
  bcast->add_option("--message", texts.message, "size of a test message (default 64MiB)");
  bcast->add_option("--in", to.in, "file to broadcast, on the plan's source");
  bcast->add_option(
      "--out", to.out,
      "where each rank writes it; {rank} and {host} are filled in. The source writes it "
      "too, unless it is the --in file");
  bcast->add_flag("--verify", to.verify,
                  "check every received byte; with --in, what was written, read back");
  bcast->add_option("--repeat", to.repeat, "how often")
      ->check(CLI::Range(std::size_t{1}, kMostRepeats));
  bcast->add_flag("--json", to.json, "figures as JSON on standard output");
  bcast->add_option("--map", texts.map,
                    "which rank is which node: order (rank i is node i), or host (by host name)");
  bcast->add_option("--window", to.broadcast.sends_in_flight, "outstanding sends per child")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow))
      ->capture_default_str();
  bcast->add_option("--receives", to.broadcast.receives_in_flight, "receives posted ahead per tree")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow))
      ->capture_default_str();
  bcast
      ->add_option("--ports", to.broadcast.ports,
                   "sends of a rank that are under way at once; 1 is one-port to the letter "
                   "(default: any number)")
      ->check(CLI::Range(std::size_t{1}, kLargestWindow));
  bcast->add_flag("--rounds", to.broadcast.rounds,
                  "synchronised rounds by the plan's colors (two-tree-sanders makes such plans)");
  bcast->add_option("--slice", texts.slice,
                    "slice size; otherwise what suits plan and message, the plan's at most");
  bcast->add_flag("--compare-mpi-bcast", to.compare,
                  "time MPI_Bcast of the same message in turns, and give the ratio");
  bcast->add_flag("--quiet", to.quiet, "no progress");
  return bcast;
}

void check_bcast(BcastArguments& to, const Texts& texts) {
  if (!texts.message.empty()) to.message = size_of("--message", texts.message);
  if (!texts.slice.empty()) {
    to.slice = size_of("--slice", texts.slice);
    if (to.slice->value == 0) throw InputError("--slice: a slice has at least one byte");
  }
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
  if (std::find(kMappings.begin(), kMappings.end(), texts.map) == kMappings.end()) {
    throw InputError("--map: " + unknown_name("mapping", texts.map, kMappings));
  }
  if (texts.map == "host") to.broadcast.mapping = runtime::RankMapping::kByHostName;
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
      "  mpirun -np 8 espalier-mpi bcast plan.json --message 256MiB --verify",
      "espalier-mpi");
  app.set_version_flag("--version", "espalier-mpi " ESPALIER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 1 a fault of espalier-mpi's own, 2 wrong usage or input, 5 data "
      "that differ.");
  BcastArguments bcast;
  Texts texts;
  CLI::App* const bcast_command = add_bcast(app, bcast, texts);
  ProbeArguments probe;
  CLI::App* const probe_command = add_probe(app, probe);
  if (argc == 1) throw InputError("a command is required; see espalier-mpi --help");
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(kCommands.begin(), kCommands.end(), argv[1]) == kCommands.end()) {
    throw InputError(unknown_name("command", argv[1], kCommands));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (CLI::App* command : {bcast_command, probe_command}) {
      if (command->parsed()) return {{}, {}, command->help("espalier-mpi")};
    }
    return {{}, {}, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return {{}, {}, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw InputError(first_line(error.what()) + "; see espalier-mpi " +
                     (probe_command->parsed() ? "probe" : "bcast") + " --help");
  }
  if (probe_command->parsed()) {
    check_probe(probe);
    return {{}, probe, {}};
  }
  check_bcast(bcast, texts);
  return {bcast, {}, {}};
}

}  // namespace espalier::cli
