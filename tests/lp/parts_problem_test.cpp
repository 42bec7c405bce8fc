#include "lp/packing/parts_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/lp/plain_certificate.hpp"
#include "tests/lp/plain_flow_lp.hpp"
#include "tests/lp/random_problems.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::parts_problem_test {
namespace {

using espalier::testing::draws;
using testing::kAllModels;
using testing::ModelKind;
using testing::ProblemShape;
using testing::random_problem;
using testing::RandomProblem;

// Both halves of an allreduce.
PartsProblem doubled_of(const RandomProblem& made) {
  return {made.graph, made.occupation, {{made.root}, {made.root, true}}};
}

class Doubled : public ::testing::TestWithParam<ModelKind> {
 protected:
  static RandomProblem draw(std::uint64_t seed) {
    const ProblemShape shape{.hosts = 3 + static_cast<std::uint32_t>(seed % 5),
                             .relays = static_cast<std::uint32_t>(seed % 3),
                             .extra_links = 6,
                             .shared_links = seed % 2 == 0 ? 2U : 0U};
    return random_problem(shape, GetParam(), seed);
  }
};

TEST_P(Doubled, SplitsIntoReduceAndBroadcastTreesAndJoinsThemAgain) {
  for (std::uint64_t seed = 1; seed <= draws(20); ++seed) {
    const RandomProblem made = draw(seed);
    SCOPED_TRACE(made.name);
    const PartsProblem doubled = doubled_of(made);
    for (const PackedTree& packed : pack_arborescences(doubled.problem()).trees) {
      const std::vector<RoutedTree> halves = doubled.split(packed.tree);
      const RoutedTree& down = halves[0];
      const RoutedTree& up = halves[1];
      ASSERT_EQ(up.edge_count(), made.graph.host_count() - 1);
      ASSERT_EQ(down.edge_count(), made.graph.host_count() - 1);
      std::vector<int> sends(made.graph.node_count);
      std::vector<int> receives(made.graph.node_count);
      for (std::size_t edge = 0; edge < up.edge_count(); ++edge) {
        for (const RoutedTree* half : {&up, &down}) {
          const auto path = half->path(edge);
          for (std::size_t hop = 1; hop < path.size(); ++hop) {
            EXPECT_EQ(made.graph.head[path[hop - 1]], made.graph.tail[path[hop]]);
          }
        }
        ++sends[made.graph.tail[up.path(edge).front()]];
        ++receives[made.graph.head[down.path(edge).back()]];
      }
      for (std::uint32_t node = 0; node < made.graph.node_count; ++node) {
        const int once = node != made.root && !made.graph.relay(node) ? 1 : 0;
        EXPECT_EQ(sends[node], once);
        EXPECT_EQ(receives[node], once);
      }
      const RoutedTree again = doubled.join(halves);
      EXPECT_EQ(doubled.split(again), halves);
      const std::vector<double> load = tree_load(doubled.problem().occupation, packed.tree);
      const std::vector<double> of_up = tree_load(made.occupation, up);
      const std::vector<double> of_down = tree_load(made.occupation, down);
      for (std::size_t r = 0; r < load.size(); ++r) {
        EXPECT_NEAR(load[r], of_up[r] + of_down[r], 1e-12 * load[r]);
      }
    }
  }
}

// The papers' flow LP on the doubled graph is independent of arborescences.
TEST_P(Doubled, PackingIsProvenAndAgreesWithTheFlowLp) {
  for (std::uint64_t seed = 1; seed <= draws(20); ++seed) {
    const RandomProblem made = draw(seed);
    SCOPED_TRACE(made.name);
    const PartsProblem doubled = doubled_of(made);
    const Packing packing = pack_arborescences(doubled.problem());
    EXPECT_EQ(packing_fault(doubled.problem(), packing), "");
    EXPECT_LE(packing.bound, packing.rate * (1 + 1e-6));
    const FlowSolution flow = solve_flow_lp(doubled.problem());
    ASSERT_EQ(flow.status, LpStatus::kOptimal);
    EXPECT_NEAR(packing.rate / flow.throughput, 1, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Doubled, ::testing::ValuesIn(kAllModels));

}  // namespace
}  // namespace espalier::lp::parts_problem_test
