// A plan as a GOAL schedule: the text that txt2bin of LogGOPSim reads, with a send and a receive
// for each segment on each edge and their dependencies. Use it to put a plan into LogGOPSim, alone
// or among other traffic.
//
// Format: T. Hoefler, C. Siebert, A. Lumsdaine, Group Operation Assembly Language, ICPP 2009,
// doi:10.1109/ICPP.2009.70; the grammar of txt2bin.re in https://github.com/spcl/LogGOPSim.
// Simulator: T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, HPDC 2010,
// doi:10.1145/1851476.1851564.
#pragma once

#include <optional>
#include <string>

#include "planner/plan/plan.hpp"
#include "simulate/export/loggp.hpp"
#include "simulate/export/transfers.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

struct GoalOptions {
  // Named in a comment as options of LogGOPSim; unset: none are.
  std::optional<LogGPView> loggp{};
  // Bytes per second that a rank adds, above 0; unset: adding takes no time and is left out.
  std::optional<BytesPerSecond> compute{};
};

// Message tags are Transfers::tag_of. A rank's sends of a tree begin in the order of its segments
// (irequires), as do those of what it has from the beginning. Throws InputError (place and reason)
// for segments and numbers of segments that do not fit into 32 bits.
std::string goal_schedule(const planner::Plan& plan, const Transfers& transfers,
                          const GoalOptions& options = {});

}  // namespace espalier::simulate
