// espalier-mpi doctor: what goes wrong for these ranks, on their hosts, with a plan.
#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "cli/doctor/gather.hpp"
#include "cli/doctor/report.hpp"
#include "cli/espalier_mpi/commands/file_names.hpp"
#include "cli/espalier_mpi/options/options.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "cli/espalier_mpi/run/clocks.hpp"
#include "cli/espalier_mpi/run/exchange.hpp"
#include "cli/espalier_mpi/run/reachability.hpp"
#include "planner/plan/plan.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/files.hpp"
#include "support/surroundings.hpp"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

struct DoctorCommand {
  Job job{};
  std::string plan{};
  runtime::RankMapping mapping = runtime::RankMapping::kByOrder;
  std::string out{};
  Bytes message{};
  std::optional<Seconds> timeout{{60}};
  bool list = false;
  bool json = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;

 private:
  void gather_with_messages(doctor::RankFacts& mine, doctor::Facts& facts) const;
  [[nodiscard]] doctor::Facts gather() const;
  [[nodiscard]] ExitStatus report(doctor::Facts& facts) const;
};

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  runtime::check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  return doctor::mpi_of({text.data(), static_cast<std::size_t>(length)});
}

// "libmpi.so.40" of the library whose function this program calls.
std::string library_name() {
  ::Dl_info found{};
  if (::dladdr(reinterpret_cast<void*>(&PMPI_Get_library_version), &found) == 0) return {};
  std::error_code fault;
  const std::string name = fs::canonical(found.dli_fname, fault).filename().string();
  const std::size_t at = name.find(".so.");
  return at == std::string::npos ? std::string() : name.substr(0, name.find('.', at + 4));
}

std::vector<doctor::RankFacts> ranks_of(const std::vector<std::string>& texts) {
  std::vector<doctor::RankFacts> ranks;
  for (const std::string& text : texts) ranks.push_back(doctor::rank_facts(text));
  return ranks;
}

void DoctorCommand::gather_with_messages(doctor::RankFacts& mine, doctor::Facts& facts) const {
  job.watchdog->expect("comparing the clocks of all ranks");
  mine.clock_ahead_s = -compare_clocks(job.comm, seconds_since_1970).offset_s;
  job.watchdog->expect("waiting for what all ranks have found");
  facts.ranks = ranks_of(runtime::gather_texts(job.comm, doctor::json_text(mine)));
}

// Complete on rank 0 only. Collective.
doctor::Facts DoctorCommand::gather() const {
  doctor::RankFacts mine = doctor::gather_rank(runtime::host_name());
  mine.mpi = library_version();
  mine.mpi_so = library_name();
  doctor::Facts facts;
  facts.has_ranks = true;
  job.watchdog->expect("waiting for the addresses of all ranks");
  TextExchange exchange(job.comm);
  facts.trials = try_hosts(exchange, mine);
  if (exchange.is_by_names()) {
    facts.ranks = ranks_of(exchange.gather(doctor::json_text(mine)));
    const bool is_cut = !facts.ranks.empty() && doctor::has_unreached(facts);  // on rank 0
    facts.has_messages = exchange.share(is_cut ? "cut" : "") != "cut";
    if (!facts.has_messages) return facts;
  }
  gather_with_messages(mine, facts);
  return facts;
}

// Rank 0's part: looks at what it alone looks at, and prints.
ExitStatus DoctorCommand::report(doctor::Facts& facts) const {
  if (!plan.empty()) {
    facts.plan = doctor::PlanFacts{
        .file = plan,
        .nodes = planner::parse_plan(read_text(plan), plan, planner::Roots::kAny).nodes,
        .by_host = mapping == runtime::RankMapping::kByHostName};
  }
  if (!out.empty()) {
    facts.out = doctor::gather_folder(fs::absolute(own_name(out, 0)).parent_path().string());
    facts.message_bytes = static_cast<double>(message.value);
  }
  facts.launchers = doctor::gather_launchers();
  const std::vector<doctor::Found> found = doctor::findings(facts);
  print_report(doctor::report_of(facts, found), json);
  return doctor::status_of(found);
}

ExitStatus DoctorCommand::run() const {
  const bool is_first = runtime::rank_in(job.comm) == 0;
  if (list) {
    if (is_first) print_report(doctor::list_of_checks(), json);
    return ExitStatus::kDone;
  }
  job.watchdog->start(timeout);
  doctor::Facts facts = gather();
  job.watchdog->expect("waiting for rank 0's report");
  auto status = static_cast<int>(ExitStatus::kDone);
  const auto act = [&] {
    if (is_first) status = static_cast<int>(report(facts));
  };
  if (facts.has_messages) {
    runtime::collective_try(job.comm, act);
    runtime::check(MPI_Bcast(&status, 1, MPI_INT, 0, job.comm), "MPI_Bcast");
  } else {
    act();
  }
  return static_cast<ExitStatus>(status);
}

void DoctorCommand::add_to(Arguments& app) {
  app.add("plan", plan, "a plan that these ranks are to follow; default: none", {.type = "PLAN"});
  add_mapping(app, mapping);
  app.add("--out", out, "the --out of a run, whose folder is looked at", {.type = "FILE"});
  app.add("--message", message, "how much is to be written there", {.shown = ""});
  add_timeout(app, timeout);
  app.add("--list", list, "say what is checked, and check nothing");
  app.add("--json", json, "JSON on standard output");
}

}  // namespace

void add_doctor(Arguments root, const Job& job) {
  DoctorCommand command;
  command.job = job;
  root.add_command<DoctorCommand>(
      "doctor", "find what goes wrong for these ranks, and say what cures it", std::move(command));
}

}  // namespace espalier::cli
