#include "cli/espalier/pull/simulate_unknown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "cli/common/chrome_trace.hpp"
#include "cli/common/report.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/simulation_report.hpp"
#include "cli/espalier/run.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/problem/instance.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

constexpr auto kPulled = engine::pull::kPulledOperations;

// The result for one message.
struct PulledRow {
  Bytes message;
  simulate::PullOutcome outcome;
  double seconds = 0;
};

struct PulledProblem {
  const platforms::Platform& network;
  planner::Operation operation;
  std::optional<platforms::NodeId> source;  // of a broadcast
  platforms::Model model;
  std::uint64_t seed;
};

// "64 MiB in 1093 segments of 60 KiB to 5 hosts".
std::string size_of_run(const PulledProblem& problem, const UnknownRun& run, Bytes message) {
  const auto pulled = simulate::pulled_message(run.network, problem.source, message, run.segment);
  return fmt::format("{} in {} of {} to {}", format_size(message),
                     counted(pulled.segments(), "segment"), format_size({pulled.segment_bytes()}),
                     counted(run.network.hosts().size() - 1, "host"));
}

// Throws InputError for a message that would take hours, or much memory: each segment is news from
// each host to each other one.
void require_feasible(const PulledProblem& problem, const UnknownRun& run) {
  constexpr double kMostNews = 1e9;
  const auto hosts = static_cast<double>(run.network.hosts().size());
  for (const Bytes message : run.messages) {
    const auto segments = static_cast<double>(
        simulate::pulled_message(run.network, problem.source, message, run.segment).segments());
    if (hosts * hosts * segments <= kMostNews) continue;
    throw InputError({}, "--message",
                     fmt::format("{}: hosts tell each other of more than {:.0e} segments; give a "
                                 "larger --segment",
                                 size_of_run(problem, run, message), kMostNews));
  }
}

std::string name_of_host(const platforms::Platform& network, std::size_t host) {
  return network.node(network.hosts()[host]).name;
}

void add_bars(ChromeTrace& trace, const simulate::PullTransfer& transfer,
              const platforms::Platform& network) {
  const std::string from = printable(name_of_host(network, transfer.from));
  const std::string to = printable(name_of_host(network, transfer.to));
  const std::string name = fmt::format("segment {}: {} -> {}", transfer.segment, from, to);
  const std::string args = fmt::format(R"({{"segment": {}, "from": {}, "to": {}}})",
                                       transfer.segment, Json(from).dump(), Json(to).dump());
  for (const simulate::Holding& held : transfer.holdings) {
    trace.add(held.resource, name, transfer.start, transfer.duration, args);
  }
}

std::vector<std::string> resource_names(const PulledProblem& problem) {
  std::vector<std::string> names;
  for (const platforms::Resource& resource :
       platforms::occupation(problem.network, problem.model).resources) {
    names.push_back(platforms::describe(resource, problem.network));
  }
  return names;
}

// Runs one message within what is left of the limit and shows progress. Throws LimitReached.
PulledRow run_timed(const PulledProblem& problem, const UnknownRun& run, Bytes message,
                    const Deadline& deadline, ChromeTrace* trace) {
  ProgressLine line(run.console, format_size(message));
  const Deadline left = line.follow(Deadline(deadline.left()));
  constexpr std::uint64_t kTransfersBetweenChecks = 1U << 10U;
  std::uint64_t transfers = 0;
  const auto observe = [&](const simulate::PullTransfer& transfer) {
    if (trace != nullptr) add_bars(*trace, transfer, problem.network);
    if (++transfers % kTransfersBetweenChecks != 0) return;
    if (left.passed()) {
      throw LimitReached(fmt::format(
          "{}: {} after {}, at simulated time {}", size_of_run(problem, run, message), left.cause(),
          counted(transfers, "transfer"), format_duration(transfer.start)));
    }
    line.show(left.elapsed(),
              fmt::format("{:.1f} thousand transfers, simulated time {}",
                          static_cast<double>(transfers) * 1e-3, format_duration(transfer.start)));
  };
  PulledRow row{message, simulate::simulate_pull(problem.network, problem.source, problem.model,
                                                 message, {run.segment, problem.seed}, observe)};
  row.seconds = left.elapsed().value;
  return row;
}

PulledRow run_traced(const PulledProblem& problem, const UnknownRun& run, Bytes message,
                     const Deadline& deadline) {
  if (run.trace.empty()) return run_timed(problem, run, message, deadline, nullptr);
  ChromeTrace trace(resource_names(problem));
  PulledRow row = run_timed(problem, run, message, deadline, &trace);
  write_text(run.trace, trace.text());
  return row;
}

// optimum: proven, of any plan.
Report report_of(const std::vector<PulledRow>& rows, const PulledProblem& problem,
                 const std::optional<BytesPerSecond>& optimum) {
  Report report = report_on(problem.operation, problem.network, problem.source, problem.model);
  report.write("optimum_Bps", *Cell(optimum).json);
  report.write("seed", problem.seed);
  Rows table({{"message", "message_bytes"},
              {"segment", "segment_bytes"},
              written("segments"),
              {"makespan", "makespan_s"},
              {"best possible", "optimum_s"},
              {"relative", "relative"},
              {"achieved", "achieved_Bps"},
              left("last node", "nodes"),
              {"requests", "requests"},
              {"bulletins", "bulletins"},
              written("seconds")});
  const std::vector<std::string> names = platforms::names_of_hosts(problem.network);
  for (const PulledRow& row : rows) {
    const simulate::PullOutcome& outcome = row.outcome;
    const bool empty = outcome.segments == 0;
    const double best_s = optimum ? static_cast<double>(row.message.value) / optimum->value
                                  : std::numeric_limits<double>::quiet_NaN();
    const auto last = std::ranges::max_element(outcome.done) - outcome.done.begin();
    const Cell achieved = outcome.achieved;
    table.add(
        {row.message, outcome.segment, outcome.segments, outcome.makespan, Seconds{best_s},
         decimal(empty ? std::numeric_limits<double>::quiet_NaN()
                       : outcome.makespan.value / best_s),
         empty ? achieved.as("-") : achieved,
         Cell(empty ? "-" : names[static_cast<std::size_t>(last)], done_json(names, outcome.done)),
         outcome.requests, outcome.bulletins, written_only(row.seconds)});
  }
  report.add("rows", table);
  return report;
}

}  // namespace

void UnknownOptions::add_to(Arguments& app) {
  app.add("--unknown", is_given,
          "Without a plan: a broadcast in which the hosts know nothing of the network, and pull");
  app.add(
      "--operation", operation,
      [](std::string_view text) { return kPulled[place_of("operation", text, names_of(kPulled))]; },
      "With --unknown: what the hosts do, " + one_of(names_of(kPulled)),
      {.type = "OPERATION", .shown = std::string(planner::name_of(kPulled.front()))});
  app.add("--source", source, "With --unknown: the host that broadcasts; default: the first",
          {.type = "NAME", .shown = ""});
  app.add("--model", model, platforms::parse_model,
          "With --unknown: contention model, " + one_of(names_of(platforms::models())),
          {.type = "MODEL", .shown = shown(platforms::Model::kOnePort)});
  app.add("--seed", seed, "With --unknown: seed of the hosts' random choices", {.shown = "1"});
}

void UnknownOptions::refuse_alone() const {
  refuse_given({{"--operation", operation.has_value()},
                {"--source", !source.empty()},
                {"--model", model.has_value()},
                {"--seed", seed.has_value()}},
               "is for a simulation without a plan; give --unknown, too");
}

void UnknownOptions::check() const {
  if (operation == planner::Operation::kAllgather) {
    refuse_given({{"--source", !source.empty()}}, "is for a broadcast; each host has a part");
  }
}

ExitStatus simulate_unknown(const UnknownOptions& options, const UnknownRun& run) {
  PulledProblem problem{run.network,
                        options.operation.value_or(planner::Operation::kBroadcast),
                        {},
                        options.model.value_or(platforms::Model::kOnePort),
                        options.seed.value_or(1)};
  if (problem.operation == planner::Operation::kBroadcast) {
    problem.source = options.source.empty() ? sources_of(run.network, {}).front()
                                            : planner::source_named(run.network, options.source);
  }
  require_feasible(problem, run);
  const Deadline deadline(run.time_limit);
  planner::AlgorithmOptions limits;
  limits.deadline = deadline;
  const Run proof =
      planner::on_problem(problem.operation, run.network, problem.source, problem.model, {}, {},
                          [&](const auto& posed) { return run_proof(posed, limits, run.console); });

  ExitStatus status = judge(proof, "bound", run.console);
  std::vector<PulledRow> rows;
  each_until_limit(run.messages, status, [&](Bytes message) {
    rows.push_back(run_traced(problem, run, message, deadline));
  });
  Report report = report_of(rows, problem, proof.outcome.bound);
  if (run.nodes) {
    std::vector<DoneAt> done;
    for (const PulledRow& row : rows) done.push_back({row.message, row.outcome.done});
    report.say(done_table(platforms::names_of_hosts(run.network), done, "has"));
  }
  write_text("-", report.render(run.json));
  return status;
}

}  // namespace espalier::cli
