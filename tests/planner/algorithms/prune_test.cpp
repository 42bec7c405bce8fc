#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "planner/registry.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::prune_test {
namespace {

using namespace espalier::testing;
using espalier::testing::run;

//          s               simple: drops b>c (6), then c>b (5); s>c (4) is then the only arc to c,
//      1 / | \ 4           and s>b (3) is dropped, because a leads to b.
//       v  |3 v
//       a  |  c            left: s>a, a>b, s>c: s is busy for 1 + 4
//     2 |  v ^| 5
//       +> b-+|
//          ^6-+            (b>c costs 6, c>b 5)
TEST(PruneSimple, DropsTheHeaviestUnneededArcs) {
  const auto platform = small_platform(
      {"s", "a", "b", "c"},
      {{"s", "a", 1}, {"s", "b", 3}, {"s", "c", 4}, {"a", "b", 2}, {"b", "c", 6}, {"c", "b", 5}});
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("prune-simple", instance), "s>a s>c a>b");
  EXPECT_DOUBLE_EQ(period(run("prune-simple", instance)), 5);
}

//        9                 The heaviest arc of all is the only one to a: it stays, and the arcs
//    s -----> a            after it are still tried.
//    |        |
//    | 2      | 1          s>b (2) is dropped before a>b (1).
//    +-> b <--+
TEST(PruneSimple, KeepsAHeavyArcThatIsNeeded) {
  const auto platform =
      small_platform({"s", "a", "b"}, {{"s", "a", 9}, {"s", "b", 2}, {"a", "b", 1}});
  EXPECT_EQ(tree_text("prune-simple", instance_of(platform, "s")), "s>a a>b");
}

//         s                Directed: a and b reach each other, and both are needed from the source;
//     3 /   \ 2            a graph "connected" by a<->b alone would lose s. b>a (1) is kept, a>b
//      v  1  v             (1.5) is not, though it is lighter than s>b.
//      a <=> b
//        1.5
TEST(PruneSimple, KeepsPathsFromTheSource) {
  const auto platform = small_platform(
      {"s", "a", "b"}, {{"s", "a", 3}, {"s", "b", 2}, {"b", "a", 1}, {"a", "b", 1.5}});
  EXPECT_EQ(tree_text("prune-simple", instance_of(platform, "s")), "s>b b>a");
}

//            s                 Out-degrees: s 6 (1 + 2 + 3), a 7 (3 + 4).
//     1 /  2 |  \ 3            1. a is greatest: drops a>c (4). a now has 3, recomputed.
//      v     v    v            2. s with 6 is now greatest: drop s>c (3)? c would be lost, as a>c
//      is a --> b    c               gone. s>b (2) is dropped: a leads to b. |  3       ^ left:
//      s>a, s>c, a>b: s is busy for 4.
//      +----------+ 4
// Without recomputing, a (7) would have been tried again and have lost a>b as well: s busy for 6.
TEST(PruneRefined, RecomputesTheOutDegreeAfterEachRemoval) {
  const auto platform =
      small_platform({"s", "a", "b", "c"},
                     {{"s", "a", 1}, {"s", "b", 2}, {"s", "c", 3}, {"a", "b", 3}, {"a", "c", 4}});
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("prune-refined", instance), "s>a s>c a>b");
  EXPECT_DOUBLE_EQ(period(run("prune-refined", instance)), 4);
}

//          s                   simple compares arcs: it drops a>c (4) and a>b (3) first, and s
//     1 /  | 2 \ 2             sends to all three for 5.
//      v   v    v              refined compares nodes: a (7) loses a>c, then s (5) loses s>b.
//      a-> b    c              3: s>a, s>c, a>b.
//      | 3      ^
//      +--------+ 4
TEST(PruneRefined, BeatsPruneSimpleWhereASenderHasManyLightArcs) {
  const auto platform =
      small_platform({"s", "a", "b", "c"},
                     {{"s", "a", 1}, {"s", "b", 2}, {"s", "c", 2}, {"a", "b", 3}, {"a", "c", 4}});
  const Instance instance = instance_of(platform, "s");
  EXPECT_DOUBLE_EQ(period(run("prune-simple", instance)), 5);
  EXPECT_DOUBLE_EQ(period(run("prune-refined", instance)), 3);
}

//    s ---- sw ---- b          Both paths through the switch load the link s>sw; there is a>b as
//      1    |   2              well. Refined: s's port carries 2, a's 1.5: s drops s>sw>b.
//           | 1      1.5
//           a -----> b
TEST(PruneRefined, CountsPathsThroughRelays) {
  const auto platform = small_platform(
      {"s", "a", "b", "sw"}, {{"s", "sw", 1}, {"sw", "a", 1}, {"sw", "b", 2}, {"a", "b", 1.5}});
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("prune-refined", instance), "s>sw>a a>b");
  EXPECT_EQ(tree_text("prune-simple", instance), "s>sw>a a>b");
}

// The weighted out-degree of a node: the largest total load of its paths on one resource. Updated
// incrementally as in the slides, so that rounding breaks ties in the same way.
class OutDegree {
 public:
  explicit OutDegree(const PlainModel& model) : load_(model.no_load()), paths_(load_.size(), 0) {}
  void add(const PlainModel::Load& path, int sign) {
    for (std::size_t r = 0; r < load_.size(); ++r) {
      if (path[r] == 0) continue;
      paths_[r] += sign;
      load_[r] = paths_[r] == 0 ? 0 : load_[r] + sign * path[r];
    }
  }
  [[nodiscard]] double value() const { return busiest(load_); }

 private:
  PlainModel::Load load_;
  std::vector<int> paths_;  // per resource
};

// The slides' two pruning procedures, literally: start again after every removal, and test
// connectivity by a search through all remaining paths. T of a path: its largest load on one
// resource.
class PlainPruning {
 public:
  explicit PlainPruning(const Instance& instance)
      : instance_(instance),
        model_(instance),
        paths_(fastest_host_paths(instance)),
        kept_(paths_.size(), true),
        out_degree_(instance.platform().nodes().size(), OutDegree(model_)) {
    for (const HostPath& path : paths_) {
      const PlainModel::Load load = model_.load_of(path.arcs);
      weight_.push_back(busiest(load));
      out_degree_[path.from].add(load, +1);
    }
  }

  lp::RoutedTree simple() {
    const std::vector<std::size_t> order = heaviest_first();
    while (kept_count() > instance_.host_count() - 1) {
      for (const std::size_t path : order) try_to_drop(path);
    }
    return tree();
  }

  lp::RoutedTree refined() {
    while (kept_count() > instance_.host_count() - 1) drop_one();
    return tree();
  }

 private:
  [[nodiscard]] std::size_t kept_count() const {
    return static_cast<std::size_t>(std::count(kept_.begin(), kept_.end(), true));
  }
  [[nodiscard]] std::vector<std::size_t> heaviest_first() const {
    std::vector<std::size_t> order(paths_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return weight_[a] > weight_[b]; });
    return order;
  }
  [[nodiscard]] bool connected() const {
    std::set<std::uint32_t> reached{static_cast<std::uint32_t>(instance_.source())};
    for (std::size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (std::size_t path = 0; path < paths_.size(); ++path) {
        if (kept_[path] && reached.contains(paths_[path].from)) reached.insert(paths_[path].to);
      }
    }
    return reached.size() == instance_.host_count();
  }
  bool try_to_drop(std::size_t path) {
    if (!kept_[path]) return false;
    kept_[path] = false;
    if (connected()) return true;
    kept_[path] = true;
    return false;
  }
  void drop_one() {
    std::vector<std::pair<double, std::uint32_t>> nodes;
    for (const platforms::NodeId host : instance_.platform().hosts()) {
      const auto node = static_cast<std::uint32_t>(host);
      nodes.emplace_back(out_degree_[node].value(), node);
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [degree, node] : nodes) {
      for (const std::size_t path : heaviest_first()) {
        if (paths_[path].from != node || !try_to_drop(path)) continue;
        out_degree_[node].add(model_.load_of(paths_[path].arcs), -1);
        return;
      }
    }
  }
  [[nodiscard]] lp::RoutedTree tree() const {
    lp::RoutedTree result;
    for (std::size_t path = 0; path < paths_.size(); ++path) {
      if (kept_[path]) result.add_edge(paths_[path].arcs);
    }
    return result;
  }

  const Instance& instance_;
  PlainModel model_;
  std::vector<HostPath> paths_;
  std::vector<bool> kept_;
  std::vector<double> weight_;
  std::vector<OutDegree> out_degree_;  // per node
};

class PruneModel : public ::testing::TestWithParam<std::string> {
 protected:
  template <class Plain>
  static void compare(std::string_view algorithm, Plain plain) {
    const platforms::Model model = platforms::parse_model(GetParam());
    for_each_platform(4, 10, model, [&](const DrawnPlatform& drawn, const auto& trace) {
      SCOPED_TRACE(trace);
      const Instance instance = drawn.under(model);
      PlainPruning pruning(instance);
      EXPECT_EQ(sorted_paths(run(algorithm, instance).trees[0].tree), sorted_paths(plain(pruning)));
    });
  }
};

TEST_P(PruneModel, SimpleLeavesTheTreeOfThePseudoCode) {
  compare("prune-simple", [](PlainPruning& plain) { return plain.simple(); });
}

TEST_P(PruneModel, RefinedLeavesTheTreeOfThePseudoCode) {
  compare("prune-refined", [](PlainPruning& plain) { return plain.refined(); });
}

INSTANTIATE_TEST_SUITE_P(Models, PruneModel, ::testing::ValuesIn(model_names()),
                         [](const auto& instance) { return case_name(instance.param); });

}  // namespace
}  // namespace espalier::planner::prune_test
