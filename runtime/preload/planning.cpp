#include "runtime/preload/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "planner/problem/any_problem.hpp"
#include "planner/problem/part_of.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/formats/formats.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/topology/tac_rules.hpp"
#include "simulate/search/choose_blocks.hpp"
#include "simulate/search/choose_plan.hpp"
#include "support/quantities.hpp"

namespace espalier::preload {
namespace {

using platforms::NodeId;
using platforms::Platform;

std::vector<NodeId> by_order(const Platform& platform, const Members& members) {
  const auto hosts = platform.hosts();
  if (hosts.size() != members.world_size) {
    throw InputError(fmt::format("the platform has {}, MPI_COMM_WORLD {}",
                                 counted(hosts.size(), "host"),
                                 counted(members.world_size, "rank")));
  }
  std::vector<NodeId> nodes;
  for (const int rank : members.world_ranks) nodes.push_back(hosts[static_cast<std::size_t>(rank)]);
  return nodes;
}

std::vector<NodeId> by_host(const Platform& platform, const Members& members) {
  std::unordered_set<std::string> cut;
  for (const std::string& host : members.hosts) cut.insert(runtime::up_to_dot(host));
  std::vector<NodeId> found;
  std::vector<std::string> names;
  for (const NodeId host : platform.hosts()) {
    const std::string& name = platform.node(host).name;
    if (!cut.contains(runtime::up_to_dot(name))) continue;
    found.push_back(host);
    names.push_back(name);
  }
  if (names.size() != members.hosts.size()) {
    throw InputError(
        fmt::format("{} hosts of the platform match the hosts of {} ranks; each rank needs one",
                    names.size(), members.hosts.size()));
  }
  const std::vector<int> rank_of = runtime::ranks_by_host(members.hosts, names);
  std::vector<NodeId> nodes(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    nodes[static_cast<std::size_t>(rank_of[i])] = found[i];
  }
  return nodes;
}

platforms::Model model_in(const Settings& settings) {
  const bool is_learnt = settings.platform_file.empty();
  return platforms::parse_model(
      settings.model.value_or(is_learnt ? "bounded-multi-port" : "one-port"));
}

std::string algorithm_in(const Settings& settings) {
  return settings.algorithm.value_or(std::string(planner::kOptimal));
}

bool serves(const std::string& algorithm, planner::Operation operation) {
  try {
    planner::find_algorithm(algorithm, operation);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// What is planned: the members' part of the platform.
struct Problem {
  platforms::Model model;
  platforms::OccupationOptions occupation;
  Platform part;
  std::optional<NodeId> root;
  planner::AlgorithmOptions options;  // without a deadline
};

Problem problem_of(const std::string& platform_text, const Settings& settings,
                   const Members& members) {
  platforms::ReadOptions own_format;
  own_format.format = "json";
  const Platform platform =
      platforms::parse_platform(platform_text, settings.platform_file, own_format).platform;
  const std::vector<NodeId> nodes = settings.mapping == runtime::RankMapping::kByHostName
                                        ? by_host(platform, members)
                                        : by_order(platform, members);
  const platforms::Model model = model_in(settings);
  const platforms::OccupationOptions occupation{.segment = planner::kDefaultSegment};
  Platform part =
      planner::part_of(platform, model, platforms::occupation(platform, model, occupation), nodes);
  std::optional<NodeId> root;
  if (planner::may_have_root(members.operation)) {
    const NodeId on_whole = nodes[static_cast<std::size_t>(members.root)];
    root = planner::source_named(part, platform.node(on_whole).name);
  }
  planner::AlgorithmOptions options;
  options.max_trees = planner::has_parts(members.operation) ? 0 : settings.max_trees;
  return {model, occupation, std::move(part), root, std::move(options)};
}

// The registry's algorithm that the settings name, for a message of this size.
planner::Algorithm algorithm_for(const Settings& settings, const Platform& part,
                                 planner::Operation operation, Bytes message) {
  const std::string named = algorithm_in(settings);
  if (named != runtime::kTacRules) return planner::find_algorithm(named, operation);
  std::set<std::string> hosts;  // which are the finest groups
  for (const NodeId rank : part.hosts()) hosts.insert(part.node(rank).group);
  const auto chosen = runtime::tac_choice(operation, part.hosts().size(), hosts.size(), message);
  if (chosen) return planner::find_algorithm(std::string(*chosen), operation);
  throw InputError("TAC has no rule for it");
}

template <class Make>
planner::Plan on(const Problem& planned, const Members& members, const Make& make) {
  return planner::on_problem(members.operation, planned.part, planned.root, planned.model,
                             planned.occupation, {members.shares}, make);
}

}  // namespace

bool can_plan() {
  return true;
}

void check_planning(const Settings& settings) {
  model_in(settings);
  const std::string named = algorithm_in(settings);
  if (named == runtime::kTacRules) return;
  // An algorithm for reductions only leaves broadcasts to MPI, and vice versa.
  const bool serves_any =
      std::ranges::any_of(planner::kEveryOperation,
                          [&](planner::Operation operation) { return serves(named, operation); });
  if (!serves_any) planner::find_algorithm(named);
}

std::string read_platform_text(const Settings& settings) {
  check_planning(settings);
  return platforms::write_platform(platforms::read_platform(settings.platform_file).platform,
                                   "json");
}

planner::Plan make_plan_for(const std::string& platform_text, const Settings& settings,
                            const Members& members, Bytes message, Seconds limit) {
  Problem made = problem_of(platform_text, settings, members);
  const planner::Algorithm algorithm =
      algorithm_for(settings, made.part, members.operation, message);
  made.options.deadline = Deadline(limit);
  return on(made, members, [&](const auto& problem) {
    return planner::make_plan(problem, algorithm.name,
                              planner::run(algorithm, problem, made.options),
                              planner::kDefaultSegment);
  });
}

planner::Plan make_plan_for_message(const std::string& platform_text, const Settings& settings,
                                    const Members& members, Bytes message, Seconds limit) {
  const Problem made = problem_of(platform_text, settings, members);
  simulate::ChoiceOptions how;
  how.limits = made.options;
  how.limits.deadline = Deadline(limit);
  return on(made, members,
            [&](const auto& problem) { return simulate::choose_plan(problem, message, how).plan; });
}

}  // namespace espalier::preload
