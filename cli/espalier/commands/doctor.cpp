// espalier doctor: what goes wrong for people on this machine, or with a platform or a plan.
#include <unistd.h>

#include <array>
#include <string>

#include "cli/doctor/gather.hpp"
#include "cli/doctor/report.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/input_kind.hpp"
#include "cli/espalier/options.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/check/verify.hpp"
#include "planner/plan/plan.hpp"
#include "platforms/core/warnings.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

struct DoctorCommand {
  Console console{};
  PlatformOptions reading{};
  std::string file{};  // a platform or a plan; empty: only the machine
  std::string platform{};
  bool list = false;
  bool json = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;

 private:
  void look_at_file(doctor::Facts& facts) const;
};

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this machine";
}

void DoctorCommand::look_at_file(doctor::Facts& facts) const {
  const std::string text = file == "-" ? "" : read_text(file);
  if (recognised(text, display_name(file)).kind != InputKind::kPlan) {
    if (!platform.empty()) {
      throw InputError({}, "--platform", "is for a plan; leave it out for a platform");
    }
    facts.platform_warnings = platforms::warnings(reading.read(file, console));
    return;
  }
  const planner::Plan plan = planner::parse_plan(text, display_name(file), planner::Roots::kAny);
  facts.plan = doctor::PlanFacts{.file = file, .nodes = plan.nodes, .platform = platform};
  if (platform.empty()) return;
  const platforms::Platform whole = reading.read(platform, console);
  facts.platform_warnings = platforms::warnings(whole);
  try {
    planner::VerifyOptions how;
    how.limits.deadline = Deadline(Seconds{10});
    facts.plan->faults = planner::verify(plan, planner::platform_of(plan, whole), how).faults;
  } catch (const InputError& fault) {  // a host that is gone
    facts.plan->faults = {fault.what()};
  }
}

ExitStatus DoctorCommand::run() const {
  if (list) {
    write_text("-", doctor::list_of_checks().render(json));
    return ExitStatus::kDone;
  }
  doctor::Facts facts;
  facts.ranks.push_back(doctor::gather_rank(machine_name()));
  facts.launchers = doctor::gather_launchers();
  if (!file.empty()) look_at_file(facts);
  const std::vector<doctor::Found> found = doctor::findings(facts);
  write_text("-", doctor::report_of(facts, found).render(json));
  return doctor::status_of(found);
}

void DoctorCommand::add_to(Arguments& app) {
  app.add("file", file, "A platform, or a plan, to look at as well; default: only this machine",
          {.type = "PLATFORM|PLAN"});
  app.add("--platform", platform, "With a plan: the network as it is now", {.type = "PLATFORM"});
  app.add("--list", list, "Say what is checked, and check nothing");
  app.add("--json", json, "JSON instead of text");
  reading.add_to(app);
  add_console_options(app, console);
  app.add_footer(
      "What concerns ranks is found where they run: mpirun ... espalier-mpi doctor PLAN.\n"
      "Exit status: 0 nothing found; 5 something was found.");
}

}  // namespace

void add_doctor(Arguments root) {
  root.add_command<DoctorCommand>("doctor",
                                  "Find what goes wrong on this machine, and say what cures it");
}

}  // namespace espalier::cli
