#include "simulate/transport/flows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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
      up_trees_(plan.reduce_trees.size()) {
  std::uint32_t number = 0;
  for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
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
  first_flow_.assign(hosts_ * trees_ + 1, 0);
  for (const Flow& flow : flows_) ++first_flow_[flow.parent * trees_ + flow.tree + 1];
  for (std::size_t i = 1; i < first_flow_.size(); ++i) first_flow_[i] += first_flow_[i - 1];
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
  }
  return 0;
}

}  // namespace

Holdings::Holdings(const Flows& flows, const platforms::Platform& platform, platforms::Model model,
                   platforms::OccupationOptions options)
    : first_{0}, first_stretch_{0} {
  if (options.segment.value == 0) {
    first_stretch_.resize(flows.all().size() + 1, 0);
  } else {
    fill(flows, platforms::occupation(platform, model, options), model, options.segment);
  }
}

Holdings::Holdings(const Flows& flows, const platforms::Occupation& occupation,
                   platforms::Model model, Bytes segment_size)
    : first_{0}, first_stretch_{0} {
  fill(flows, occupation, model, segment_size);
}

void Holdings::fill(const Flows& flows, const platforms::Occupation& occupation,
                    platforms::Model model, Bytes segment_size) {
  const bool at_once = platforms::is_one_port(model);
  const auto segment = static_cast<double>(segment_size.value);
  std::vector<Holding> held;  // on one arc
  const auto end_stretch = [&] { first_.push_back(static_cast<std::uint32_t>(holdings_.size())); };
  for (const Flow& flow : flows.all()) {
    for (const std::uint32_t arc : flow.arcs) {
      held.clear();
      using Column = Eigen::SparseMatrix<double>::InnerIterator;
      for (Column entry(occupation.seconds_per_byte, static_cast<Eigen::Index>(arc)); entry;
           ++entry) {
        held.push_back({static_cast<std::uint32_t>(entry.row()), entry.value() * segment});
      }
      std::ranges::stable_sort(held, {}, [&](const Holding& holding) {
        return at_once ? holding.seconds
                       : place_on_arc(occupation.resources[holding.resource].kind);
      });
      for (const Holding& holding : held) {
        holdings_.push_back(holding);
        if (!at_once) end_stretch();
      }
      if (at_once) end_stretch();
    }
    first_stretch_.push_back(static_cast<std::uint32_t>(first_.size() - 1));
  }
}

double Holdings::seconds(std::size_t flow) const {
  double longest = 0;
  for (const Holding& holding : of(flow)) longest = std::max(longest, holding.seconds);
  return longest;
}

}  // namespace espalier::simulate
