// An allreduce that reduces along its broadcast's trees, where the network is the same both ways:
// as good as one that may reduce along any trees, from any root, and proven for both.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/collective_problem.hpp"
#include "tests/lp/plain_certificate.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::same_trees_test {
namespace {

using namespace espalier::testing;

constexpr std::size_t kMostHosts = 10;

// The same with the arcs of one direction in both; without shared links.
DrawnPlatform made_the_same_both_ways(const DrawnPlatform& drawn) {
  platforms::PlatformBuilder builder(drawn.platform.name());
  for (platforms::Node node : drawn.platform.nodes()) {
    node.receive = node.send;
    builder.add_node(std::move(node));
  }
  for (platforms::Arc arc : drawn.platform.arcs()) {
    if (arc.from > arc.to && drawn.platform.find_arc(arc.to, arc.from)) continue;
    builder.add_arc(arc);
    std::swap(arc.from, arc.to);
    std::swap(arc.send, arc.receive);
    builder.add_arc(arc);
  }
  return {std::move(builder).build(), drawn.source, drawn.options};
}

class SameTreesUnder : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, SameTreesUnder, ::testing::ValuesIn(model_names()),
                         [](const auto& test) { return case_name(test.param); });

TEST_P(SameTreesUnder, AreAsGoodAsAnyFromAnyRootWhereTheNetworkIsTheSameBothWays) {
  const platforms::Model model = platforms::parse_model(GetParam());
  const auto check = [&](const DrawnPlatform& drawn, const auto& trace) {
    SCOPED_TRACE(trace);
    const DrawnPlatform both = made_the_same_both_ways(drawn);
    const Collective collective = both.under(model, Operation::kAllreduce);
    const CollectiveProblem same(collective);
    // What a host spends on sending alone differs by direction.
    ASSERT_EQ(same.reduces_along_same_trees(), model != platforms::Model::kMultiPort);
    if (!same.reduces_along_same_trees()) return;
    const CollectiveProblem any(collective, ReducesAlong::kAnyTrees);
    const lp::Packing best = lp::pack_arborescences(any.problem());
    const Outcome proof = prove_optimum(collective, {});
    EXPECT_NEAR(throughput_of(proof).value / best.rate, 1, 2e-6);
    EXPECT_EQ(proof.reduce_trees.size(), proof.trees.size());
    const lp::Packing packed = lp::pack_arborescences(same.problem());
    const lp::Packing converted = any.converted(packed, same);
    EXPECT_NEAR(converted.rate / best.rate, 1, 2e-6);
    EXPECT_NEAR(lp::bound_from_prices(any.problem(), converted.prices) / best.rate, 1, 2e-6);
    const std::vector<double> prices =
        prices_by_row(proof.prices, collective.occupation().resources.size());
    EXPECT_NEAR(lp::bound_from_prices(any.problem(), prices) / best.rate, 1, 2e-6);

    const AllRoots free(Operation::kAllreduce, both.platform, model, both.options);
    const auto hosts = both.platform.hosts();
    const auto root = std::ranges::find(hosts, both.source) - hosts.begin();
    const auto halves = same.split(packed.trees.front().tree);
    lp::PackingOptions seeded;
    seeded.seeds = {
        free.parts().join(std::array{halves.up, halves.down}, static_cast<std::uint32_t>(root))};
    EXPECT_NEAR(lp::pack_arborescences(free.parts().problem(), seeded).rate / best.rate, 1, 2e-6);
  };
  for_each_platform(Operation::kAllreduce, draws(6), kMostHosts, model, check);
}

bool takes_same_trees(const std::vector<Link>& links) {
  const platforms::Platform platform = small_platform({"a", "b", "c"}, links);
  return CollectiveProblem(collective_of(platform, "a", Operation::kAllreduce))
      .reduces_along_same_trees();
}

TEST(SameTrees, AreNotTakenWhereRatesOrLatenciesDifferOrALinkHasNoOpposite) {
  EXPECT_TRUE(takes_same_trees({{"a", "b", 1}, {"b", "a", 1}, {"b", "c", 2}, {"c", "b", 2}}));
  EXPECT_FALSE(takes_same_trees({{"a", "b", 1}, {"b", "a", 1}, {"b", "c", 2}, {"c", "b", 3}}));
  EXPECT_FALSE(
      takes_same_trees({{"a", "b", 1}, {"b", "a", 1, 1e-3}, {"b", "c", 2}, {"c", "b", 2}}));
  EXPECT_FALSE(takes_same_trees({{"a", "b", 1}, {"b", "c", 1}, {"c", "a", 1}}));
}

}  // namespace
}  // namespace espalier::planner::same_trees_test
