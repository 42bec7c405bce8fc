#include "platforms/core/faster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace espalier::platforms::faster_test {
namespace {

using namespace ::testing;

//     a --- b        arcs, sorted: 0 a->b 10 B/s, 1 a->sw 20, 2 b->a 30, 3 b->sw 40, 4 sw->b 50;
//      \   /         a sends at most 7 B/s and b receives at most 9; the shared link is on a->b
//       sw           and b->a
Platform triangle() {
  PlatformBuilder builder("triangle");
  const NodeId a = builder.add_node({"a", false, BytesPerSecond{7}, {}, {}});
  const NodeId b = builder.add_node({"b", false, {}, BytesPerSecond{9}, "rack"});
  const NodeId sw = builder.add_node({"sw", true, {}, {}, {}});
  builder.add_arc({a, b, {10}, {0.5}, {0.25}});
  builder.add_arc({a, sw, {20}, {}, {}});
  builder.add_arc({b, a, {30}, {}, {}});
  builder.add_arc({b, sw, {40}, {}, {}});
  builder.add_arc({sw, b, {50}, {}, {}});
  builder.add_shared_link("trunk", {60}, {{a, b}, {b, a}});
  return std::move(builder).build();
}

constexpr ArcId kAB{0};
constexpr ArcId kASw{1};
constexpr ArcId kBA{2};
constexpr ArcId kBSw{3};
constexpr ArcId kSwB{4};

Figures behind(Resource::Kind kind, std::uint32_t index, Model model) {
  return figures_behind({kind, index}, triangle(), model);
}

TEST(FiguresBehind, OnePortUsesLinksAndIgnoresCaps) {
  const Figures out = behind(Resource::Kind::kOutPort, 0, Model::kOnePort);
  EXPECT_THAT(out.links, ElementsAre(kAB, kASw));
  EXPECT_THAT(out.send_caps, IsEmpty());
  EXPECT_THAT(behind(Resource::Kind::kInPort, 1, Model::kOnePort).links, ElementsAre(kAB, kSwB));
  EXPECT_THAT(behind(Resource::Kind::kPort, 1, Model::kOnePortUnidirectional).links,
              ElementsAre(kAB, kBA, kBSw, kSwB));
}

TEST(FiguresBehind, MultiPortUsesTheSendCapIfThereIsOne) {
  const Figures capped = behind(Resource::Kind::kOutPort, 0, Model::kMultiPort);
  EXPECT_THAT(capped.send_caps, ElementsAre(NodeId{0}));
  EXPECT_THAT(capped.links, IsEmpty());
  EXPECT_THAT(behind(Resource::Kind::kOutPort, 1, Model::kMultiPort).links, ElementsAre(kBA, kBSw));
}

TEST(FiguresBehind, BoundedMultiPortUsesCaps) {
  EXPECT_THAT(behind(Resource::Kind::kOutPort, 0, Model::kBoundedMultiPort).send_caps,
              ElementsAre(NodeId{0}));
  EXPECT_THAT(behind(Resource::Kind::kInPort, 1, Model::kBoundedMultiPort).receive_caps,
              ElementsAre(NodeId{1}));
  EXPECT_THAT(behind(Resource::Kind::kLink, 3, Model::kBoundedMultiPort).links, ElementsAre(kBSw));
  EXPECT_THAT(behind(Resource::Kind::kSharedLink, 0, Model::kOnePort).shared, ElementsAre(0U));
}

// A processor's time is that of the links with rates of their own, and of its cap or its links.
TEST(FiguresBehind, AProcessorHasTheRatesOfItsLinks) {
  PlatformBuilder builder("rates");
  const NodeId a = builder.add_node({.name = "a", .send = BytesPerSecond{7}});
  const NodeId b = builder.node_named("b");
  const NodeId c = builder.node_named("c");
  builder.add_arc({.from = a, .to = b, .bandwidth = {10}, .send = BytesPerSecond{3}});
  builder.add_arc({.from = a, .to = c, .bandwidth = {10}});
  builder.add_arc({.from = b, .to = a, .bandwidth = {10}, .receive = BytesPerSecond{4}});
  const Platform platform = std::move(builder).build();
  const Figures at_a =
      figures_behind({Resource::Kind::kPort, 0}, platform, Model::kMultiPortProcessor);
  EXPECT_THAT(at_a.link_sends, ElementsAre(ArcId{0}));
  EXPECT_THAT(at_a.send_caps, ElementsAre(a));
  EXPECT_THAT(at_a.link_receives, ElementsAre(ArcId{2}));
  EXPECT_THAT(at_a.receive_caps, IsEmpty());
  EXPECT_THAT(at_a.links, IsEmpty());
  EXPECT_EQ(describe(at_a), "1 send cap, 1 link send rate, 1 link receive rate");
  const Platform twice = faster(platform, at_a, 2);
  EXPECT_EQ(twice.arc(ArcId{0}).send->value, 6);
  EXPECT_EQ(twice.arc(ArcId{2}).receive->value, 8);
  EXPECT_EQ(twice.node(a).send->value, 14);
}

TEST(FiguresBehind, UnionHasNoDuplicates) {
  const Figures both = union_of(behind(Resource::Kind::kOutPort, 0, Model::kOnePort),
                                behind(Resource::Kind::kInPort, 1, Model::kOnePort));
  EXPECT_THAT(both.links, ElementsAre(kAB, kASw, kSwB));
  EXPECT_EQ(describe(both), "3 links");
  EXPECT_EQ(describe({{kAB}, {NodeId{0}}, {NodeId{0}, NodeId{1}}, {0}}),
            "1 link, 1 send cap, 2 receive caps, 1 shared link");
}

TEST(Faster, ChangesOnlyTheGivenValues) {
  const Platform before = triangle();
  const Platform after = faster(before, {{kAB, kSwB}, {NodeId{0}}, {NodeId{1}}, {0}}, 2);
  EXPECT_EQ(after.name(), before.name());
  ASSERT_EQ(after.arcs().size(), before.arcs().size());
  const double bandwidths[]{20, 20, 30, 40, 100};
  for (std::size_t e = 0; e < after.arcs().size(); ++e) {
    EXPECT_EQ(after.arcs()[e].from, before.arcs()[e].from);
    EXPECT_EQ(after.arcs()[e].to, before.arcs()[e].to);
    EXPECT_EQ(after.arcs()[e].bandwidth.value, bandwidths[e]);
    EXPECT_EQ(after.arcs()[e].latency, before.arcs()[e].latency);
    EXPECT_EQ(after.arcs()[e].overhead, before.arcs()[e].overhead);
  }
  EXPECT_EQ(after.node(NodeId{0}).send->value, 14);
  EXPECT_EQ(after.node(NodeId{1}).receive->value, 18);
  EXPECT_EQ(after.node(NodeId{1}).group, "rack");
  EXPECT_TRUE(after.node(NodeId{2}).relay);
  EXPECT_EQ(after.shared_links()[0].bandwidth.value, 120);
  EXPECT_THAT(after.shared_links()[0].arcs, ElementsAre(kAB, kBA));
}

TEST(Faster, RefusesWhatIsFasterThanAllThatIsRead) {
  PlatformBuilder builder("fast");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  builder.add_arc({a, b, {kMostRate.value}, {}, {}});
  const Platform platform = std::move(builder).build();
  EXPECT_THROW(static_cast<void>(faster(platform, {{kAB}, {}, {}, {}}, 2)), InputError);
}

}  // namespace
}  // namespace espalier::platforms::faster_test
