// Compares two optima as guides of the LP-based heuristics under multi-port: that of multi-port
// itself, and the one-port optimum, whose linear program HBT gives ("constraints: one-port model
// constraints"). Prints a row per algorithm: its mean throughput under multi-port, guided by each
// of them, relative to each of them. docs/study.md quotes it.
//
// Usage: lp_guidance [NODES DENSITY DRAWS]
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <string_view>

#include "experiments/families.hpp"
#include "planner/solve/solve_packing.hpp"

namespace {

using namespace espalier;

// Means over the draws.
struct Figures {
  double own_to_own = 0;
  double one_port_to_own = 0;
  double own_to_one_port = 0;
  double one_port_to_one_port = 0;
};

double rate_of(std::string_view algorithm, const planner::Instance& instance,
               const lp::Packing& guide) {
  planner::AlgorithmOptions options;
  options.packing = &guide;
  return planner::find_algorithm(algorithm).run(instance, options).trees[0].rate.value;
}

void add(std::string_view algorithm, const experiments::Case& drawn, double share,
         Figures& figures) {
  const auto platform = drawn.make();
  const platforms::NodeId source = platform->hosts().front();
  const planner::Instance one_port(*platform, source, platforms::Model::kOnePort);
  const planner::Instance multi_port(*platform, source, platforms::Model::kMultiPort);
  const lp::Packing one_port_optimum = planner::solve_packing(one_port, {});
  const lp::Packing own_optimum = planner::solve_packing(multi_port, {});
  const double by_own = share * rate_of(algorithm, multi_port, own_optimum);
  const double by_one_port = share * rate_of(algorithm, multi_port, one_port_optimum);
  figures.own_to_own += by_own / own_optimum.bound;
  figures.one_port_to_own += by_one_port / own_optimum.bound;
  figures.own_to_one_port += by_own / one_port_optimum.bound;
  figures.one_port_to_one_port += by_one_port / one_port_optimum.bound;
}

void print(const experiments::Grid& grid) {
  fmt::print("{} nodes, density {}, {} draws, multi-port\n", grid.nodes[0], grid.densities[0],
             grid.draws);
  fmt::print("{:<11}{:>23}{:>24}\n{:<10}{:>12}{:>12}{:>12}{:>12}\n", "relative to",
             "multi-port optimum", "one-port optimum", "guided by", "multi-port", "one-port",
             "multi-port", "one-port");
  for (const std::string_view algorithm : {"lp-grow", "lp-prune", "grow"}) {
    Figures figures;
    for (const experiments::Case& drawn : experiments::families().front().cases(grid)) {
      add(algorithm, drawn, 1.0 / static_cast<double>(grid.draws), figures);
    }
    fmt::print("{:<10}{:>12.2f}{:>12.2f}{:>12.2f}{:>12.2f}\n", algorithm, figures.own_to_own,
               figures.one_port_to_own, figures.own_to_one_port, figures.one_port_to_one_port);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    experiments::Grid grid{.nodes = {50}, .densities = {0.12}, .draws = 10, .seed = 1};
    if (argc == 4) {
      grid.nodes = {std::strtoull(argv[1], nullptr, 10)};
      grid.densities = {std::strtod(argv[2], nullptr)};
      grid.draws = std::strtoull(argv[3], nullptr, 10);
    } else if (argc != 1) {
      fmt::print(stderr, "usage: lp_guidance [NODES DENSITY DRAWS]\n");
      return 2;
    }
    print(grid);
  } catch (const std::exception& fault) {
    fmt::print(stderr, "lp_guidance: {}\n", fault.what());
    return 2;
  }
  return 0;
}
