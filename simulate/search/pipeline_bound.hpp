// The classical pipeline formula, generalized to any trees on any resources: a lower bound on the
// time of a message.
#pragma once

#include <cstddef>

#include "simulate/transport/assignments.hpp"
#include "simulate/transport/task.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

// No run of `task` by the rules of simulate/simulate.hpp ends before
//   max over resources r of  (fill + busy + drain)
// (docs/model.md, "The formula" of plans for a message), where processors are resources too.
// assignments: of the task's plan. resources: rows of A. O(edges and their holdings).
Seconds pipeline_bound(const Task& task, const Assignments& assignments, std::size_t resources);

}  // namespace espalier::simulate
