#include "simulate/flows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "planner/plan_on_platform.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

Flows::Flows(const planner::Plan& plan, const platforms::Platform& platform, bool latency_occupies)
    : hosts_(plan.nodes.size()), trees_(plan.broadcast_trees.size()) {
  for (std::size_t t = 0; t < trees_; ++t) {
    const planner::PlanTree& tree = plan.broadcast_trees[t];
    for (std::size_t e = 0; e < tree.edges.size(); ++e) {
      Flow flow{tree.edges[e].parent, tree.edges[e].child, static_cast<std::uint32_t>(t), 0, {}};
      try {
        flow.arcs = planner::arcs_along(platform, tree, tree.edges[e]);
      } catch (const InputError& error) {
        throw InputError({}, fmt::format("/broadcast_trees/{}/edges/{}", t, e), error.what());
      }
      for (const std::uint32_t arc : flow.arcs) {
        if (!latency_occupies) flow.latency_s += platform.arcs()[arc].latency.value;
      }
      flows_.push_back(std::move(flow));
    }
  }
  std::stable_sort(flows_.begin(), flows_.end(), [](const Flow& one, const Flow& other) {
    return std::tie(one.parent, one.tree) < std::tie(other.parent, other.tree);
  });
  first_flow_.assign(hosts_ * trees_ + 1, 0);
  for (const Flow& flow : flows_) ++first_flow_[flow.parent * trees_ + flow.tree + 1];
  for (std::size_t i = 1; i < first_flow_.size(); ++i) first_flow_[i] += first_flow_[i - 1];
}

Holdings::Holdings(const Flows& flows, const platforms::Platform& platform, platforms::Model model,
                   platforms::OccupationOptions options)
    : first_{0} {
  if (options.slice.value == 0) {
    first_.resize(flows.all().size() + 1, 0);
    return;
  }
  const auto slice = static_cast<double>(options.slice.value);
  const platforms::Occupation occupation = platforms::occupation(platform, model, options);
  const auto& matrix = occupation.seconds_per_byte;
  for (const Flow& flow : flows.all()) {
    std::vector<Holding> held;
    for (const std::uint32_t arc : flow.arcs) {
      using Column = Eigen::SparseMatrix<double>::InnerIterator;
      for (Column entry(matrix, static_cast<Eigen::Index>(arc)); entry; ++entry) {
        const auto resource = static_cast<std::uint32_t>(entry.row());
        const auto same = std::ranges::find(held, resource, &Holding::resource);
        if (same != held.end()) {
          same->seconds += entry.value() * slice;
        } else {
          held.push_back({resource, entry.value() * slice});
        }
      }
    }
    std::ranges::sort(held, [](const Holding& one, const Holding& other) {
      return std::tie(one.seconds, one.resource) < std::tie(other.seconds, other.resource);
    });
    holdings_.insert(holdings_.end(), held.begin(), held.end());
    first_.push_back(holdings_.size());
  }
}

}  // namespace espalier::simulate
