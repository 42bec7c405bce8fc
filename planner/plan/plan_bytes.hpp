// A plan as bytes, to send it from process to process of one program, where nothing in it has to be
// parsed or checked again.
#pragma once

#include <string>
#include <string_view>

#include "planner/plan/plan.hpp"

namespace espalier::planner {

// All of the plan but PlanTree::via, which only programs that know the platform have a use for. The
// same plan gives the same bytes on machines of one byte order.
std::string to_bytes(const Plan& plan);
// Reads them. Precondition: `bytes` is a result of to_bytes; throws std::invalid_argument for a
// part of one.
Plan from_bytes(std::string_view bytes);

}  // namespace espalier::planner
