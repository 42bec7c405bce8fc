// espalier export: a plan in the format of another program, a simulator or a library.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/common/readers.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/library_rules.hpp"
#include "cli/espalier/options.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/plan/plan.hpp"
#include "platforms/formats/formats.hpp"
#include "simulate/export/chakra.hpp"
#include "simulate/export/exported_file.hpp"
#include "simulate/export/goal.hpp"
#include "simulate/export/mscclpp.hpp"
#include "simulate/export/simgrid_traces.hpp"
#include "simulate/export/transfers.hpp"
#include "support/choice.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

struct ExportCommand {
  Console console{};
  PlatformOptions reading{};
  std::string plan{};
  std::string to{};
  std::string output = "-";
  std::string platform{};
  std::optional<Bytes> message{};
  std::optional<Bytes> segment{};
  std::optional<BytesPerSecond> compute{};

  void add_to(Arguments& app);
  void check() const;
  [[nodiscard]] ExitStatus run() const;
};

constexpr Bytes kUsualMessage{1U << 20U};

// What there is to write.
struct Exported {
  const planner::Plan& plan;
  const std::optional<platforms::Platform>& platform;
  const ExportCommand& command;

  [[nodiscard]] simulate::Transfers transfers() const {
    return simulate::transfers_of(plan, command.message.value_or(kUsualMessage), segment());
  }
  [[nodiscard]] Bytes segment() const { return command.segment.value_or(plan.segment); }
};

using Files = std::vector<simulate::ExportedFile>;

Files goal_file(const Exported& of) {
  simulate::GoalOptions options{{}, of.command.compute};
  if (of.platform) {
    options.loggp = simulate::loggp_of(of.plan, *of.platform);
    if (!options.loggp) {
      of.command.console.note(
          "the plan's edges differ, but LogGOPSim has the same L, o, g and G for all ranks; the "
          "schedule names none");
    }
  }
  return {{"", goal_schedule(of.plan, of.transfers(), options)}};
}

Files chakra_folder(const Exported& of) {
  return chakra_traces(of.plan, of.transfers());
}

Files mscclpp_file(const Exported& of) {
  return {{"", mscclpp_plan(of.plan, of.transfers())}};
}

Files mpich_file(const Exported& of) {
  return {{"", mpich_settings_of(of.plan, of.segment())}};
}

Files open_mpi_file(const Exported& of) {
  return {{"", open_mpi_rules_of(of.plan, of.command.message.value_or(Bytes{0}), of.segment())}};
}

Files simgrid_folder(const Exported& of) {
  Files files = simgrid_traces(of.plan, of.transfers());
  files.push_back({"platform.xml", platforms::write_platform(*of.platform, "simgrid")});
  return files;
}

struct Target {
  std::string_view name;
  std::string_view summary;
  bool is_folder;
  bool takes_compute;
  bool needs_platform;
  Files (*files)(const Exported& of);
};
constexpr std::array kTargets{
    Target{"chakra", "Chakra execution traces, for ASTRA-sim", true, false, false, chakra_folder},
    Target{"goal", "GOAL schedule for LogGOPSim", false, true, false, goal_file},
    Target{"mpich", "control variables for MPICH: the library's algorithm of the same trees", false,
           false, false, mpich_file},
    Target{"msccl++", "MSCCL++ execution plan (JSON)", false, false, false, mscclpp_file},
    Target{"ompi", "rules for Open MPI's coll_tuned: the library's algorithm of the same trees",
           false, false, false, open_mpi_file},
    Target{"simgrid", "SimGrid platform and traces for smpirun -replay", true, false, true,
           simgrid_folder},
};

std::string summaries() {
  std::string text;
  for (const Target& target : kTargets) {
    text += fmt::format("  {:8} {}{}\n", target.name, target.summary,
                        target.is_folder ? "; a folder" : "");
  }
  return text;
}

void require_folder(const std::string& folder) {
  if (folder == "-") {
    throw InputError({}, "--output", "this format has several files; name a folder");
  }
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) throw InputError(folder, {}, fault.message());
  if (!std::filesystem::is_directory(folder)) throw InputError(folder, {}, "is not a folder");
}

void ExportCommand::check() const {
  const Target& target = choice_named("format", kTargets, to);
  if (compute && !target.takes_compute) {
    throw InputError({}, "--compute", fmt::format("{} has no times of additions", to));
  }
  if (target.needs_platform && platform.empty()) {
    throw InputError({}, "--to", fmt::format("{} contains the platform; add --platform", to));
  }
}

ExitStatus ExportCommand::run() const {
  require_one_stdin("export", plan, platform);
  const Target& target = choice_named("format", kTargets, to);
  const std::string file = display_name(plan);
  const planner::Plan read = planner::parse_plan(read_text(plan), file, planner::Roots::kAny);
  planner::check_structure(read, file);
  std::optional<platforms::Platform> network;
  if (!platform.empty()) {
    network = planner::platform_of(read, reading.read(platform, console));
    const std::vector<InputError> faults = planner::misfits(read, *network);
    if (!faults.empty()) throw InputError(file, {}, faults.front().what());
  }
  const Files files = at_place(file, std::string(), [&] {
    return target.files({read, network, *this});
  });
  if (target.is_folder) require_folder(output);
  for (const simulate::ExportedFile& one : files) {
    write_text(one.name.empty() ? output : (std::filesystem::path(output) / one.name).string(),
               one.text);
  }
  return ExitStatus::kDone;
}

void ExportCommand::add_to(Arguments& app) {
  static const std::vector<std::string_view> names = names_of(kTargets);
  add_file(app, "plan", plan);
  app.add("--to", to, among("format", names), "The format, " + one_of(names),
          {.type = "FORMAT", .required = true});
  app.add("-o,--output", output, "Write to this file or folder; '-' is standard output",
          {.type = "FILE"});
  app.add("--message", message,
          "Size of the message; default: 1MiB. For ompi: the least size; default: 0",
          {.shown = ""});
  app.add("--segment,--slice", segment, read_nonempty_size, "Segment size; default: the plan's");
  app.add("--platform", platform, "The plan's platform, where the format has its links",
          {.type = "PLATFORM"});
  app.add("--compute", compute, read_positive_rate,
          "Where data is combined: how fast a host does it, \"4 GB/s\"; default: instantly");
  reading.add_to(app);
  add_console_options(app, console);
  app.add_footer("Formats:\n" + summaries() + "See docs/cli.md, \"export\".");
}

}  // namespace

void add_export(Arguments root) {
  root.add_command<ExportCommand>("export", "A plan in the format of another program");
}

}  // namespace espalier::cli
