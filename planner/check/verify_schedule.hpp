// Checks a schedule against the platform: part of verify.
#pragma once

#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner {

// Faults of plan.schedule, one line each, at most ten: a host has two sends, or two receives, at
// once; a send's bytes take longer on its link than its time (within `tolerance`); a model or
// platform that allows no schedule. Precondition: the plan has a schedule, no structural fault, and
// its nodes are the platform's hosts. That a segment has arrived, from all children in a reduce
// tree, before it is sent on needs no check of its own: every edge of a tree carries the same
// segments in every period, so who runs the schedule can let each begin late enough.
std::vector<std::string> faults_of_schedule(const platforms::Platform& platform,
                                            platforms::Model model, const Plan& plan,
                                            double tolerance);

}  // namespace espalier::planner
