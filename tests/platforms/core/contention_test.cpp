#include "platforms/core/contention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "platforms/core/reversed.hpp"
#include "platforms/formats/formats.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::contention_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

// The occupation by one or more arcs: seconds per byte, by resource name.
using Load = std::map<std::string, double>;

class Columns {
 public:
  Columns(const Platform& platform, Model model, const OccupationOptions& options = {})
      : platform_(platform), occupation_(occupation(platform, model, options)) {}

  [[nodiscard]] Load of(std::string_view from, std::string_view to) const {
    const auto arc = platform_.find_arc(*platform_.find_node(from), *platform_.find_node(to));
    Load load;
    for (Eigen::SparseMatrix<double>::InnerIterator entry(
             occupation_.seconds_per_byte, static_cast<Eigen::Index>(index_of(arc.value())));
         entry; ++entry) {
      load[describe(occupation_.resources[static_cast<std::size_t>(entry.row())], platform_)] =
          entry.value();
    }
    return load;
  }
  [[nodiscard]] Load of_path(const std::vector<std::string>& nodes) const {
    Load sum;
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      for (const auto& [name, seconds] : of(nodes[i - 1], nodes[i])) sum[name] += seconds;
    }
    return sum;
  }
  [[nodiscard]] std::vector<std::string> rows() const {
    std::vector<std::string> names;
    for (const Resource& resource : occupation_.resources) {
      names.push_back(describe(resource, platform_));
    }
    return names;
  }
  [[nodiscard]] const Occupation& occupation_matrix() const { return occupation_; }

 private:
  const Platform& platform_;
  Occupation occupation_;
};

Platform platform_of(const std::string& nodes, const std::string& links,
                     const std::string& shared = "") {
  return parse_platform(R"({"format": "espalier-platform", "version": 1, "name": "t", "nodes": [)" +
                            nodes + R"(], "links": [)" + links + "]" +
                            (shared.empty() ? "" : R"(, "shared": [)" + shared + "]") + "}",
                        "test")
      .platform;
}

//        1/2        1/4          each arc's T in seconds per byte;
//    a -------> b -------> c     a may send 8 B/s, b send 5 and receive 10
//     \___________________/
//              1/10
class Triangle : public ::testing::Test {
 protected:
  const Platform platform_ = platform_of(
      R"({"name": "a", "send_Bps": 8}, {"name": "b", "send_Bps": 5, "receive_Bps": 10},
         {"name": "c"})",
      R"({"from": "a", "to": "b", "bandwidth_Bps": 2},
         {"from": "b", "to": "c", "bandwidth_Bps": 4},
         {"from": "a", "to": "c", "bandwidth_Bps": 10})");
};

TEST_F(Triangle, OnePort) {
  const Columns a(platform_, Model::kOnePort);
  EXPECT_THAT(a.rows(),
              ElementsAre("out-port of a", "out-port of b", "in-port of b", "in-port of c"));
  EXPECT_EQ(a.of("a", "b"), (Load{{"out-port of a", 0.5}, {"in-port of b", 0.5}}));
  EXPECT_EQ(a.of("b", "c"), (Load{{"out-port of b", 0.25}, {"in-port of c", 0.25}}));
  EXPECT_EQ(a.of("a", "c"), (Load{{"out-port of a", 0.1}, {"in-port of c", 0.1}}));
}

TEST_F(Triangle, OnePortUnidirectional) {
  const Columns a(platform_, Model::kOnePortUnidirectional);
  EXPECT_THAT(a.rows(), ElementsAre("port of a", "port of b", "port of c"));
  EXPECT_EQ(a.of("a", "b"), (Load{{"port of a", 0.5}, {"port of b", 0.5}}));
  EXPECT_EQ(a.of("b", "c"), (Load{{"port of b", 0.25}, {"port of c", 0.25}}));
}

TEST_F(Triangle, MultiPortTakesTheSendCapAsSendTime) {
  const Columns a(platform_, Model::kMultiPort);
  EXPECT_THAT(a.rows(), ElementsAre("out-port of a", "out-port of b", "link a -> b", "link a -> c",
                                    "link b -> c"));
  EXPECT_EQ(a.of("a", "b"), (Load{{"out-port of a", 0.125}, {"link a -> b", 0.5}}));
  EXPECT_EQ(a.of("a", "c"), (Load{{"out-port of a", 0.125}, {"link a -> c", 0.1}}));
  EXPECT_EQ(a.of("b", "c"), (Load{{"out-port of b", 0.2}, {"link b -> c", 0.25}}));
}

TEST_F(Triangle, BoundedMultiPort) {
  const Columns a(platform_, Model::kBoundedMultiPort);
  EXPECT_THAT(a.rows(), ElementsAre("out-port of a", "out-port of b", "in-port of b", "link a -> b",
                                    "link a -> c", "link b -> c"));
  EXPECT_EQ(a.of("a", "b"),
            (Load{{"out-port of a", 0.125}, {"in-port of b", 0.1}, {"link a -> b", 0.5}}));
  EXPECT_EQ(a.of("b", "c"), (Load{{"out-port of b", 0.2}, {"link b -> c", 0.25}}))
      << "c has no caps, so it is not a resource";
}

//    a ---1/4---> b      without a cap: s_a = 0.8 * min(1/4, 1/10)
//     \---1/10--> c
TEST(MultiPort, SendTimeComesFromTheFastestArc) {
  const Platform platform = platform_of(R"({"name": "a"}, {"name": "b"}, {"name": "c"})",
                                        R"({"from": "a", "to": "b", "bandwidth_Bps": 4},
                     {"from": "a", "to": "c", "bandwidth_Bps": 10})");
  const Columns a(platform, Model::kMultiPort);
  EXPECT_THAT(a.of("a", "b"), UnorderedElementsAre(Pair("out-port of a", DoubleEq(0.08)),
                                                   Pair("link a -> b", DoubleEq(0.25))));
  EXPECT_THAT(a.of("a", "c"), UnorderedElementsAre(Pair("out-port of a", DoubleEq(0.08)),
                                                   Pair("link a -> c", DoubleEq(0.1))));
}

// A processor sends and receives one after the other, each in its own time: the cap's, otherwise
// 0.8 times that of the fastest link in this direction. The link has its own.
TEST_F(Triangle, MultiPortProcessorSendsAndReceivesOnOneProcessor) {
  const Columns a(platform_, Model::kMultiPortProcessor);
  EXPECT_THAT(a.of("a", "b"), UnorderedElementsAre(Pair("port of a", DoubleEq(0.125)),
                                                   Pair("port of b", DoubleEq(0.1)),
                                                   Pair("link a -> b", DoubleEq(0.5))));
  EXPECT_THAT(a.of("b", "c"), UnorderedElementsAre(Pair("port of b", DoubleEq(0.2)),
                                                   Pair("port of c", DoubleEq(0.8 * 0.1)),
                                                   Pair("link b -> c", DoubleEq(0.25))));
}

// A link's own send and receive times take the place of its ends', the same for a reduction; other
// models ignore them, as there a port is busy as long as the link or whatever the link.
TEST(LinkRates, CountAtProcessorsOnly) {
  const Platform platform = platform_of(
      R"({"name": "a", "send_Bps": 8}, {"name": "b"}, {"name": "c"})",
      R"({"from": "a", "to": "b", "bandwidth_Bps": 2, "send_Bps": 16, "receive": "5 B/s"},
         {"from": "a", "to": "c", "bandwidth_Bps": 10, "receive_Bps": 20})");
  const Columns a(platform, Model::kMultiPortProcessor);
  EXPECT_THAT(a.of("a", "b"), UnorderedElementsAre(Pair("port of a", DoubleEq(1.0 / 16)),
                                                   Pair("port of b", DoubleEq(0.2)),
                                                   Pair("link a -> b", DoubleEq(0.5))));
  EXPECT_THAT(a.of("a", "c"), UnorderedElementsAre(Pair("port of a", DoubleEq(0.125)),
                                                   Pair("port of c", DoubleEq(0.05)),
                                                   Pair("link a -> c", DoubleEq(0.1))));
  const platforms::Platform back = platforms::reversed(platform).platform;
  const Occupation reversed = occupation(back, Model::kMultiPortProcessor, {.reversed = true});
  for (std::size_t row = 0; row < reversed.resources.size(); ++row) {
    if (describe(reversed.resources[row], back) != "port of a") continue;
    const auto arc = index_of(*back.find_arc(*back.find_node("b"), *back.find_node("a")));
    EXPECT_DOUBLE_EQ(reversed.seconds_per_byte.coeff(static_cast<Eigen::Index>(row),
                                                     static_cast<Eigen::Index>(arc)),
                     1.0 / 16);
  }
  EXPECT_EQ(Columns(platform, Model::kOnePort).of("a", "b"),
            (Load{{"out-port of a", 0.5}, {"in-port of b", 0.5}}));
  EXPECT_EQ(Columns(platform, Model::kMultiPort).of("a", "b"),
            (Load{{"out-port of a", 0.125}, {"link a -> b", 0.5}}));
}

//    a --1/2--> s1 --1/4--> s2 --1/8--> b     s1, s2 are relays, s1 capped at 16 B/s out;
//                                             the shared link of both middle hops: 1/5
class RelayChain : public ::testing::Test {
 protected:
  const Platform platform_ = platform_of(
      R"({"name": "a", "send_Bps": 32, "receive_Bps": 32}, {"name": "b", "receive_Bps": 64},
         {"name": "s1", "relay": true, "send_Bps": 16}, {"name": "s2", "relay": true})",
      R"({"from": "a", "to": "s1", "bandwidth_Bps": 2},
         {"from": "s1", "to": "s2", "bandwidth_Bps": 4},
         {"from": "s2", "to": "b", "bandwidth_Bps": 8})",
      R"({"name": "trunk", "bandwidth_Bps": 5, "links": [["s1", "s2"], ["s2", "b"]]})");
  const std::vector<std::string> path_{"a", "s1", "s2", "b"};
};

TEST_F(RelayChain, OnePortPathTakesBothEndPortsAndEveryLink) {
  const Columns a(platform_, Model::kOnePort);
  EXPECT_EQ(a.of("a", "s1"), (Load{{"out-port of a", 0.5}, {"link a -> s1", 0.5}}));
  EXPECT_EQ(a.of("s1", "s2"), (Load{{"link s1 -> s2", 0.25}, {"shared link trunk", 0.2}}));
  EXPECT_EQ(a.of("s2", "b"),
            (Load{{"in-port of b", 0.125}, {"link s2 -> b", 0.125}, {"shared link trunk", 0.2}}));
  EXPECT_EQ(a.of_path(path_), (Load{{"out-port of a", 0.5},
                                    {"in-port of b", 0.125},
                                    {"link a -> s1", 0.5},
                                    {"link s1 -> s2", 0.25},
                                    {"link s2 -> b", 0.125},
                                    {"shared link trunk", 0.4}}));
}

TEST_F(RelayChain, UnidirectionalPath) {
  const Columns a(platform_, Model::kOnePortUnidirectional);
  EXPECT_EQ(a.of_path(path_), (Load{{"port of a", 0.5},
                                    {"port of b", 0.125},
                                    {"link a -> s1", 0.5},
                                    {"link s1 -> s2", 0.25},
                                    {"link s2 -> b", 0.125},
                                    {"shared link trunk", 0.4}}));
}

TEST_F(RelayChain, MultiPortRelaysHaveNoSendTime) {
  const Columns a(platform_, Model::kMultiPort);
  EXPECT_EQ(a.of_path(path_), (Load{{"out-port of a", 1.0 / 32},
                                    {"link a -> s1", 0.5},
                                    {"link s1 -> s2", 0.25},
                                    {"link s2 -> b", 0.125},
                                    {"shared link trunk", 0.4}}));
}

TEST_F(RelayChain, MultiPortProcessorRelaysHaveNoProcessor) {
  const Columns a(platform_, Model::kMultiPortProcessor);
  EXPECT_EQ(a.of("a", "s1"), (Load{{"port of a", 0.03125}, {"link a -> s1", 0.5}}));
  EXPECT_EQ(a.of("s1", "s2"), (Load{{"link s1 -> s2", 0.25}, {"shared link trunk", 0.2}}));
}

TEST_F(RelayChain, BoundedMultiPortCountsTheRelaysCap) {
  const Columns a(platform_, Model::kBoundedMultiPort);
  EXPECT_EQ(a.of_path(path_), (Load{{"out-port of a", 1.0 / 32},
                                    {"out-port of s1", 1.0 / 16},
                                    {"in-port of b", 1.0 / 64},
                                    {"link a -> s1", 0.5},
                                    {"link s1 -> s2", 0.25},
                                    {"link s2 -> b", 0.125},
                                    {"shared link trunk", 0.4}}));
}

TEST_F(RelayChain, RowsAreOrderedByNodeThenLinkThenSharedLink) {
  EXPECT_THAT(Columns(platform_, Model::kBoundedMultiPort).rows(),
              ElementsAre("out-port of a", "in-port of b", "out-port of s1", "link a -> s1",
                          "link s1 -> s2", "link s2 -> b", "shared link trunk"))
      << "a has no in-port, because no arc leads into it";
}

// Two shared links over one arc.
TEST(SharedLink, CountsUnderEveryModel) {
  const Platform platform =
      platform_of(R"({"name": "a"}, {"name": "b"}, {"name": "c"})",
                  R"({"from": "a", "to": "b", "bandwidth_Bps": 2},
         {"from": "a", "to": "c", "bandwidth_Bps": 4})",
                  R"({"name": "x", "bandwidth_Bps": 10, "links": [["a", "b"]]},
         {"name": "y", "bandwidth_Bps": 20, "links": [["a", "c"], ["a", "b"]]})");
  for (const ModelEntry& model : models()) {
    const Columns a(platform, model.model);
    const Load load = a.of("a", "b");
    EXPECT_EQ(load.at("shared link x"), 0.1) << model.name;
    EXPECT_EQ(load.at("shared link y"), 0.05) << model.name;
    EXPECT_EQ(a.of("a", "c").count("shared link x"), 0U) << model.name;
  }
}

TEST(Affine, OverheadIsSpreadOverTheSegment) {
  const Platform platform = platform_of(
      R"({"name": "a"}, {"name": "b"})",
      R"({"from": "a", "to": "b", "bandwidth_Bps": 4, "latency_s": 6, "overhead_s": 2})");
  EXPECT_EQ(Columns(platform, Model::kOnePort).of("a", "b").at("out-port of a"), 0.25);
  OccupationOptions options{Bytes{8}, false};
  EXPECT_EQ(Columns(platform, Model::kOnePort, options).of("a", "b").at("out-port of a"),
            (2 + 8.0 / 4) / 8);
  options.latency_occupies = true;
  EXPECT_EQ(Columns(platform, Model::kOnePort, options).of("a", "b").at("in-port of b"),
            (2 + 6 + 8.0 / 4) / 8);
}

TEST(Affine, SharedLinksAndCapsKeepTheirOwnTime) {
  const Platform platform =
      platform_of(R"({"name": "a", "send_Bps": 2}, {"name": "b"})",
                  R"({"from": "a", "to": "b", "bandwidth_Bps": 4, "overhead_s": 2})",
                  R"({"name": "x", "bandwidth_Bps": 10, "links": [["a", "b"]]})");
  const Columns a(platform, Model::kBoundedMultiPort, {Bytes{8}, false});
  EXPECT_EQ(a.of("a", "b"),
            (Load{{"out-port of a", 0.5}, {"link a -> b", 0.5}, {"shared link x", 0.1}}));
}

TEST(Affine, LatenciesThatOccupyNeedASegment) {
  const Platform empty = PlatformBuilder("x").build();
  EXPECT_EQ(refusal([&] {
              return occupation(empty, Model::kOnePort, {Bytes{0}, true});
            }),
            "latencies that occupy a port need a segment size");
}

// The bandwidths alone are equal; in segments of a byte an overhead makes one link 10^18 times
// slower.
TEST(Affine, OverheadsAreRefusedNextToWhichOtherTimesAreLost) {
  const Platform platform =
      platform_of(R"({"name": "a"}, {"name": "b"})",
                  R"({"from": "a", "to": "b", "bandwidth_Bps": 1e9, "overhead_s": 1e9},
         {"from": "b", "to": "a", "bandwidth_Bps": 1e9, "latency_s": 1e12})");
  const auto refused = [&](const OccupationOptions& options) {
    return refusal([&] { return occupation(platform, Model::kOnePort, options); });
  };
  EXPECT_EQ(refused({Bytes{1}, false}),
            "t: 'a' -> 'b': with 1000000000 s per segment of 1 B, a byte takes over 1e+15 times as "
            "long as the fastest rate allows; check the units, or take larger segments");
  EXPECT_EQ(occupation(platform, Model::kOnePort, {Bytes{1000}, false}).resources.size(), 4U);
  EXPECT_EQ(refused({Bytes{100'000}, true}),
            "t: 'b' -> 'a': with 1000000000000 s per segment of 100000 B, a byte takes over 1e+15 "
            "times as long as the fastest rate allows; check the units, or take larger segments");
}

TEST(Affine, ExtremesStayFinite) {
  Arc arc;
  arc.bandwidth = {1e-300};
  const Bytes most{(std::uint64_t{1} << 63U) - 1};
  EXPECT_EQ(arc_seconds_per_byte(arc, {most, false}), 1 / 1e-300);
}

TEST(Occupation, IsCompressedWithAscendingRows) {
  const Platform platform =
      read_platform(ESPALIER_SOURCE_DIR "/platforms/data/relays-shared-link.json").platform;
  for (const ModelEntry& model : models()) {
    const Occupation a = occupation(platform, model.model);
    EXPECT_TRUE(a.seconds_per_byte.isCompressed());
    EXPECT_EQ(a.seconds_per_byte.rows(), static_cast<Eigen::Index>(a.resources.size()));
    std::vector<bool> used(a.resources.size());
    for (Eigen::Index column = 0; column < a.seconds_per_byte.cols(); ++column) {
      Eigen::Index last = -1;
      for (Eigen::SparseMatrix<double>::InnerIterator entry(a.seconds_per_byte, column); entry;
           ++entry) {
        EXPECT_GT(entry.row(), last);
        EXPECT_GT(entry.value(), 0);
        last = entry.row();
        used[static_cast<std::size_t>(last)] = true;
      }
    }
    EXPECT_THAT(used, ::testing::Each(true)) << "a row that no arc occupies, " << model.name;
  }
}

TEST(Models, AreFoundByName) {
  for (const ModelEntry& model : models()) {
    EXPECT_EQ(parse_model(model.name), model.model);
    EXPECT_EQ(name_of(model.model), model.name);
    EXPECT_FALSE(model.summary.empty());
    EXPECT_FALSE(model.source.empty());
  }
  EXPECT_EQ(refusal([] { return parse_model("oneport"); }),
            "unknown model 'oneport'; did you mean 'one-port'? one of: one-port, "
            "one-port-unidirectional, multi-port, bounded-multi-port, multi-port-processor");
}

}  // namespace
}  // namespace espalier::platforms::contention_test
