// Any bytes at all given as a plan are refused with InputError, or are a plan that is written and
// read back unchanged; where it has no structural fault, its trees can be walked.
#include "planner/plan/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "support/errors.hpp"
#include "tests/fuzz/target.hpp"

void espalier::testing::check_plan(const std::uint8_t* data, std::size_t size) {
  namespace planner = espalier::planner;
  planner::Plan plan;
  try {
    plan = planner::parse_plan(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  } catch (const espalier::InputError&) {
    return;
  }
  const std::string written = planner::to_json(plan);
  if (planner::to_json(planner::parse_plan(written, "written")) != written) std::abort();
  try {
    planner::check_structure(plan);
  } catch (const espalier::InputError&) {
    return;
  }
  for (const planner::PlanTree& tree : plan.broadcast_trees) {
    if (planner::depth_of(tree, planner::source_index(plan)) >= plan.nodes.size()) std::abort();
    if (planner::out_degree_of(tree) >= plan.nodes.size()) std::abort();
  }
  if (plan.schedule && planner::step_count(*plan.schedule) > 2 * plan.schedule->sends.size() + 1) {
    std::abort();
  }
}
