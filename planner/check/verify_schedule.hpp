// Checks a schedule against the platform: part of verify.
#pragma once

#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"

namespace espalier::planner {

// Faults of plan.schedule, one line each, at most ten: a host has two sends, or two receives, at
// once; a send's bytes take longer on its link than its time (within `tolerance`); a model or
// platform that allows no schedule. Precondition: the plan has a schedule, no structural fault, and
// its nodes are the hosts of `instance`, which has the plan's model and segment.
std::vector<std::string> faults_of_schedule(const Instance& instance, const Plan& plan,
                                            double tolerance);

}  // namespace espalier::planner
