// Chooses the plan for one message of an operation with several roots, or whose parts are routed,
// as choose_plan does for one root: from the optimum, the best ring and the algorithms of MPI
// libraries, each in its best segment size, by simulation.
#pragma once

#include "planner/problem/all_roots.hpp"
#include "planner/problem/multicast.hpp"
#include "planner/problem/routing.hpp"
#include "simulate/search/choose_plan.hpp"

namespace espalier::simulate {

// message: as the plan counts it (docs/formats.md, "Plan"), at least 1 byte. Candidates that cannot
// be faster than the best one, by their throughput alone, are not simulated. For an allreduce also
// those of choose_plan with the most central host as the only root, whose name each of these has.
// The choice has no segment by formula. Throws as choose_plan does.
Choice choose_plan(const planner::AllRoots& problem, Bytes message,
                   const ChoiceOptions& options = {});
Choice choose_plan(const planner::Routing& problem, Bytes message,
                   const ChoiceOptions& options = {});
// For some of the hosts there is nothing to choose from yet: throws std::invalid_argument.
Choice choose_plan(const planner::Multicast& problem, Bytes message,
                   const ChoiceOptions& options = {});

}  // namespace espalier::simulate
