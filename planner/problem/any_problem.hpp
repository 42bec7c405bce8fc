// The problem that an operation poses on a platform: a Collective where it has one root and one
// message, an AllRoots where it has several roots, a Routing where its parts are routed, a
// Multicast where only some of the hosts need the message.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/multicast.hpp"
#include "planner/problem/routing.hpp"

namespace espalier::planner {

// Who gets how much.
struct Receipts {
  std::vector<double> shares{};  // of an operation whose message has parts; empty: equal
  // Of a broadcast to some of the hosts, which the others may help; empty: to all of them.
  std::vector<platforms::NodeId> receivers{};
};

// Who gets how much by a plan, whose nodes are the platform's hosts.
inline Receipts receipts_of(const Plan& plan, const platforms::Platform& platform) {
  Receipts receipts{.shares = shares_of(plan)};
  if (!plan.has_helpers()) return receipts;
  for (const std::uint32_t member : plan.blocks.front().members) {
    receipts.receivers.push_back(platform.hosts()[member]);
  }
  return receipts;
}
// A plan's root on its platform; unset: it has several, or none. Throws InputError for an unknown
// name.
inline std::optional<platforms::NodeId> root_of(const Plan& plan,
                                                const platforms::Platform& platform) {
  if (plan.source.empty()) return std::nullopt;
  return source_named(platform, plan.source);
}

// What `visit` returns for the problem. root: none where there are several, or none. Throws as the
// problems' constructors do.
template <class Visit>
auto on_problem(Operation operation, const platforms::Platform& platform,
                std::optional<platforms::NodeId> root, platforms::Model model,
                const platforms::OccupationOptions& options, Receipts receipts,
                const Visit& visit) {
  if (routes(operation)) {
    return visit(Routing(operation, platform, root, model, options, std::move(receipts.shares)));
  }
  if (!receipts.receivers.empty()) {
    return visit(Multicast(platform, root.value(), receipts.receivers, model, options));
  }
  if (root) return visit(Collective(operation, platform, *root, model, options));
  return visit(AllRoots(operation, platform, model, options, std::move(receipts.shares)));
}

}  // namespace espalier::planner
