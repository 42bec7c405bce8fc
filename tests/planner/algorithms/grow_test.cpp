#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "planner/registry.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::grow_test {
namespace {

using namespace espalier::testing;
using espalier::testing::run;

//        1
//    s -----> a        grow considers only the sender: s>b after s>a costs 1 + 5,
//    |        |        a>b costs 2
//    | 5      | 2
//    v        v
//    b <------+
TEST(Grow, TakesTheArcThatLeavesItsSenderLeastLoaded) {
  const auto platform =
      small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"s", "b", 5}, {"a", "b", 2}});
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("grow", instance), "s>a a>b");
  EXPECT_DOUBLE_EQ(period(run("grow", instance)), 2);
}

//          s                 With a and b added at 1 + 1.1, c costs s 3.3, less than a's 3.5.
//     1 /  | 1.1 \ 1.2       The slides' update would charge s for a twice, charge 4.3 for c, and
//      v   v      v          take a>c.
//      a   b      c
//      +----------^
//          3.5
TEST(Grow, CountsEarlierChildrenOnce) {
  const auto platform = small_platform(
      {"s", "a", "b", "c"}, {{"s", "a", 1}, {"s", "b", 1.1}, {"s", "c", 1.2}, {"a", "c", 3.5}});
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("grow", instance), "s>a s>b s>c");
  EXPECT_DOUBLE_EQ(period(run("grow", instance)), 3.3);
  EXPECT_EQ(tree_text("grow-as-printed", instance), "s>a s>b a>c");
  EXPECT_DOUBLE_EQ(period(run("grow-as-printed", instance)), 3.5);
}

// The printed cost doubles with every child, and overflows a double after some thousand of them.
TEST(Grow, AsPrintedSurvivesCostsThatOverflow) {
  std::vector<std::string> nodes{"s"};
  std::vector<espalier::testing::Link> links;
  for (int i = 0; i < 1200; ++i) {
    nodes.push_back("h" + std::to_string(i));
    links.push_back({"s", nodes.back(), 1});
  }
  const auto platform = small_platform(nodes, links);
  EXPECT_DOUBLE_EQ(period(run("grow-as-printed", instance_of(platform, "s"))), 1200);
}

//          s               One-port unidirectional: what a receives keeps its port busy too, so
//      2 /   \ 3           a>b costs 2 + 2.5, less than the 2 + 3 of s>b; c is cheapest from b.
//       v  2.5 v
//       a ---> b --> c     b's port: 2.5 in, 1 out
//                 1
TEST(Grow, CountsReceivesOnAPortForBothDirections) {
  const auto platform = small_platform(
      {"s", "a", "b", "c"}, {{"s", "a", 2}, {"s", "b", 3}, {"a", "b", 2.5}, {"b", "c", 1}});
  const Instance instance = instance_of(platform, "s", "one-port-unidirectional");
  EXPECT_EQ(tree_text("grow", instance), "s>a a>b b>c");
  EXPECT_DOUBLE_EQ(period(run("grow", instance)), 4.5);
}

//            s
//     1 / 1 |  \ 2.5         send_s = 0.8 * 1. Children of s cost max(d * 0.8, T): 1, 1.6 and
//      v    v    v           max(2.4, 2.5) = 2.5; a>c costs max(0.8 * 2.6, 2.6) = 2.6.
//      a    b    c
//      +---------^
//          2.6
TEST(Grow, UnderMultiPortChargesSendTimesOrTheLongestLink) {
  const auto platform = small_platform(
      {"s", "a", "b", "c"}, {{"s", "a", 1}, {"s", "b", 1}, {"s", "c", 2.5}, {"a", "c", 2.6}});
  const Instance instance = instance_of(platform, "s", "multi-port");
  EXPECT_EQ(tree_text("grow", instance), "s>a s>b s>c");
  EXPECT_DOUBLE_EQ(period(run("grow", instance)), 2.5);
}

//        s                  send_s = 0.8, so the second child is charged 1.6 by the port though
//    1 /   \ 1              its link takes 1; a>b costs 1.5.
//     v 1.5 v
//     a --> b
TEST(Grow, UnderMultiPortChargesTheSecondChildBySendTimes) {
  const auto platform =
      small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"s", "b", 1}, {"a", "b", 1.5}});
  const Instance instance = instance_of(platform, "s", "multi-port");
  EXPECT_EQ(tree_text("grow", instance), "s>a a>b");
  EXPECT_DOUBLE_EQ(period(run("grow", instance)), 1.5);
}

//    s ==== sw ---> b       s>sw takes 1, sw>a and sw>b 1 each, a>b 1.5: a second path through the
//            |      ^       switch would load s's port and the link s>sw with 2
//            v 1    |
//            a -----+ 1.5
TEST(Grow, ChargesTheLinkToASwitchForEveryPathThroughIt) {
  const auto platform = small_platform(
      {"s", "a", "b", "sw"}, {{"s", "sw", 1}, {"sw", "a", 1}, {"sw", "b", 1}, {"a", "b", 1.5}});
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("grow", instance), "s>sw>a a>b");
  EXPECT_DOUBLE_EQ(period(run("grow", instance)), 1.5);
}

// The platform drawn in platforms/data/README.md, by hand in units of a segment of 12 MB. Each step
// takes the least weighted out-degree: P0>P1 2, P1>P2 2, P2>P3 1, P2>P5 1 + 2, P5>P4 1, P5>P6 1 +
// 2, P6>P7 1.
TEST(Grow, OnTheSketchOfTheSlides) {
  const auto platform = sample_platform("seed-sketch.json");
  const Instance instance = instance_of(platform, "P0");
  EXPECT_EQ(tree_text("grow", instance), "P0>P1 P1>P2 P2>P3 P2>P5 P5>P4 P5>P6 P6>P7");
  EXPECT_NEAR(period(run("grow", instance)) * 12e6, 3, 1e-9);
}

// GROWING-MINIMUM-WEIGHTED-OUT-DEGREE-TREE, considering every path in every step. cost(u,v) is the
// resulting load of the resources that the path occupies.
class PlainGrow {
 public:
  explicit PlainGrow(const Instance& instance)
      : instance_(instance), model_(instance), paths_(fastest_host_paths(instance)) {}

  lp::RoutedTree grow() {
    lp::RoutedTree tree;
    std::set<std::uint32_t> in_tree{static_cast<std::uint32_t>(instance_.source())};
    while (in_tree.size() < instance_.host_count()) {
      const HostPath* cheapest = nullptr;
      double least = std::numeric_limits<double>::infinity();
      for (const HostPath& path : paths_) {
        if (!in_tree.contains(path.from) || in_tree.contains(path.to)) continue;
        const double cost = cost_of(path);
        if (cost >= least) continue;
        least = cost;
        cheapest = &path;
      }
      in_tree.insert(cheapest->to);
      tree.add_edge(cheapest->arcs);
      model_.add(cheapest->arcs, 1, load_);
    }
    return tree;
  }

 private:
  [[nodiscard]] double cost_of(const HostPath& path) const {
    const PlainModel::Load own = model_.load_of(path.arcs);
    double cost = 0;
    for (std::size_t r = 0; r < own.size(); ++r) {
      if (own[r] > 0) cost = std::max(cost, load_[r] + own[r]);
    }
    return cost;
  }

  const Instance& instance_;
  PlainModel model_;
  std::vector<HostPath> paths_;
  PlainModel::Load load_ = model_.no_load();
};

class GrowModel : public ::testing::TestWithParam<std::string> {};

TEST_P(GrowModel, GrowsTheTreeOfThePseudoCode) {
  const platforms::Model model = platforms::parse_model(GetParam());
  for_each_platform(6, 14, model, [&](const DrawnPlatform& drawn, const auto& trace) {
    SCOPED_TRACE(trace);
    const Instance instance = drawn.under(model);
    const lp::RoutedTree plain = PlainGrow(instance).grow();
    const Outcome grown = run("grow", instance);
    EXPECT_EQ(sorted_paths(grown.trees[0].tree), sorted_paths(plain));
    EXPECT_NEAR(grown.trees[0].rate.value / PlainModel(instance).throughput(plain), 1, 1e-12);
  });
}

INSTANTIATE_TEST_SUITE_P(Models, GrowModel, ::testing::ValuesIn(model_names()),
                         [](const auto& instance) { return case_name(instance.param); });

}  // namespace
}  // namespace espalier::planner::grow_test
