// FNF, ECEF and ECEF with look-ahead: trees for one message.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "planner/registry.hpp"
#include "planner/schedule/makespan.hpp"
#include "tests/planner/references/plain_model.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::atomic_test {
namespace {

using namespace espalier::testing;
using espalier::testing::run;
using platforms::NodeId;
using platforms::Platform;

constexpr Bytes kMessage{1 << 20};  // the default
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// For messages of one byte: a send takes the link's seconds per byte.
double makespan(std::string_view algorithm, const Instance& instance) {
  const lp::RoutedTree tree = run(algorithm, instance).trees[0].tree;
  return atomic_makespan(instance, tree, Bytes{1}).value;
}

//    s --5--> a          a is the faster sender (0.5), so FNF waits for its slow in-link; ECEF has
//    |        |^         been to b and back by then.
//    1      .5||1
//    +-----> b+
TEST(Fnf, ServesTheFastestHostFirstHoweverSlowItsInLink) {
  const Platform platform = small_platform(
      {"s", "a", "b"}, {{"s", "a", 5}, {"s", "b", 1}, {"a", "b", 0.5}, {"b", "a", 1}});
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("fnf", instance), "s>a a>b");
  EXPECT_DOUBLE_EQ(makespan("fnf", instance), 5.5);
  EXPECT_EQ(tree_text("ecef", instance), "s>b b>a");
  EXPECT_DOUBLE_EQ(makespan("ecef", instance), 2);
}

// Bhat's matrix form: all sends of a host take the same time. From s (2): f (1) at 2; then m (3): s
// could be done at 4, f at 3; then n (4): s at 4, f at 4, m at 6: the lower-numbered of the two.
TEST(Fnf, SendsFromTheHostThatReachesTheReceiverFirst) {
  std::vector<testing::Link> links;
  const std::vector<std::pair<std::string, double>> hosts{{"s", 2}, {"n", 4}, {"f", 1}, {"m", 3}};
  for (const auto& [from, time] : hosts) {
    for (const auto& [to, other] : hosts) {
      if (from != to) links.push_back({from, to, time});
    }
  }
  const Platform platform = small_platform({"s", "n", "f", "m"}, links);
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("fnf", instance), "s>f f>m s>n");
  EXPECT_DOUBLE_EQ(makespan("fnf", instance), 4);
}

//    s --> r --> f       f is the fastest, but only r can reach it; r has no candidate
TEST(Fnf, TakesTheFastestOfThoseThatCanBeReached) {
  const Platform platform = small_platform(
      {"s", "f", "r", "x"}, {{"s", "r", 2}, {"r", "f", 2}, {"f", "x", 0.1}, {"s", "x", 3}});
  EXPECT_EQ(tree_text("fnf", instance_of(platform, "s")), "s>r r>f f>x");
}

//             a      a is reached fast but slow to send (10); b is reached in 2 s, sends in 1 s.
//    s --1--> a      ECEF: a at 1, b at 3, c at 4, d at 5.
//     \--2--> b --1--> c, d, a
TEST(EcefLookAhead, CountsTheReceiversNextSend) {
  const Platform platform = small_platform({"s", "a", "b", "c", "d"}, {{"s", "a", 1},
                                                                       {"s", "b", 2},
                                                                       {"s", "c", 10},
                                                                       {"s", "d", 10},
                                                                       {"a", "b", 10},
                                                                       {"a", "c", 10},
                                                                       {"a", "d", 10},
                                                                       {"b", "a", 1},
                                                                       {"b", "c", 1},
                                                                       {"b", "d", 1},
                                                                       {"c", "a", 10},
                                                                       {"c", "b", 10},
                                                                       {"c", "d", 10},
                                                                       {"d", "a", 10},
                                                                       {"d", "b", 10},
                                                                       {"d", "c", 10}});
  AlgorithmOptions options;
  options.message = Bytes{1};
  const Instance instance = instance_of(platform, "s");
  const auto text = [&](const char* algorithm) {
    return testing::text_of(run(algorithm, instance, options).trees[0].tree, platform);
  };
  EXPECT_EQ(text("ecef"), "s>a s>b b>c b>d");
  EXPECT_DOUBLE_EQ(makespan("ecef", instance), 5);
  EXPECT_EQ(text("ecef-lookahead"), "s>b s>a b>c b>d");
  EXPECT_DOUBLE_EQ(makespan("ecef-lookahead", instance), 4);
}

//    s --1--> leaf       the leaf can wait: no host depends on it
//     \--2--> f --1--> x
TEST(EcefLookAhead, HostsThatCannotSendComeLast) {
  const Platform platform =
      small_platform({"s", "leaf", "f", "x"}, {{"s", "leaf", 1}, {"s", "f", 2}, {"f", "x", 1}});
  const Instance instance = instance_of(platform, "s");
  EXPECT_EQ(tree_text("ecef", instance), "s>leaf s>f f>x");
  EXPECT_DOUBLE_EQ(makespan("ecef", instance), 4);
  EXPECT_EQ(tree_text("ecef-lookahead", instance), "s>f s>leaf f>x");
  EXPECT_DOUBLE_EQ(makespan("ecef-lookahead", instance), 3);
}

// Equal hosts: the number of hosts that have the message doubles in each round, which is optimal.
TEST(Ecef, IsOptimalAmongEqualHosts) {
  for (std::size_t hosts = 2; hosts <= 17; ++hosts) {
    const Platform platform = complete_platform(hosts, 1);
    const Instance instance = instance_of(platform, "n1");
    const double rounds = std::ceil(std::log2(static_cast<double>(hosts)));
    for (const char* algorithm : {"fnf", "ecef", "ecef-lookahead"}) {
      EXPECT_DOUBLE_EQ(makespan(algorithm, instance), rounds) << algorithm << ' ' << hosts;
    }
  }
}

//    a -- 1 MB/s, 9 s latency --> b     For a small message b's latency dominates, for a large one
//     \-- .5 MB/s ---> c --2 MB/s--> b  c's bandwidth.
TEST(Ecef, PlansForTheMessageItIsGiven) {
  platforms::PlatformBuilder builder("sizes");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  const NodeId c = builder.node_named("c");
  builder.add_arc({a, b, {1e6}, {9}, {}});
  builder.add_arc({a, c, {0.5e6}, {}, {}});
  builder.add_arc({c, b, {2e6}, {}, {}});
  const Platform platform = std::move(builder).build();
  const Instance instance = instance_of(platform, "a");
  const auto text = [&](std::uint64_t bytes) {
    AlgorithmOptions options;
    options.message = Bytes{bytes};
    return testing::text_of(run("ecef", instance, options).trees[0].tree, platform);
  };
  EXPECT_EQ(text(1'000'000), "a>c c>b");
  EXPECT_EQ(text(100'000'000), "a>b a>c");
}

// A second implementation of the definition, on the plain model: it considers all pairs for every
// send.
class PlainGreedy {
 public:
  explicit PlainGreedy(const Instance& instance)
      : instance_(instance),
        plain_(instance),
        paths_(fastest_host_paths(instance)),
        free_(plain_.no_load()),
        has_message_(instance.platform().nodes().size(), kInfinity) {
    has_message_[index_of(instance.source())] = 0;
    for (const HostPath& path : paths_) loads_.push_back(plain_.load_of(path.arcs));
  }

  lp::RoutedTree ecef(bool look_ahead) {
    lp::RoutedTree tree;
    while (tree.edge_count() + 1 < instance_.host_count()) {
      std::tuple best(kInfinity, kInfinity, paths_.size());
      for (std::size_t i = 0; i < paths_.size(); ++i) {
        if (!has(paths_[i].from) || has(paths_[i].to)) continue;
        const double completion = start(i) + cost(i);
        const double ahead = look_ahead ? cheapest_next(paths_[i].to) : 0;
        best = std::min(best, std::tuple(completion + ahead, completion, i));
      }
      send(std::get<2>(best), tree);
    }
    return tree;
  }

  lp::RoutedTree fnf() {
    lp::RoutedTree tree;
    while (tree.edge_count() + 1 < instance_.host_count()) {
      std::tuple best(kInfinity, UINT32_MAX, kInfinity, UINT32_MAX, paths_.size());
      for (std::size_t i = 0; i < paths_.size(); ++i) {
        const HostPath& path = paths_[i];
        if (!has(path.from) || has(path.to)) continue;
        best = std::min(best,
                        std::tuple(send_time(path.to), path.to, start(i) + cost(i), path.from, i));
      }
      send(std::get<4>(best), tree);
    }
    return tree;
  }

 private:
  [[nodiscard]] bool has(std::uint32_t node) const { return has_message_[node] < kInfinity; }
  [[nodiscard]] double start(std::size_t i) const {
    double at = has_message_[paths_[i].from];
    for (std::size_t r = 0; r < free_.size(); ++r) {
      if (loads_[i][r] > 0) at = std::max(at, free_[r]);
    }
    return at;
  }
  [[nodiscard]] double cost(std::size_t i) const {
    double latency = 0;
    for (const std::uint32_t arc : paths_[i].arcs) {
      if (!instance_.options().latency_occupies) {
        latency += instance_.platform().arcs()[arc].latency.value;
      }
    }
    return espalier::testing::busiest(loads_[i]) * static_cast<double>(kMessage.value) + latency;
  }
  [[nodiscard]] double cheapest_next(std::uint32_t host) const {
    double least = kInfinity;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (paths_[i].from == host && !has(paths_[i].to)) least = std::min(least, cost(i));
    }
    return least;
  }
  [[nodiscard]] double send_time(std::uint32_t host) const {
    double least = kInfinity;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (paths_[i].from == host) least = std::min(least, espalier::testing::busiest(loads_[i]));
    }
    return least;
  }
  void send(std::size_t i, lp::RoutedTree& tree) {
    const double begin = start(i);
    has_message_[paths_[i].to] = begin + cost(i);
    for (std::size_t r = 0; r < free_.size(); ++r) {
      if (loads_[i][r] > 0) {
        free_[r] = begin + loads_[i][r] * static_cast<double>(kMessage.value);
      }
    }
    tree.add_edge(paths_[i].arcs);
  }

  const Instance& instance_;
  PlainModel plain_;
  std::vector<HostPath> paths_;
  std::vector<PlainModel::Load> loads_;
  PlainModel::Load free_;
  std::vector<double> has_message_;
};

class Atomic : public ::testing::TestWithParam<std::string> {
 protected:
  static platforms::Model model() { return platforms::parse_model(GetParam()); }
};

TEST_P(Atomic, MakesTheTreesOfThePlainDefinition) {
  for_each_platform(8, 12, model(), [](const DrawnPlatform& drawn, const std::string& trace) {
    SCOPED_TRACE(trace);
    const Instance instance = drawn.under(model());
    const auto paths = [&](const char* algorithm) {
      return sorted_paths(run(algorithm, instance).trees[0].tree);
    };
    EXPECT_EQ(paths("ecef"), sorted_paths(PlainGreedy(instance).ecef(false)));
    EXPECT_EQ(paths("ecef-lookahead"), sorted_paths(PlainGreedy(instance).ecef(true)));
    EXPECT_EQ(paths("fnf"), sorted_paths(PlainGreedy(instance).fnf()));
  });
}

INSTANTIATE_TEST_SUITE_P(Models, Atomic, ::testing::ValuesIn(model_names()),
                         [](const auto& instance) { return case_name(instance.param); });

// The least makespan of all schedules, by trying every order of sends between `hosts` under
// one-port. cost[i][j]: seconds; host 0 is the source.
class AllSchedules {
 public:
  explicit AllSchedules(std::vector<std::vector<double>> cost)
      : cost_(std::move(cost)), free_(cost_.size(), kInfinity) {
    free_[0] = 0;
  }
  double least() {
    extend(1, 0);
    return least_;
  }

 private:
  void extend(std::size_t served, double so_far) {
    if (so_far >= least_) return;
    if (served == cost_.size()) least_ = so_far;
    for (std::size_t i = 0; i < cost_.size(); ++i) {
      for (std::size_t j = 0; j < cost_.size() && free_[i] < kInfinity; ++j) {
        if (free_[j] < kInfinity) continue;
        const double before = free_[i];
        free_[i] = free_[j] = before + cost_[i][j];
        extend(served + 1, std::max(so_far, free_[j]));
        free_[i] = before;
        free_[j] = kInfinity;
      }
    }
  }
  std::vector<std::vector<double>> cost_;
  std::vector<double> free_;  // from when a host can send
  double least_ = kInfinity;
};

TEST(AtomicOptimum, NoTreeBeatsTheBestOfAllSchedules) {
  Dice dice(11);
  std::size_t reached = 0;
  double worst = 1;
  for (int round = 0; round < 200; ++round) {
    const std::size_t hosts = dice.from_to(2, 5);
    platforms::PlatformBuilder builder("small");
    std::vector<std::vector<double>> cost(hosts, std::vector<double>(hosts, 0));
    for (std::uint32_t i = 0; i < hosts; ++i) builder.node_named("n" + std::to_string(i));
    for (std::uint32_t i = 0; i < hosts; ++i) {
      for (std::uint32_t j = 0; j < hosts; ++j) {
        if (i == j) continue;
        cost[i][j] = dice.between(1, 10);
        builder.add_arc({NodeId{i}, NodeId{j}, {1 / cost[i][j]}, {}, {}});
      }
    }
    const Platform platform = std::move(builder).build();
    const Instance instance = instance_of(platform, "n0");
    const double least = AllSchedules(cost).least();
    for (const AlgorithmEntry& entry : algorithms()) {
      if (!entry.is_for(instance)) continue;
      const Outcome outcome = entry.run(instance, {});
      if (outcome.trees.size() != 1) continue;
      const double its = atomic_makespan(instance, outcome.trees[0].tree, Bytes{1}).value;
      EXPECT_GE(its, least * (1 - 1e-9)) << entry.name << ", round " << round;
      if (entry.name == "ecef") {
        worst = std::max(worst, its / least);
        if (its <= least * (1 + 1e-9)) ++reached;
      }
    }
  }
  // Observed: the optimum in 139 of the 200 rounds, and at worst 1.61 times the best.
  EXPECT_GE(reached, 100U);
  EXPECT_LE(worst, 2);
}

}  // namespace
}  // namespace espalier::planner::atomic_test
