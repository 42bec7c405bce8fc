#include "platforms/core/platform.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "platforms/core/reversed.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::platform_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

Node node(std::string name) {
  Node made;
  made.name = std::move(name);
  return made;
}

class Builder : public ::testing::Test {
 protected:
  void link(std::string_view from, std::string_view to, double bandwidth, double latency = 0,
            double overhead = 0) {
    builder_.add_arc(
        {builder_.node_named(from), builder_.node_named(to), {bandwidth}, {latency}, {overhead}});
  }
  std::string link_refusal(const Arc& arc) {
    return refusal([&] {
      builder_.add_arc(arc);
      return 0;
    });
  }

  PlatformBuilder builder_{"test"};
};

TEST_F(Builder, SortsArcsAndIndexesThem) {
  // b -> c was added before a -> b; the order does not matter.
  for (const char* const name : {"a", "b", "c"}) builder_.add_node(node(name));
  link("b", "c", 2);
  link("a", "c", 3);
  link("a", "b", 1);
  const Platform platform = std::move(builder_).build();
  EXPECT_EQ(platform.name(), "test");
  ASSERT_EQ(platform.arcs().size(), 3U);
  EXPECT_EQ(platform.arcs()[0].bandwidth.value, 1);
  EXPECT_EQ(platform.arcs()[1].bandwidth.value, 3);
  EXPECT_EQ(platform.arcs()[2].bandwidth.value, 2);
  EXPECT_EQ(platform.arcs_out_of(NodeId{0}).first, 0U);
  EXPECT_EQ(platform.arcs_out_of(NodeId{0}).last, 2U);
  EXPECT_EQ(platform.arcs_out_of(NodeId{2}).first, platform.arcs_out_of(NodeId{2}).last);
  EXPECT_EQ(platform.find_arc(NodeId{1}, NodeId{2}), ArcId{2});
  EXPECT_EQ(platform.find_arc(NodeId{2}, NodeId{1}), std::nullopt);
  EXPECT_EQ(platform.find_node("c"), NodeId{2});
  EXPECT_EQ(platform.find_node("d"), std::nullopt);
}

TEST_F(Builder, HostsAreTheNodesThatAreNotRelays) {
  builder_.add_node(node("a"));
  Node relay = node("switch");
  relay.relay = true;
  builder_.add_node(relay);
  builder_.add_node(node("b"));
  const Platform platform = std::move(builder_).build();
  EXPECT_THAT(std::vector(platform.hosts().begin(), platform.hosts().end()),
              ElementsAre(NodeId{0}, NodeId{2}));
}

TEST_F(Builder, AnEmptyPlatformHasNothing) {
  const Platform platform = std::move(builder_).build();
  EXPECT_TRUE(platform.nodes().empty());
  EXPECT_TRUE(platform.arcs().empty());
}

TEST_F(Builder, MergesParallelArcsWithANote) {
  link("a", "b", 1, 0.5, 7);
  link("a", "b", 2, 0.25, 8);
  link("b", "a", 5);
  std::vector<std::string> notes;
  const Platform platform = std::move(builder_).build(&notes);
  ASSERT_EQ(platform.arcs().size(), 2U);
  EXPECT_EQ(platform.arcs()[0].bandwidth.value, 3);
  EXPECT_EQ(platform.arcs()[0].latency.value, 0.25);
  EXPECT_EQ(platform.arcs()[0].overhead.value, 7);
  EXPECT_THAT(notes, ElementsAre("merged 2 parallel links a -> b"));
}

TEST_F(Builder, ManyMergesAreOneNote) {
  for (const char* const to : {"b", "c", "d", "e", "f"}) {
    link("a", to, 1);
    link("a", to, 1);
  }
  std::vector<std::string> notes;
  static_cast<void>(std::move(builder_).build(&notes));
  EXPECT_THAT(notes,
              ElementsAre("merged 10 parallel links a -> b, a -> c, a -> d and 2 more pairs"));
}

TEST_F(Builder, MergedSumsDoNotDependOnTheOrder) {
  const std::vector<double> bandwidths{0.1, 1e16, 0.3, -0.0 + 7, 1e-3};
  std::vector<double> reversed(bandwidths.rbegin(), bandwidths.rend());
  const auto sum = [](const std::vector<double>& list) {
    PlatformBuilder builder("x");
    const NodeId a = builder.node_named("a");
    const NodeId b = builder.node_named("b");
    for (const double bandwidth : list) builder.add_arc({a, b, {bandwidth}, {}, {}});
    return std::move(builder).build().arcs()[0].bandwidth.value;
  };
  EXPECT_EQ(sum(bandwidths), sum(reversed));
}

TEST_F(Builder, RefusesBadNames) {
  builder_.add_node(node("a"));
  const auto add = [&](const std::string& name) {
    return refusal([&] { return builder_.add_node(node(name)); });
  };
  EXPECT_EQ(add("a"), "two nodes are named 'a'");
  EXPECT_EQ(add(""), "a node's name must not be empty");
  EXPECT_EQ(add("a\nb"), "a node's name must be UTF-8 without control characters: 'a\\x0ab'");
  EXPECT_EQ(add("\xff"), "a node's name must be UTF-8 without control characters: '\\xff'");
}

TEST_F(Builder, RefusesBadCaps) {
  Node capped = node("a");
  capped.send = BytesPerSecond{0};
  EXPECT_EQ(refusal([&] { return builder_.add_node(capped); }),
            "the send cap of 'a' must be finite and positive, not 0 B/s");
  builder_.add_node(node("b"));
  builder_.nodes()[0].receive = BytesPerSecond{-1};
  EXPECT_EQ(refusal([&] { return std::move(builder_).build(); }),
            "the receive cap of 'b' must be finite and positive, not -1 B/s");
}

TEST(Positions, AreFiniteAndKeptWithOtherFigures) {
  PlatformBuilder builder("p");
  Node node;
  node.name = "a";
  node.position = Position{INFINITY, 0};
  EXPECT_EQ(refusal([&] { builder.add_node(node); }), "coordinates must be finite, not inf and 0");
  node.position = Position{2, -1};
  builder.add_node(node);
  const Platform platform = std::move(builder).build();
  const std::vector<Node> nodes(platform.nodes().begin(), platform.nodes().end());
  EXPECT_EQ(with_figures(platform, nodes, platform.arcs(), {}).nodes()[0].position,
            (Position{2, -1}));
  PlatformBuilder late("p");
  late.node_named("a");
  late.nodes()[0].position = Position{0, NAN};
  EXPECT_EQ(refusal([&] { return std::move(late).build(); }),
            "coordinates must be finite, not 0 and nan");
}

TEST(Prices, AreFiniteNotNegativeAndKept) {
  PlatformBuilder builder("p");
  builder.set_currency("USD");
  EXPECT_EQ(refusal([&] { builder.set_currency(""); }), "a currency must not be empty");
  Node host = node("a");
  host.price_per_hour = -1;
  EXPECT_EQ(refusal([&] { builder.add_node(host); }),
            "a price must be finite and not negative, not -1");
  host.price_per_hour = 2;
  const NodeId a = builder.add_node(host);
  const NodeId b = builder.node_named("b");
  Arc arc{a, b, {1}};
  arc.price_per_GB = INFINITY;
  EXPECT_EQ(refusal([&] { builder.add_arc(arc); }),
            "a price must be finite and not negative, not inf");
  for (const double price : {0.25, 0.5}) {  // merged at the higher one, in either order
    arc.price_per_GB = price;
    builder.add_both_ways(arc);
  }
  std::vector<std::string> notes;
  const Platform platform = std::move(builder).build(&notes);
  EXPECT_THAT(
      notes, ElementsAre("merged 4 parallel links a -> b, b -> a, at the highest of their prices"));
  const ReversedPlatform turned = reversed(platform);
  for (const Platform& each :
       {platform,
        with_figures(platform, {platform.nodes().begin(), platform.nodes().end()}, platform.arcs(),
                     {}),
        turned.platform}) {
    EXPECT_EQ(each.currency(), "USD");
    EXPECT_EQ(each.price_per_hour(), 2);
    EXPECT_EQ(each.arcs()[0].price_per_GB, 0.5);
    EXPECT_EQ(each.arcs()[1].price_per_GB, 0.5);
    EXPECT_TRUE(each.has_prices());
  }
  const Platform unpriced = with_prices(platform, std::vector<double>{0, 0}, "");
  EXPECT_FALSE(unpriced.has_prices());
  EXPECT_EQ(unpriced.currency(), "");
}

TEST_F(Builder, RefusesBadArcs) {
  const NodeId a = builder_.node_named("a");
  const NodeId b = builder_.node_named("b");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(link_refusal({a, a, {1}, {}, {}}), "a link from 'a' to itself");
  EXPECT_EQ(link_refusal({a, b, {0}, {}, {}}),
            "a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(link_refusal({a, b, {-5}, {}, {}}),
            "a bandwidth must be finite and positive, not -5 B/s");
  EXPECT_EQ(link_refusal({a, b, {kInfinity}, {}, {}}),
            "a bandwidth must be finite and positive, not inf B/s");
  EXPECT_EQ(link_refusal({a, b, {std::nan("")}, {}, {}}),
            "a bandwidth must be finite and positive, not nan B/s");
  EXPECT_NE(link_refusal({a, b, {5e-324}, {}, {}}), "(not refused)") << "its inverse overflows";
  EXPECT_EQ(link_refusal({a, b, {1}, {-1}, {}}),
            "a latency must be finite and not negative, not -1 s");
  EXPECT_EQ(link_refusal({a, b, {1}, {}, {kInfinity}}),
            "an overhead must be finite and not negative, not inf s");
}

TEST_F(Builder, RefusesAMergedBandwidthThatOverflows) {
  link("a", "b", 1.7e308);
  link("a", "b", 1.7e308);
  EXPECT_EQ(refusal([&] { return std::move(builder_).build(); }),
            "the bandwidth of merged parallel links must be finite and positive, not inf B/s");
}

class SharedLinks : public Builder {
 protected:
  SharedLinks() {
    link("a", "b", 1);
    link("b", "c", 1);
    link("c", "a", 1);
  }
  std::string build_refusal(std::vector<std::pair<NodeId, NodeId>> pairs) {
    builder_.add_shared_link("trunk", {1}, std::move(pairs));
    return refusal([&] { return std::move(builder_).build(); });
  }
  const NodeId a_{0};
  const NodeId b_{1};
  const NodeId c_{2};
};

TEST_F(SharedLinks, AreListedByArc) {
  builder_.add_shared_link("trunk", {4}, {{c_, a_}, {a_, b_}});
  const Platform platform = std::move(builder_).build();
  ASSERT_EQ(platform.shared_links().size(), 1U);
  EXPECT_EQ(platform.shared_links()[0].name, "trunk");
  EXPECT_EQ(platform.shared_links()[0].bandwidth.value, 4);
  EXPECT_THAT(platform.shared_links()[0].arcs, ElementsAre(ArcId{0}, ArcId{2}));
}

TEST_F(SharedLinks, RefuseBadNamesBandwidthsAndNoLinks) {
  const auto add = [&](std::string name, double bandwidth,
                       std::vector<std::pair<NodeId, NodeId>> pairs) {
    return refusal([&] {
      builder_.add_shared_link(std::move(name), {bandwidth}, std::move(pairs));
      return 0;
    });
  };
  EXPECT_EQ(add("", 1, {{a_, b_}}), "a shared link's name must not be empty");
  EXPECT_EQ(add("w", 0, {{a_, b_}}), "a bandwidth must be finite and positive, not 0 B/s");
  EXPECT_EQ(add("w", 1, {}), "shared link 'w' has no links");
  EXPECT_EQ(add("w", 1, {{a_, b_}}), "(not refused)");
  EXPECT_EQ(add("w", 1, {{a_, b_}}), "two shared links are named 'w'");
}

TEST_F(SharedLinks, RefusePairsWithoutALink) {
  EXPECT_EQ(build_refusal({{a_, b_}, {b_, a_}}),
            "shared link 'trunk': there is no link 'b' -> 'a'");
}

TEST_F(SharedLinks, RefusePairsNamedTwice) {
  EXPECT_EQ(build_refusal({{a_, b_}, {a_, b_}}),
            "shared link 'trunk': it lists more than once the link 'a' -> 'b'");
}

TEST_F(SharedLinks, RefuseParallelLinks) {
  link("a", "b", 1);
  EXPECT_EQ(build_refusal({{a_, b_}}),
            "shared link 'trunk': ambiguous, because there are parallel links 'a' -> 'b'");
}

}  // namespace
}  // namespace espalier::platforms::platform_test
