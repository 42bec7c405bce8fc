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

struct PlanQuestion {
  planner::Operation operation;
  std::string source;     // a node of the platform; empty: there is none
  std::string algorithm;  // empty: the optimum
  std::string model;
};
// `espalier plan`, by the program beside this one or in PATH, for at most some seconds. platform: a
// platform file.
ProgramPlan plan_by_program(const std::string& platform, const PlanQuestion& question);

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
