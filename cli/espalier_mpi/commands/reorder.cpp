// espalier-mpi reorder: the order of these ranks in which those of a host, and the hosts of a
// group, follow each other, and files with which mpirun starts an unchanged program in it.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/espalier_mpi/options/options.hpp"
#include "cli/espalier_mpi/reports/output.hpp"
#include "cli/espalier_mpi/reports/report.hpp"
#include "cli/espalier_mpi/run/topology_plan.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/topology/rank_order.hpp"
#include "runtime/topology/topology_platform.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {
namespace {

struct ReorderCommand {
  Job job{};
  std::string groups{};
  std::string rankfile{};
  std::string hostfile{};
  std::string platform{};
  std::optional<Seconds> timeout{{60}};
  bool json = false;

  void add_to(Arguments& app);
  void check() const;
  [[nodiscard]] ExitStatus run() const;
};

// The ranks where they run, by rank, and the new order.
struct Placement {
  std::vector<int> host_of_rank;
  std::vector<std::string> names;   // of hosts
  std::vector<std::string> groups;  // empty: none are known
  std::vector<int> order{};

  [[nodiscard]] const std::string& name_of(int rank) const {
    return names[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int host_of(int rank) const { return host_of_rank[static_cast<std::size_t>(rank)]; }
};

// The launchers know hosts by name only.
void require_distinct_names(const Placement& ranks) {
  std::map<std::string, int> known;
  for (const int rank : ranks.order) {
    const auto [named, is_new] = known.emplace(ranks.name_of(rank), rank);
    if (is_new || ranks.host_of(named->second) == ranks.host_of(rank)) continue;
    throw InputError(
        fmt::format("ranks {} and {} run on two hosts that are both called {}; mpirun cannot tell "
                    "them apart, so no file is written",
                    named->second, rank, in_quotes(ranks.name_of(rank))));
  }
}

// The hosts in the new order, and the number of ranks of each.
std::vector<std::pair<std::string, std::size_t>> hosts_in_order(const Placement& ranks) {
  std::vector<std::pair<std::string, std::size_t>> hosts;
  int last = -1;
  for (const int rank : ranks.order) {
    const int host = ranks.host_of(rank);
    if (host != last) hosts.emplace_back(ranks.name_of(rank), 0);
    ++hosts.back().second;
    last = host;
  }
  return hosts;
}

// Open MPI's: each rank has a core of its host.
std::string rankfile_text(const Placement& ranks) {
  std::string text;
  std::size_t rank = 0;
  for (const auto& [host, count] : hosts_in_order(ranks)) {
    for (std::size_t core = 0; core < count; ++core) {
      text += fmt::format("rank {}={} slot={}\n", rank++, host, core);
    }
  }
  return text;
}

// For the mpirun of the MPI that this program was built with.
std::string hostfile_text(const Placement& ranks) {
#ifdef MPICH_VERSION
  constexpr const char* kLine = "{}:{}\n";
#else
  constexpr const char* kLine = "{} slots={}\n";
#endif
  std::string text;
  for (const auto& [host, count] : hosts_in_order(ranks)) {
    text += fmt::format(fmt::runtime(kLine), host, count);
  }
  return text;
}

Report order_report(const Placement& ranks) {
  std::vector<int> now = ranks.order;
  std::ranges::sort(now);
  Report report;
  report.add("ranks", "ranks", Cell(now.size()));
  report.add("hosts", "hosts", Cell(hosts_in_order(ranks).size()));
  report.add("neighbouring ranks on two hosts, now", "host_changes",
             Cell(runtime::host_changes(now, ranks.host_of_rank)));
  report.add("neighbouring ranks on two hosts, in this order", "reordered_host_changes",
             Cell(runtime::host_changes(ranks.order, ranks.host_of_rank)));
  Rows rows({{"rank", "rank"}, {"now", "rank_now"}, left("host", "host"), left("group", "group")});
  for (std::size_t rank = 0; rank < ranks.order.size(); ++rank) {
    const int before = ranks.order[rank];
    rows.add({rank, before, ranks.name_of(before),
              ranks.groups.empty() ? Cell("-", Json())
                                   : Cell(ranks.groups[static_cast<std::size_t>(before)])});
  }
  report.add("order", rows);
  return report;
}

void ReorderCommand::check() const {
  for (const auto& [file, option] :
       {std::pair(&rankfile, "--rankfile"), std::pair(&hostfile, "--hostfile"),
        std::pair(&platform, "--platform-out")}) {
    if (*file != "-") continue;
    throw InputError(
        fmt::format("{} needs a file name; standard output contains the order", option));
  }
  if (!rankfile.empty() && rankfile == hostfile) {
    throw InputError("--rankfile and --hostfile are the same file");
  }
}

ExitStatus ReorderCommand::run() const {
  job.watchdog->start(timeout);
  job.watchdog->expect("waiting for the hosts of all ranks");
  Placement ranks{runtime::hosts_of_ranks(job.comm), runtime::host_names(job.comm), {}};
  job.watchdog->expect("waiting for rank 0's report");
  runtime::collective_try(job.comm, [&] {
    if (runtime::rank_in(job.comm) != 0) return;
    ranks.groups = groups_in(groups, ranks.names);
    ranks.order = runtime::contiguous_order(ranks.host_of_rank, ranks.groups);
    require_writable(rankfile);
    require_writable(hostfile);
    require_writable(platform);
    if (!rankfile.empty() || !hostfile.empty()) require_distinct_names(ranks);
    if (!rankfile.empty()) write_text(rankfile, rankfile_text(ranks));
    if (!hostfile.empty()) write_text(hostfile, hostfile_text(ranks));
    if (!platform.empty()) {
      write_text(platform,
                 runtime::topology_platform(ranks.names, ranks.host_of_rank, ranks.groups));
    }
    print_report(order_report(ranks), json);
  });
  return ExitStatus::kDone;
}

void ReorderCommand::add_to(Arguments& app) {
  app.add("--groups", groups,
          "which hosts share a group: lines HOST GROUP (lyon/rack1 is a group in a group), Slurm's "
          "topology.conf, or a platform in Espalier's JSON; read by rank 0 only",
          {.type = "FILE"});
  app.add("--rankfile", rankfile,
          "write Open MPI's file for mpirun --rankfile, with a core for each rank",
          {.type = "FILE"});
  app.add("--hostfile", hostfile, "write the file for mpirun --hostfile (MPICH: -f)",
          {.type = "FILE"});
  app.add("--platform-out", platform,
          "write the topology of the ranks as they are now as a platform, with assumed speeds, for "
          "espalier plan --algorithm hierarchical",
          {.type = "FILE"});
  add_timeout(app, timeout);
  app.add("--json", json, "JSON on standard output");
}

}  // namespace

void add_reorder(Arguments root, const Job& job) {
  ReorderCommand command;
  command.job = job;
  root.add_command<ReorderCommand>(
      "reorder", "the order of these ranks that keeps hosts and groups together, and its files",
      std::move(command));
}

}  // namespace espalier::cli
