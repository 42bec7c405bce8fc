// Checks of a plan against the ranks and its network, and the list of all checks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "cli/doctor/checks.hpp"
#include "support/quantities.hpp"
#include "support/text.hpp"

namespace espalier::cli::doctor {

namespace {

std::string up_to_first_dot(const std::string& name) {
  return name.substr(0, name.find('.'));
}

bool is_same_host(const std::string& one, const std::string& other) {
  return one == other || up_to_first_dot(one) == up_to_first_dot(other);
}

std::optional<Finding> rank_count(const Facts& facts) {
  if (!facts.has_ranks || !facts.plan || facts.plan->nodes.size() == facts.ranks.size()) {
    return std::nullopt;
  }
  return Finding{
      fmt::format("{} is for {}, but there are {}", facts.plan->file,
                  counted(facts.plan->nodes.size(), "host"), counted(facts.ranks.size(), "rank")),
      "every command refuses it", fmt::format("mpirun -np {} ...", facts.plan->nodes.size())};
}

// The plan's nodes that are hosts of ranks; empty where names of nodes have nothing to do with
// hosts ("rank0").
std::set<std::string> nodes_that_are_hosts(const Facts& facts) {
  std::set<std::string> hosts;
  if (!facts.has_ranks || !facts.plan) return hosts;
  for (const std::string& node : facts.plan->nodes) {
    const bool is_host = std::ranges::any_of(
        facts.ranks, [&](const RankFacts& rank) { return is_same_host(rank.host, node); });
    if (is_host) hosts.insert(node);
  }
  return hosts;
}

std::optional<Finding> foreign_nodes(const Facts& facts) {
  const std::set<std::string> known = nodes_that_are_hosts(facts);
  if (known.empty() || known.size() == facts.plan->nodes.size()) return std::nullopt;
  Listing foreign(4);
  for (const std::string& node : facts.plan->nodes) {
    if (!known.contains(node)) foreign.add([&] { return node; });
  }
  return Finding{fmt::format("no rank runs on {} of {}", foreign.text(), facts.plan->file),
                 "the plan is followed over other links than those it was made for",
                 fmt::format("mpirun -host {} ...", fmt::join(facts.plan->nodes, ","))};
}

std::optional<Finding> ranks_share_host(const Facts& facts) {
  const std::set<std::string> known = nodes_that_are_hosts(facts);
  if (known.size() < 2 || facts.ranks.size() < 2) return std::nullopt;
  for (std::size_t i = 0; i < facts.ranks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (facts.ranks[i].host != facts.ranks[j].host) continue;
      return Finding{
          fmt::format("ranks {} and {} are both on {}, which {} has once", j, i,
                      facts.ranks[i].host, facts.plan->file),
          "they share links that the plan takes for their own",
          fmt::format("mpirun --map-by node -host {} ...", fmt::join(facts.plan->nodes, ","))};
    }
  }
  return std::nullopt;
}

std::optional<Finding> host_order(const Facts& facts) {
  const std::set<std::string> known = nodes_that_are_hosts(facts);
  if (known.empty() || known.size() != facts.plan->nodes.size() ||
      facts.ranks.size() != known.size() || facts.plan->by_host) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < facts.ranks.size(); ++i) {
    if (is_same_host(facts.ranks[i].host, facts.plan->nodes[i])) continue;
    return Finding{
        fmt::format("rank {} runs on {}, but node {} of {} is {}", i, facts.ranks[i].host, i,
                    facts.plan->file, facts.plan->nodes[i]),
        "ranks are mapped to nodes by order, so the plan uses the wrong links",
        "espalier-mpi ... --map host, or for unmodified programs: export ESPALIER_MAP=host"};
  }
  return std::nullopt;
}

std::optional<Finding> network_changed(const Facts& facts) {
  if (!facts.plan || facts.plan->faults.empty()) return std::nullopt;
  return Finding{fmt::format("{} does not fit {}: {}", facts.plan->file, facts.plan->platform,
                             facts.plan->faults.front()),
                 "the network has changed since the plan was made",
                 fmt::format("espalier plan {} ... -o {}", facts.plan->platform, facts.plan->file)};
}

std::optional<Finding> odd_platform(const Facts& facts) {
  if (facts.platform_warnings.empty()) return std::nullopt;
  return Finding{facts.platform_warnings.front(),
                 "a slip in the file makes plans for another network",
                 "correct the file, or measure: mpirun ... espalier-mpi probe -o platform.json"};
}

constexpr std::array kPlanChecks{
    Check{"rank-count", "a plan for another number of ranks", rank_count},
    Check{"foreign-hosts", "hosts of a plan on which no rank runs", foreign_nodes},
    Check{"ranks-share-host", "ranks that share a host unawares", ranks_share_host},
    Check{"host-order", "ranks in another order than the plan's hosts", host_order},
    Check{"network-changed", "a plan whose network has changed since", network_changed},
    Check{"odd-platform", "figures of a platform that are likely slips", odd_platform}};

}  // namespace

std::span<const Check> plan_checks() {
  return kPlanChecks;
}

std::vector<Check> checks() {
  std::vector<Check> all;
  for (const auto list : {mpi_checks(), network_checks(), plan_checks(), machine_checks()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

std::vector<Found> findings(const Facts& facts) {
  std::vector<Found> found;
  for (const Check& check : checks()) {
    if (auto finding = check.find(facts)) found.push_back({check.name, std::move(*finding)});
  }
  return found;
}

}  // namespace espalier::cli::doctor
