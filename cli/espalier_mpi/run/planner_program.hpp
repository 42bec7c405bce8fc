// The planner, as a program of its own: espalier-mpi does not contain it, because it needs GLPK
// (README, "Licence").
#pragma once

#include <string>

namespace espalier::cli {

struct ProgramPlan {
  std::string text{};   // the plan file; empty: there is no plan
  std::string fault{};  // then: why, in one line
};

// `espalier plan` under the model bounded-multi-port, by the program beside this one or in PATH,
// for at most some seconds. platform: a platform file. source: a node of it.
ProgramPlan plan_by_program(const std::string& platform, const std::string& source);

}  // namespace espalier::cli
