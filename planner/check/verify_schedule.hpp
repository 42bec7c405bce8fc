// Checking a schedule against the platform: part of verify.
#pragma once

#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/instance.hpp"

namespace espalier::planner {

// Faults of plan.schedule, one line each, at most ten: "/schedule/sends/3: ...". A host that sends
// two things at once, or receives two; a send whose bytes take longer than its time on its link,
// overheads included; a model or platform that a schedule does not fit. tolerance: relative, of a
// send's time.
// Precondition: the plan has a schedule, no structural fault, and its nodes are the hosts of
// `instance`, which has the plan's model and segment.
std::vector<std::string> faults_of_schedule(const Instance& instance, const Plan& plan,
                                            double tolerance);

}  // namespace espalier::planner
