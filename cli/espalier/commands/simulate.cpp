// espalier simulate: the time that a plan takes for given messages, latencies included; or hosts
// that pull.
#include "simulate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/common/chrome_trace.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/plan_choice.hpp"
#include "cli/espalier/pull/simulate_unknown.hpp"
#include "cli/espalier/reports/simulation_report.hpp"
#include "cli/espalier/run.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "platforms/core/contention.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

struct SimulateCommand {
  Console console{};
  PlatformOptions reading{};
  std::vector<std::string> plans{};
  std::string platform{};
  std::vector<Bytes> messages{};
  simulate::Options how{};
  Seconds overhead{};
  std::optional<std::uint64_t> receives{};
  std::string trace{};
  UnknownOptions unknown{};
  std::optional<Seconds> time_limit{};
  bool nodes = false;
  bool json = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;

 private:
  void check() const;
  void check_plans() const;
  [[nodiscard]] ExitStatus run_unknown() const;
  [[nodiscard]] SimulatedPlan simulated(const std::string& file, const platforms::Platform& read,
                                        const Deadline& deadline, ExitStatus& status) const;
};

// Adds a bar for every send and resource, and for every segment that is combined.
void add_bars(ChromeTrace& trace, const simulate::Send& send, const planner::Plan& plan) {
  using Kind = simulate::Send::Kind;
  std::string name = "tree";
  if (planner::reduces(plan.operation) && plan.has_one_root()) {
    name = send.kind == Kind::kDown ? "broadcast tree" : "reduce tree";
  }
  name += fmt::format(" {} segment {}", send.tree, send.segment);
  std::string from = printable(plan.nodes[send.parent]);
  std::string to = printable(plan.nodes[send.child]);
  if (send.kind == Kind::kUp) std::swap(from, to);
  name += send.kind == Kind::kCombining ? fmt::format(" of {}", to)
                                        : fmt::format(": {} -> {}", from, to);
  const std::string args =
      send.kind == Kind::kCombining
          ? std::string{}
          : fmt::format(R"({{"tree": {}, "segment": {}, "from": {}, "to": {}}})", send.tree,
                        send.segment, Json(from).dump(), Json(to).dump());
  for (const simulate::Holding& held : send.holdings) {
    trace.add(held.resource, name, send.start, {held.seconds}, args);
  }
}

// "1 GiB in 1024 segments of 1 MiB, 7168 sends".
std::string size_of_run(const simulate::Simulator& simulator, Bytes message) {
  return fmt::format("{} in {} of {}, {:.4g} sends", format_size(message),
                     counted(simulator.segments_of(message), "segment"),
                     format_size(simulator.segment()), simulator.sends_of(message));
}

// Throws InputError for a message that would take hours. A followed schedule repeats, so its time
// does not depend on the message, but its trace does.
void require_feasible(const simulate::Simulator& simulator, std::span<const Bytes> messages,
                      const SimulateCommand& options) {
  constexpr double kMostSends = 1e10;  // a quarter of an hour at 10 million a second
  if (options.time_limit) return;
  if (simulator.follows_schedule() && options.trace.empty()) return;
  for (const Bytes message : messages) {
    if (simulator.sends_of(message) <= kMostSends) continue;
    throw InputError({}, "--message",
                     fmt::format("{}: more than {:.0e} without a --time-limit; give a larger "
                                 "--segment",
                                 size_of_run(simulator, message), kMostSends));
  }
}

// Runs one message within what is left of the limit and shows progress. Throws LimitReached. A run
// by schedule without `on_send` is fast.
SimulationRow run_timed(const simulate::Simulator& simulator, Bytes message,
                        const simulate::OnSend& on_send, const Console& console,
                        const Deadline& deadline) {
  ProgressLine line(console, format_size(message));
  const Deadline left = line.follow(Deadline(deadline.left()));
  constexpr std::uint64_t kSendsBetweenChecks = 1U << 16U;
  const std::uint64_t every = on_send ? 1 : kSendsBetweenChecks;
  std::uint64_t sends = 0;
  const auto observe = [&](const simulate::Send& send) {
    if (on_send) on_send(send);
    sends += every;
    if (sends % kSendsBetweenChecks != 0) return;
    if (left.passed()) {
      throw LimitReached(
          fmt::format("{}: {} after {:.1f} million sends, at simulated time {}{}",
                      size_of_run(simulator, message),
                      interrupted() ? "interrupted" : "the time limit ended the simulation",
                      static_cast<double>(sends) * 1e-6, format_duration(send.start),
                      interrupted() ? "" : "; give a larger --segment or --time-limit"));
    }
    line.show(left.elapsed(),
              fmt::format("{:.1f} million sends started, simulated time {}",
                          static_cast<double>(sends) * 1e-6, format_duration(send.start)));
  };
  const bool is_observed = on_send || !simulator.follows_schedule();
  SimulationRow row{message, simulator.run(message, is_observed ? simulate::OnSend(observe, every)
                                                                : simulate::OnSend())};
  row.seconds = left.elapsed().value;
  return row;
}

// Runs one message and writes its trace to the file of --trace.
SimulationRow run_traced(const simulate::Simulator& simulator, Bytes message,
                         const planner::Plan& plan, const std::vector<std::string>& resources,
                         const SimulateCommand& options, const Deadline& deadline) {
  ChromeTrace trace(resources);
  SimulationRow row = run_timed(
      simulator, message, [&](const simulate::Send& send) { add_bars(trace, send, plan); },
      options.console, deadline);
  write_text(options.trace, trace.text());
  return row;
}

// Only where data is combined do hosts take time for it; receive windows matter there, and where
// hosts forward parts in few buffers.
void require_fitting(const SimulateCommand& options, const planner::Plan& plan) {
  const bool combines = planner::combines(plan.operation);
  if (options.receives && !combines && !planner::routes(plan.operation)) {
    throw InputError({}, "--receives",
                     fmt::format("is for operations that combine or route data; the plan is for {}",
                                 planner::with_article(plan.operation)));
  }
  if (options.how.compute && !combines) {
    throw InputError({}, "--compute",
                     fmt::format("is for operations that combine data; the plan is for {}",
                                 planner::with_article(plan.operation)));
  }
  if (options.how.compute && options.how.follow_schedule && !options.how.rounds && plan.schedule) {
    throw InputError({}, "--compute",
                     "the plan's schedule leaves no time for combining; give --no-schedule");
  }
}

void SimulateCommand::check_plans() const {
  unknown.refuse_alone();
  if (plans.empty()) throw InputError("simulate: plan is required");
  for (const std::string& plan : plans) require_one_stdin("simulate", plan, platform);
  if (plans.size() > 1) {
    if (std::ranges::count(plans, "-") > 1) {
      throw InputError({}, "plan", "standard input holds one plan; name the files of others");
    }
    refuse_given({{"--trace", !trace.empty()}, {"--nodes", nodes}}, "is of a single plan");
  }
}

void SimulateCommand::check() const {
  if (unknown.is_given) {
    refuse_given({{"plan", !plans.empty()},
                  {"--window", how.window.has_value()},
                  {"--receives", receives.has_value()},
                  {"--compute", how.compute.has_value()},
                  {"--rounds", how.rounds},
                  {"--no-schedule", !how.follow_schedule},
                  {"--until-received", how.until_received},
                  {"--sharing", how.sharing != simulate::Sharing::kTurns}},
                 "is of plans; a simulation with --unknown has none");
    unknown.check();
  } else {
    check_plans();
  }
  if (trace.empty()) return;
  if (messages.size() > 1)
    throw InputError({}, "--trace", "shows a single message; give one --message SIZE");
  require_writable(trace);
}

// status: changed if the deadline ended it.
SimulatedPlan SimulateCommand::simulated(const std::string& file, const platforms::Platform& whole,
                                         const Deadline& deadline, ExitStatus& status) const {
  const planner::Plan read =
      planner::parse_plan(read_text(file), display_name(file), planner::Roots::kAny);
  require_fitting(*this, read);
  const platforms::Platform network =
      simulate::with_overhead(planner::platform_of(read, whole), overhead);
  simulate::Options options = how;
  options.receives = receives.value_or(options.receives);
  // Errors name the place in the plan.
  const simulate::Simulator simulator =
      at_place(display_name(file), "", [&] { return simulate::Simulator(read, network, options); });
  const std::vector<std::string> resources = simulate::resource_names(simulator, read, network);
  require_feasible(simulator, messages, *this);

  std::vector<SimulationRow> rows;
  each_until_limit(messages, status, [&](Bytes message) {
    rows.push_back(trace.empty()
                       ? run_timed(simulator, message, {}, console, deadline)
                       : run_traced(simulator, message, read, resources, *this, deadline));
    const simulate::Simulation& simulation = rows.back().simulation;
    console.detail(fmt::format("{}: {} segments, {} sends, {:.3f} s", format_size(message),
                               simulation.segments, simulation.sends, rows.back().seconds));
  });
  Report report = simulation_report(rows, read, simulator, options, resources);
  if (nodes) report.say(simulation_nodes_table(rows, read));
  return {display_name(file), read.algorithm, read.optimum, std::move(rows), std::move(report)};
}

ExitStatus SimulateCommand::run_unknown() const {
  const platforms::Platform network =
      simulate::with_overhead(reading.read(platform, console), overhead);
  return simulate_unknown(
      unknown, {console, network, messages, how.segment, time_limit, trace, nodes, json});
}

ExitStatus SimulateCommand::run() const {
  check();
  if (unknown.is_given) return run_unknown();
  const platforms::Platform network = reading.read(platform, console);
  const Deadline deadline(time_limit);
  ExitStatus status = ExitStatus::kDone;
  std::vector<SimulatedPlan> done;
  for (const std::string& plan : plans) {
    if (status != ExitStatus::kDone) break;
    done.push_back(simulated(plan, network, deadline, status));
  }
  Report report = plans.size() == 1 ? std::move(done.front().report) : simulations_report(done);
  write_text("-", report.render(json));
  return status;
}

void SimulateCommand::add_to(Arguments& app) {
  app.add("plan", plans, "Plan files; several are compared in one table; '-' is standard input",
          {.type = "PLAN"});
  app.add("--platform", platform, "The platform that the plan runs on",
          {.type = "PLATFORM", .required = true});
  app.add("--message", messages, "Size of the message; repeatable, or separated by commas",
          {.required = true});
  app.add("--segment,--slice", how.segment, read_nonempty_size,
          "Segment size; default: the plan's, or with --unknown the executor's choice");
  app.add("--overhead", overhead, read_span,
          "Overhead per segment on links without one; default: none", {.shown = ""});
  app.add(
      "--window", how.window,
      fmt::format("Maximum sends outstanding, per child of a tree, and per tree towards the root; "
                  "default: {}, for a broadcast {}",
                  simulate::window_for(planner::Operation::kReduce),
                  simulate::window_for(planner::Operation::kBroadcast)),
      {.range = Range{1, simulate::kMostWindow, "sends"}});
  app.add("--receives", receives,
          "Where data is combined or routed: segments of a neighbor that a host can buffer",
          {.type = "N",
           .shown = shown(how.receives),
           .range = Range{1, simulate::kMostWindow, "segments"}});
  app.add("--compute", how.compute, read_positive_rate,
          "Where data is combined: how fast a host does it, \"4 GB/s\"; default: instantly");
  app.add(
      "--rounds", how.rounds,
      "Keep synchronised rounds, as two-tree-sanders colors its edges for; replaces a schedule");
  app.add("!--no-schedule", how.follow_schedule,
          "Ignore the plan's schedule; send as soon as possible");
  app.add(
      "--until-received", how.until_received,
      "A send ends when the segment has arrived, so that its latency counts against the window");
  app.add("--sharing", how.sharing, simulate::parse_sharing,
          "How concurrent sends use a resource: in \"turns\" (default), or with a fair share for "
          "each of "
          "the \"edges\" of a tree or of the \"sends\" in progress",
          {.type = "RULE"});
  unknown.add_to(app);
  app.add("--nodes", nodes, "Also print when each node is done");
  app.add("--trace", trace,
          "Write the activity of each resource, for chrome://tracing or ui.perfetto.dev",
          {.type = "FILE"});
  add_time_limit(app, time_limit,
                 "Stop after this time, e.g. 10s; default: refuse what would take hours");
  app.add("--json", json, "JSON instead of a table, with all nodes and resources");
  reading.add_to(app);
  add_console_options(app, console);
  app.add_footer(
      "Follows the plan's periodic schedule if it has one; otherwise every host sends each "
      "segment\n"
      "as soon as possible, as the executor does. The platform may have other bandwidths than the\n"
      "one that the plan was made for, but must have its hosts and links. See docs/model.md,\n"
      "\"Simulation\".\n"
      "With --unknown there is no plan: hosts ask each other for segments, as in espalier-mpi\n"
      "bcast and allgather without a plan, and share links fairly. \"best possible\" is the time\n"
      "that the proven optimum of all plans needs.");
}

}  // namespace

void add_simulate(Arguments root) {
  root.add_command<SimulateCommand>("simulate",
                                    "The time that a plan takes for a message, with latencies");
}

}  // namespace espalier::cli
