// The problem that an operation poses on a platform: a Collective where it has one root and one
// message, an AllRoots where it has several roots, a Routing where its parts are routed.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/routing.hpp"

namespace espalier::planner {

// What `visit` returns for the problem. root: none where there are several, or none. shares: of an
// operation whose message has parts; empty: equal. Throws as the problems' constructors do.
template <class Visit>
auto on_problem(Operation operation, const platforms::Platform& platform,
                std::optional<platforms::NodeId> root, platforms::Model model,
                const platforms::OccupationOptions& options, std::vector<double> shares,
                const Visit& visit) {
  if (routes(operation)) {
    return visit(Routing(operation, platform, root, model, options, std::move(shares)));
  }
  if (root) return visit(Collective(operation, platform, *root, model, options));
  return visit(AllRoots(operation, platform, model, options, std::move(shares)));
}

}  // namespace espalier::planner
