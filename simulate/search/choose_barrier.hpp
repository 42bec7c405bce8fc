// Chooses the plan of a barrier: one tree towards a root and one from it, for the least time of one
// byte.
#pragma once

#include <optional>

#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/search/choose_plan.hpp"

namespace espalier::simulate {

// What every rank sends: nothing needs no bytes, but a segment has one.
inline constexpr Bytes kBarrierMessage{1};

// root: unset: of the four most central hosts, the one with the fastest plan; among more than 256
// hosts, the most central one. Without named algorithms, the trees are those of algorithms for a
// single message (ecef up to 256 hosts) and of MPI libraries; each candidate has the name of its
// root. The choice has no bound; planner::barrier_bound is one. options.operation is ignored.
// Throws as choose_plan does.
Choice choose_barrier(const platforms::Platform& platform, std::optional<platforms::NodeId> root,
                      platforms::Model model, bool latency_occupies, ChoiceOptions options = {});

}  // namespace espalier::simulate
