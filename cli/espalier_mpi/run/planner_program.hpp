// The planner, as a program of its own: espalier-mpi does not contain it, because it needs GLPK
// (README, "Licence").
#pragma once

#include <string>
#include <string_view>

#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

struct ProgramPlan {
  std::string text{};   // the plan file; empty: there is no plan
  std::string fault{};  // then: why, in one line
};

// `espalier plan` under the model bounded-multi-port, by the program beside this one or in PATH,
// for at most some seconds. platform: a platform file. source: a node of it; empty: there is none.
ProgramPlan plan_by_program(const std::string& platform, planner::Operation operation,
                            const std::string& source);

// Throws InputError if the program cannot be run; the text names `option`, which needs it.
void require_planner(std::string_view option);

// What a page is about.
struct PageInputs {
  std::string trace{};          // text
  std::string plan{};           // file; empty: none
  std::string platform_file{};  // empty: none, or `platform`
  std::string platform{};       // text
};

// How long page_by_program may take.
inline constexpr Seconds kMostPageTime{60};

// `espalier report`. Throws InputError with its first line on stderr if it makes no page.
void page_by_program(const PageInputs& inputs, const std::string& page);

}  // namespace espalier::cli
