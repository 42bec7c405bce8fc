// The best ring: against all orders of few hosts, and the same ring for every root and direction.
#include "planner/solve/ring_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "planner/problem/all_roots.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/draws.hpp"

namespace espalier::planner::ring_order_test {
namespace {

using espalier::testing::Dice;
using espalier::testing::draws;
using espalier::testing::Link;
using espalier::testing::PlainModel;
using espalier::testing::small_platform;
using platforms::Model;

// Links of 1 to 10 s/B between all hosts, of which each third is missing if `sparse`.
platforms::Platform random_platform(std::size_t hosts, std::uint64_t seed, bool sparse = false) {
  Dice dice(seed);
  std::vector<std::string> names;
  std::vector<Link> links;
  for (std::size_t i = 0; i < hosts; ++i) names.push_back("n" + std::to_string(i));
  for (std::size_t i = 0; i < hosts; ++i) {
    for (std::size_t j = 0; j < hosts; ++j) {
      const bool is_left_out = sparse && j != (i + 1) % hosts && dice.chance(1.0 / 3);
      if (i != j && !is_left_out) links.push_back({names[i], names[j], dice.between(1, 10)});
    }
  }
  return small_platform(names, links);
}

// The time of a byte once round the ring on its busiest resource; infinite where links are missing.
double period_of(const platforms::Platform& platform, const std::vector<std::uint32_t>& order,
                 Model model) {
  const PlainModel plain(platform, model, {});
  PlainModel::Load load = plain.no_load();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto arc = platform.find_arc(platforms::NodeId{order[i]},
                                       platforms::NodeId{order[(i + 1) % order.size()]});
    if (!arc) return std::numeric_limits<double>::infinity();
    const auto one = static_cast<std::uint32_t>(*arc);
    plain.add({&one, 1}, 1, load);
  }
  return std::ranges::max(load);
}

std::vector<std::uint32_t> found_order(const platforms::Platform& platform, Model model) {
  const Instance instance(platform, platform.hosts().front(), model);
  return ring_order(instance.fastest_host_arcs(), platform.hosts(), false, Deadline());
}

TEST(RingOrder, IsTheBestOfAllOrdersOrNearlySo) {
  for (const Model model : {Model::kOnePort, Model::kBoundedMultiPort}) {
    std::size_t best_found = 0;
    const std::uint64_t seeds = draws(20);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const platforms::Platform platform = random_platform(6, seed, seed % 2 == 0);
      const std::vector<std::uint32_t> found = found_order(platform, model);
      ASSERT_EQ(found.size(), 6U);
      ASSERT_EQ(found.front(), 0U);
      const double period = period_of(platform, found, model);
      double best = std::numeric_limits<double>::infinity();
      std::vector<std::uint32_t> order{0, 1, 2, 3, 4, 5};
      do {
        best = std::min(best, period_of(platform, order, model));
      } while (std::next_permutation(order.begin() + 1, order.end()));
      EXPECT_LE(period, 1.5 * best) << "seed " << seed;
      EXPECT_GE(period, best);
      if (period <= best * (1 + 1e-9)) ++best_found;
    }
    EXPECT_GE(best_found, seeds * 3 / 4) << platforms::name_of(model);
  }
}

// A reduce-scatter goes along the ring as an allgather does, and an allreduce along it twice.
TEST(RingOrder, IsTheSameForAllRootsAndBothDirections) {
  for (std::uint64_t seed = 1; seed <= draws(5); ++seed) {
    const platforms::Platform platform = random_platform(7, seed);
    const auto throughput = [&](Operation operation) {
      const AllRoots problem(operation, platform, Model::kOnePort);
      return throughput_of(run(find_algorithm("ring", operation), problem, {})).value;
    };
    const double spread = throughput(Operation::kAllgather);
    EXPECT_NEAR(spread * 6 / 7 *
                    period_of(platform, found_order(platform, Model::kOnePort), Model::kOnePort),
                1, 1e-9);
    EXPECT_NEAR(throughput(Operation::kReduceScatter), spread, 1e-9 * spread);
    EXPECT_NEAR(throughput(Operation::kAllreduce), spread / 2, 1e-9 * spread);
  }
}

}  // namespace
}  // namespace espalier::planner::ring_order_test
