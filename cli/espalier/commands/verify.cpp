// espalier verify: checks a plan against its platform; recomputes every figure.
#include "planner/check/verify.hpp"

#include <fmt/format.h>

#include <string>

#include "cli/common/table.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/money.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/run.hpp"
#include "planner/plan/plan.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

namespace espalier::cli {

namespace {

struct VerifyCommand {
  Console console{};
  PlatformOptions reading{};
  planner::VerifyOptions checks{};
  std::string plan{};
  std::string platform{};
  bool json = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;
};

// Text leaves out the figures that the faults made impossible to recompute.
Report report_of(const planner::VerifyReport& found, const planner::Plan& plan) {
  const bool has_figures = !found.busiest_resource.empty();
  const auto named = [](bool is_shown, const char* name) { return is_shown ? name : ""; };
  Report report = report_on(plan);
  report.write("valid", found.faults.empty());
  report.add("faults", "faults", Cell(std::to_string(found.faults.size()), found.faults));
  report.add(named(has_figures, "throughput"), "throughput_Bps", found.throughput);
  if (has_figures && found.scheduled) {
    report.add("scheduled", "", *found.scheduled);
  }
  if (has_figures) {
    report_bound(report, found.bound, found.proof, "not computed");
  } else {
    report.write("bound_Bps", found.bound ? Json(found.bound->value) : Json());
    report.write("bound_final", found.bound && found.proof.is_bound_final());
  }
  if (has_figures && found.bound && found.bound->value > 0) {
    report.add("relative", "", decimal(found.throughput.value / found.bound->value));
  }
  report.add(named(has_figures, "busiest"), "busiest_resource",
             Cell(fmt::format("{}: {}", found.busiest_resource, percent(found.busiest_load)),
                  found.busiest_resource));
  report.write("busiest_load", found.busiest_load);
  if (found.hosts_left_out > 0) {
    const std::size_t all = plan.nodes.size() + found.hosts_left_out;
    report.add("hosts", "hosts_left_out",
               Cell(fmt::format("{} of {}", plan.nodes.size(), all), found.hosts_left_out));
  }
  report_cost(report, found.cost);
  report.add(named(found.trees > 0, "trees"), "trees", found.trees);
  report.add(named(found.trees > 0, "depth"), "depth", found.depth);
  report.add(named(found.trees > 0, "degree"), "out_degree", found.out_degree);
  if (found.scheduled) report.write("scheduled_Bps", found.scheduled->value);
  return report;
}

planner::VerifyReport checked(planner::VerifyOptions checks, const Console& console,
                              const planner::Plan& plan, const platforms::Platform& platform) {
  ProgressLine line(console, "verify");
  line.follow(checks.limits);
  return planner::verify(plan, platform, checks);
}

ExitStatus VerifyCommand::run() const {
  require_one_stdin("verify", plan, platform);
  const std::string file = display_name(plan);
  const planner::Plan read = planner::parse_plan(read_text(plan), file, planner::Roots::kAny);
  const planner::VerifyReport report =
      checked(checks, console, read, reading.read(platform, console));
  write_text("-", report_of(report, read).render(json));
  if (print_faults(report, file)) return ExitStatus::kCheckFailed;
  if (report.proof.worst() != planner::Termination::kTimeLimit) return ExitStatus::kDone;
  Run proof;
  proof.outcome.bound = report.bound;
  proof.outcome.ends = report.proof;
  proof.throughput = report.throughput;
  return judge(proof, "verify", console);
}

void VerifyCommand::add_to(Arguments& app) {
  add_file(app, "plan", plan);
  app.add("--platform", platform, "The plan's platform", {.type = "PLATFORM", .required = true});
  add_limits(app, checks.limits);
  app.add("!--no-proof", checks.prove, "Do not prove the optimum again");
  app.add("--json", json, "JSON instead of a table");
  reading.add_to(app);
  add_console_options(app, console);
  app.add_footer(
      "Each fault is one line on stderr that names the place in the plan. Exit status 0: the plan\n"
      "is valid; 5: it is not; 4: it is valid, but the time limit was reached before the optimum "
      "was\n"
      "proven; 2: not a plan file, or the platform cannot be read.");
}

}  // namespace

void add_verify(Arguments root) {
  root.add_command<VerifyCommand>("verify",
                                  "Check a plan against its platform; recompute every figure");
}

}  // namespace espalier::cli
