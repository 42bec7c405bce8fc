// espalier verify: checks a plan against its platform; recomputes every figure.
#include "planner/check/verify.hpp"

#include <fmt/format.h>

#include <string>

#include "cli/common/table.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
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

// Figures that the faults made impossible to recompute are left out.
std::string as_table(const planner::VerifyReport& report) {
  Table table({{"faults", Table::Align::kLeft},
               {std::to_string(report.faults.size()), Table::Align::kLeft}});
  if (!report.busiest_resource.empty()) {
    table.add_row({"throughput", format_rate(report.throughput)});
    if (report.scheduled) table.add_row({"scheduled", format_rate(*report.scheduled)});
    table.add_row({std::string(bound_title(report.proof)),
                   report.bound ? format_rate(*report.bound) : "not computed"});
    if (report.bound && report.bound->value > 0) {
      table.add_row({"relative", fixed(report.throughput.value / report.bound->value, 4)});
    }
    table.add_row(
        {"busiest", fmt::format("{}: {}", report.busiest_resource, percent(report.busiest_load))});
  }
  if (report.trees > 0) {
    table.add_row({"trees", std::to_string(report.trees)});
    table.add_row({"depth", std::to_string(report.depth)});
    table.add_row({"degree", std::to_string(report.out_degree)});
  }
  return table.text();
}

Json as_json(const planner::VerifyReport& report, const planner::Plan& plan) {
  Json json{{"operation", planner::name_of(plan.operation)},
            {"platform", plan.platform},
            {"source", plan.source},
            {"model", plan.model},
            {"algorithm", plan.algorithm},
            {"valid", report.faults.empty()},
            {"faults", report.faults},
            {"throughput_Bps", report.throughput.value},
            {"bound_Bps", report.bound ? Json(report.bound->value) : Json()},
            {"bound_final", report.bound && report.proof.is_bound_final()},
            {"busiest_resource", report.busiest_resource},
            {"busiest_load", report.busiest_load},
            {"trees", report.trees},
            {"depth", report.depth},
            {"out_degree", report.out_degree}};
  if (report.scheduled) json["scheduled_Bps"] = report.scheduled->value;
  return json;
}

planner::VerifyReport checked(planner::VerifyOptions checks, const Console& console,
                              const planner::Plan& plan, const platforms::Platform& platform) {
  ProgressLine line(console, "verify");
  ProgressClock clock(line);
  checks.limits.deadline = clock.deadline(checks.limits.deadline.limit());
  checks.limits.on_progress = [&](const planner::Progress& progress) { line.show(progress); };
  return planner::verify(plan, platform, checks);
}

ExitStatus VerifyCommand::run() const {
  require_one_stdin("verify", plan, platform);
  const std::string file = display_name(plan);
  const planner::Plan read = planner::parse_plan(read_text(plan), file);
  const planner::VerifyReport report =
      checked(checks, console, read, reading.read(platform, console));
  write_text("-", json ? json_text(as_json(report, read)) : as_table(report));
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
