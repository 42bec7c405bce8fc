#include "simulate/transport/flows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "planner/check/plan_on_platform.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

Flow flow_along(const planner::PlanTree& tree, const planner::PlanEdge& edge, bool up,
                const platforms::Platform& platform, bool latency_occupies) {
  Flow flow{edge.parent,
            edge.child,
            0,
            up,
            tree.rate.value,
            0,
            planner::arcs_along(platform, tree, edge, up)};
  if (!latency_occupies) flow.latency_s = platforms::latency_along(platform, flow.arcs).value;
  return flow;
}

}  // namespace

Flows::Flows(const planner::Plan& plan, const platforms::Platform& platform, bool latency_occupies)
    : hosts_(plan.nodes.size()),
      trees_(planner::tree_count(plan)),
      has_blocks_(!plan.blocks.empty()) {
  std::uint32_t number = 0;
  for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
    if (kind.up) up_trees_ += kind.trees->size();
    for (std::size_t t = 0; t < kind.trees->size(); ++t, ++number) {
      const planner::PlanTree& tree = (*kind.trees)[t];
      for (std::size_t e = 0; e < tree.edges.size(); ++e) {
        try {
          flows_.push_back(flow_along(tree, tree.edges[e], kind.up, platform, latency_occupies));
        } catch (const InputError& error) {
          throw InputError({}, fmt::format("/{}/{}/edges/{}", kind.key, t, e), error.what());
        }
        flows_.back().tree = number;
      }
    }
  }
  std::stable_sort(flows_.begin(), flows_.end(), [](const Flow& one, const Flow& other) {
    return std::tie(one.parent, one.tree) < std::tie(other.parent, other.tree);
  });
  constexpr std::size_t kLargestTable = 1U << 24U;
  if (hosts_ * trees_ > kLargestTable) return;
  first_flow_.assign(hosts_ * trees_ + 1, 0);
  for (const Flow& flow : flows_) ++first_flow_[flow.parent * trees_ + flow.tree + 1];
  for (std::size_t i = 1; i < first_flow_.size(); ++i) first_flow_[i] += first_flow_[i - 1];
}

Flows::Range Flows::search_below(std::uint32_t host, std::uint32_t tree) const {
  const std::pair place(host, tree);
  const auto place_of = [](const Flow& flow) { return std::pair(flow.parent, flow.tree); };
  const auto first = std::ranges::lower_bound(flows_, place, {}, place_of);
  const auto last = std::ranges::upper_bound(flows_, place, {}, place_of);
  return {static_cast<std::uint32_t>(first - flows_.begin()),
          static_cast<std::uint32_t>(last - flows_.begin())};
}

namespace {

// From the sender to the receiver.
int place_on_arc(platforms::Resource::Kind kind) {
  using Kind = platforms::Resource::Kind;
  switch (kind) {
    case Kind::kOutPort:
    case Kind::kPort:
      return 0;
    case Kind::kLink:
      return 1;
    case Kind::kSharedLink:
      return 2;
    case Kind::kInPort:
      return 3;
    case Kind::kMoney:  // occupies nothing in a simulation
      break;
  }
  return 0;
}

}  // namespace

Holdings::Holdings(const Flows& flows, const platforms::Platform& platform, platforms::Model model,
                   platforms::OccupationOptions options)
    : first_{0}, first_stretch_{0} {
  if (options.segment.value == 0) {
    first_stretch_.resize(flows.all().size() + 1, 0);
    return;
  }
  const platforms::Occupation occupation = platforms::occupation(platform, model, options);
  for (const Flow& flow : flows.all()) append(flow, occupation, model, options.segment.value);
}

Holdings::Holdings(const Flows& flows, const platforms::Occupation& occupation,
                   platforms::Model model, Bytes segment)
    : first_{0}, first_stretch_{0} {
  for (const Flow& flow : flows.all()) append(flow, occupation, model, segment.value);
}

Holdings::Holdings(const Flows& flows, const platforms::Platform& platform, platforms::Model model,
                   bool latency_occupies, std::span<const std::uint64_t> bytes_of_tree)
    : first_{0}, first_stretch_{0} {
  // Parts have few sizes, unless they are all different, and then there are few trees.
  constexpr std::size_t kMostKept = 64;
  std::map<std::uint64_t, platforms::Occupation> occupations;
  for (const Flow& flow : flows.all()) {
    const std::uint64_t bytes = bytes_of_tree[flow.tree];
    if (occupations.size() >= kMostKept && !occupations.contains(bytes)) occupations.clear();
    const auto [known, is_new] = occupations.try_emplace(bytes);
    if (is_new) {
      known->second = platforms::occupation(platform, model, {{bytes}, latency_occupies});
    }
    append(flow, known->second, model, bytes);
  }
}

void Holdings::append(const Flow& flow, const platforms::Occupation& occupation,
                      platforms::Model model, std::uint64_t segment) {
  // Where both ends have the same kind of port, they are busy at once.
  const bool at_once =
      platforms::is_one_port(model) || model == platforms::Model::kMultiPortProcessor;
  std::vector<Holding> held;  // on one arc
  const auto end_stretch = [&] { first_.push_back(static_cast<std::uint32_t>(holdings_.size())); };
  for (const std::uint32_t arc : flow.arcs) {
    held.clear();
    using Column = Eigen::SparseMatrix<double>::InnerIterator;
    for (Column entry(occupation.seconds_per_byte, static_cast<Eigen::Index>(arc)); entry;
         ++entry) {
      held.push_back(
          {static_cast<std::uint32_t>(entry.row()), entry.value() * static_cast<double>(segment)});
    }
    std::ranges::stable_sort(held, {}, [&](const Holding& holding) {
      return at_once ? holding.seconds : place_on_arc(occupation.resources[holding.resource].kind);
    });
    for (const Holding& holding : held) {
      holdings_.push_back(holding);
      if (!at_once) end_stretch();
    }
    if (at_once) end_stretch();
  }
  first_stretch_.push_back(static_cast<std::uint32_t>(first_.size() - 1));
}

double Holdings::seconds(std::size_t flow) const {
  double longest = 0;
  for (const Holding& holding : of(flow)) longest = std::max(longest, holding.seconds);
  return longest;
}

}  // namespace espalier::simulate
