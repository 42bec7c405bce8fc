// One message along one tree: cases worked out by hand, and checks by other methods.
#include "planner/schedule/makespan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::makespan_test {
namespace {

using namespace espalier::testing;
using espalier::testing::run;  // not planner::run
using platforms::NodeId;
using platforms::Platform;

// The tree of these links, each one arc.
lp::RoutedTree tree_of(const Platform& platform,
                       const std::vector<std::pair<std::string, std::string>>& edges) {
  lp::RoutedTree tree;
  for (const auto& [from, to] : edges) {
    const auto arc = platform.find_arc(*platform.find_node(from), *platform.find_node(to));
    tree.arcs.push_back(static_cast<std::uint32_t>(arc.value()));
  }
  return tree;
}

double seconds(std::string_view algorithm, const Instance& instance, std::uint64_t bytes) {
  return atomic_makespan(instance, run(algorithm, instance).trees[0].tree, Bytes{bytes}).value;
}

TEST(Makespan, OfTheObliviousTreesOnEqualHosts) {
  for (const std::size_t hosts : {2U, 3U, 4U, 5U, 8U, 9U}) {
    const Platform platform = complete_platform(hosts, 1e6);
    const Instance instance = instance_of(platform, "n1");
    EXPECT_DOUBLE_EQ(seconds("flat", instance, 2'000'000), 2.0 * static_cast<double>(hosts - 1));
    EXPECT_DOUBLE_EQ(seconds("chain", instance, 2'000'000), 2.0 * static_cast<double>(hosts - 1));
    const double rounds = std::ceil(std::log2(static_cast<double>(hosts)));
    EXPECT_DOUBLE_EQ(seconds("binomial", instance, 2'000'000), 2 * rounds);
  }
}

//    a --1--> b --5--> d       A sender serves its children in the given order.
//     \--2--> c
TEST(Makespan, FollowsTheOrderOfTheChildren) {
  const Platform platform =
      small_platform({"a", "b", "c", "d"}, {{"a", "b", 1}, {"a", "c", 2}, {"b", "d", 5}});
  const Instance instance = instance_of(platform, "a");
  const auto makespan = [&](const std::vector<std::pair<std::string, std::string>>& edges) {
    return atomic_makespan(instance, tree_of(platform, edges), Bytes{10}).value;
  };
  EXPECT_DOUBLE_EQ(makespan({{"a", "b"}, {"a", "c"}, {"b", "d"}}), 60);
  EXPECT_DOUBLE_EQ(makespan({{"a", "c"}, {"a", "b"}, {"b", "d"}}), 80);
  // Only siblings have an order.
  EXPECT_DOUBLE_EQ(makespan({{"b", "d"}, {"a", "b"}, {"a", "c"}}), 60);
}

//    a --1--> b, a --10--> c: under multi-port a is busy for 0.8 s per byte and send
TEST(Makespan, UnderMultiPortSendsOverlap) {
  const Platform platform = small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"a", "c", 10}});
  const lp::RoutedTree tree = tree_of(platform, {{"a", "b"}, {"a", "c"}});
  const auto makespan = [&](const char* model) {
    return atomic_makespan(instance_of(platform, "a", model), tree, Bytes{1}).value;
  };
  EXPECT_DOUBLE_EQ(makespan("one-port"), 11);
  EXPECT_DOUBLE_EQ(makespan("multi-port"), 10.8);
  EXPECT_DOUBLE_EQ(makespan("bounded-multi-port"), 10);  // no caps
}

//    a --1--> b --1--> d       a>c and b>d share a link of 3 s per byte: a>c has it from 1 to 4,
//     \--1--> c                so that d has the message at 7.
TEST(Makespan, SendsWaitForASharedLink) {
  platforms::PlatformBuilder builder("shared");
  for (const char* name : {"a", "b", "c", "d"}) builder.node_named(name);
  const NodeId a{0};
  const NodeId b{1};
  const NodeId c{2};
  const NodeId d{3};
  for (const auto& [from, to] : std::vector<std::pair<NodeId, NodeId>>{{a, b}, {a, c}, {b, d}}) {
    builder.add_arc({from, to, {1}, {}, {}});
  }
  builder.add_shared_link("thin", {1.0 / 3}, {{a, c}, {b, d}});
  const Platform platform = std::move(builder).build();
  const Instance instance = instance_of(platform, "a");
  EXPECT_DOUBLE_EQ(
      atomic_makespan(instance, tree_of(platform, {{"a", "b"}, {"a", "c"}, {"b", "d"}}), Bytes{1})
          .value,
      7);
}

//    a --1--> b --1--> d       a>c and b>d share a link of 3 s/byte, b>d and f>e one of 2 s. At 1
//    |\--1--> c                b>d finds the first one busy until 4; at 3 f>e comes and takes the
//     \--1--> f --4--> e       second until 5. So e has the message at 7, d at 5 + 3.
TEST(Makespan, TheSendThatCanBeginFirstGoesFirst) {
  platforms::PlatformBuilder builder("shared");
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) builder.node_named(name);
  const NodeId a{0};
  const NodeId b{1};
  const NodeId c{2};
  const NodeId d{3};
  const NodeId e{4};
  const NodeId f{5};
  for (const auto& [from, to] :
       std::vector<std::pair<NodeId, NodeId>>{{a, b}, {a, c}, {a, f}, {b, d}}) {
    builder.add_arc({from, to, {1}, {}, {}});
  }
  builder.add_arc({f, e, {1.0 / 4}, {}, {}});
  builder.add_shared_link("first", {1.0 / 3}, {{a, c}, {b, d}});
  builder.add_shared_link("second", {1.0 / 2}, {{b, d}, {f, e}});
  const Platform platform = std::move(builder).build();
  const lp::RoutedTree tree =
      tree_of(platform, {{"a", "b"}, {"a", "c"}, {"a", "f"}, {"b", "d"}, {"f", "e"}});
  EXPECT_DOUBLE_EQ(atomic_makespan(instance_of(platform, "a"), tree, Bytes{1}).value, 8);
}

//    a --1--> b --2--> c: c is a's child, through b. Both of a's sends need its port and b's; the
//    second takes as long as its slower hop.
TEST(Makespan, APathThroughAHostOccupiesItsPorts) {
  const Platform platform = small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"b", "c", 2}});
  EXPECT_DOUBLE_EQ(seconds("flat", instance_of(platform, "a"), 1), 3);
  // One port for both directions of b: 1 + 2 s.
  EXPECT_DOUBLE_EQ(seconds("flat", instance_of(platform, "a", "one-port-unidirectional"), 1), 4);
}

//    a --> b --> c, 1 B/s, 5 s latency, 2 s overhead per segment
TEST(Makespan, LatenciesDelayAndOverheadsOccupy) {
  platforms::PlatformBuilder builder("affine");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  const NodeId c = builder.node_named("c");
  builder.add_arc({a, b, {1}, {5}, {2}});
  builder.add_arc({a, c, {1}, {5}, {2}});
  builder.add_arc({b, c, {1}, {5}, {2}});
  const Platform platform = std::move(builder).build();
  const auto makespan = [&](const char* algorithm, const platforms::OccupationOptions& options) {
    const Instance instance(platform, a, platforms::Model::kOnePort, options);
    return seconds(algorithm, instance, 20);
  };
  EXPECT_DOUBLE_EQ(makespan("chain", {}), 2 * (20 + 5));
  EXPECT_DOUBLE_EQ(makespan("flat", {}), 2 * 20 + 5);
  // Two segments of 10 bytes, each with its overhead.
  EXPECT_DOUBLE_EQ(makespan("chain", {Bytes{10}, false}), 2 * (2 * 12 + 5));
  EXPECT_DOUBLE_EQ(makespan("flat", {Bytes{10}, false}), 2 * 2 * 12 + 5);
  // Latencies that occupy do so once per segment, and add nothing else.
  EXPECT_DOUBLE_EQ(makespan("chain", {Bytes{10}, true}), 2 * 2 * 17);
  EXPECT_DOUBLE_EQ(makespan("flat", {Bytes{10}, true}), 2 * 2 * 17);
}

TEST(Makespan, OfATreeWithoutEdgesIsZero) {
  const Platform platform = small_platform({"a", "b"}, {{"a", "b", 1}});
  EXPECT_EQ(atomic_makespan(instance_of(platform, "a"), {}, Bytes{1}).value, 0);
}

// Under one-port, and without relays, sends never wait for other senders' sends: then a recursion
// over the tree gives the same.
TEST(Makespan, UnderOnePortEqualsTheRecursion) {
  std::size_t checked = 0;
  for_each_platform(10, 25, platforms::Model::kOnePort, [&](const auto& drawn, const auto& trace) {
    const Platform& platform = drawn.platform;
    if (platform.hosts().size() < platform.nodes().size() || !platform.shared_links().empty()) {
      return;
    }
    SCOPED_TRACE(trace);
    const Instance instance = drawn.under(platforms::Model::kOnePort);
    for (const char* algorithm : {"grow", "prune-simple"}) {
      const lp::RoutedTree tree = run(algorithm, instance).trees[0].tree;
      std::map<NodeId, std::vector<std::uint32_t>> children;
      for (const std::uint32_t arc : tree.arcs) {
        children[platform.arcs()[arc].from].push_back(arc);
      }
      const std::function<double(NodeId, double)> finish = [&](NodeId node, double at) {
        double last = at;
        for (const std::uint32_t id : children[node]) {
          const platforms::Arc& arc = platform.arcs()[id];
          at += 1000 * platforms::arc_seconds_per_byte(arc, drawn.options);
          const double latency = drawn.options.latency_occupies ? 0 : arc.latency.value;
          last = std::max(last, finish(arc.to, at + latency));
        }
        return last;
      };
      const double expected = finish(drawn.source, 0);
      EXPECT_NEAR(atomic_makespan(instance, tree, Bytes{1000}).value / expected, 1, 1e-12);
      ++checked;
    }
  });
  EXPECT_GE(checked, 100U);
}

// Under every model no host has the message before the slowest send of its path, and nothing is
// slower than one send after the other.
TEST(Makespan, IsBetweenTheSlowestSendAndAllInARow) {
  for (const std::string& model : espalier::testing::model_names()) {
    const platforms::Model its_model = platforms::parse_model(model);
    for_each_platform(5, 20, its_model, [&](const DrawnPlatform& drawn, const std::string& trace) {
      SCOPED_TRACE(trace);
      const Instance instance = drawn.under(its_model);
      for (const char* algorithm : {"grow", "binomial", "flat", "hierarchical"}) {
        const lp::RoutedTree tree = run(algorithm, instance).trees[0].tree;
        double slowest = 0;
        double in_a_row = 0;
        for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
          lp::RoutedTree alone;
          alone.add_edge(tree.path(edge));
          const std::vector<double> load = instance.load_seconds_per_byte(alone);
          double latency = 0;
          for (const std::uint32_t arc : alone.arcs) {
            if (!drawn.options.latency_occupies) {
              latency += drawn.platform.arcs()[arc].latency.value;
            }
          }
          const double send = 1e6 * *std::max_element(load.begin(), load.end()) + latency;
          slowest = std::max(slowest, send);
          in_a_row += send;
        }
        const double makespan = atomic_makespan(instance, tree, Bytes{1'000'000}).value;
        EXPECT_GE(makespan, slowest * (1 - 1e-12)) << algorithm;
        EXPECT_LE(makespan, in_a_row * (1 + 1e-12)) << algorithm;
      }
    });
  }
}

}  // namespace
}  // namespace espalier::planner::makespan_test
