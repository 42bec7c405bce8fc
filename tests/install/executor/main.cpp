// Usage: consumer PLAN. Reads a plan with the installed library.
#include <cstdio>
#include <exception>

#include "planner/plan/plan.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const espalier::planner::Plan plan = espalier::planner::read_plan(argv[1]);
    std::printf("%s: %zu trees over %zu nodes\n", plan.platform.c_str(),
                plan.broadcast_trees.size(), plan.nodes.size());
    return 0;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
}
