// JSON reads its own output as the same platform; GraphML and DOT all but the shared links.
#include <gtest/gtest.h>

#include <filesystem>

#include "platforms/formats/formats.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/platforms/random_platform.hpp"

namespace espalier::platforms::round_trip_test {
namespace {

const std::filesystem::path kData = ESPALIER_SOURCE_DIR "/platforms/data";

class RoundTrip : public ::testing::TestWithParam<std::string> {};

Platform without_shared_links(const Platform& platform) {
  PlatformBuilder builder(platform.name());
  for (const Node& node : platform.nodes()) builder.add_node(node);
  for (const Arc& arc : platform.arcs()) builder.add_arc(arc);
  return std::move(builder).build();
}

// Reads `text` and checks that writing it again gives the same text.
void expect_back(const Platform& original, const std::string& format) {
  const Platform platform = format == "json" ? original : without_shared_links(original);
  const std::string text = write_platform(platform, format);
  const ReadResult again = parse_platform(text, "written");
  EXPECT_EQ(again.format, format) << "detected";
  EXPECT_TRUE(again.notes.empty()) << again.notes.front();
  testing::expect_same(again.platform, platform);
  EXPECT_EQ(write_platform(again.platform, format), text);
}

TEST_P(RoundTrip, EverySampleComesBack) {
  std::size_t samples = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kData)) {
    const std::string file = entry.path().string();
    Platform platform;
    try {
      platform = read_platform(file).platform;
    } catch (const InputError&) {
      continue;  // a folder, a table, or a sample that is refused
    }
    SCOPED_TRACE(file);
    ++samples;
    expect_back(platform, GetParam());
  }
  EXPECT_GE(samples, 25U);
}

TEST_P(RoundTrip, RandomPlatformsComeBack) {
  const bool keeps_all = std::string_view(GetParam()) == "json";
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_back(testing::random_platform(seed, keeps_all), GetParam());
  }
}

TEST_P(RoundTrip, ExtremeFiguresAndNamesComeBack) {
  PlatformBuilder builder("");
  Node node;
  node.name = " ";
  const NodeId a = builder.add_node(node);
  node.name = "platform";
  node.send = BytesPerSecond{1.0000000000000002e-100};
  node.position = Position{-1.7976931348623157e308, 5e-324};
  const NodeId b = builder.add_node(node);
  builder.add_arc({a, b, {1.7e-86}, {5e-324}, {1e300}});
  builder.add_arc({b, a, {1e-90 / 3}, {0}, {0}});
  expect_back(std::move(builder).build(), GetParam());
}

TEST_P(RoundTrip, HostsWithoutLinksComeBack) {
  PlatformBuilder builder("alone");
  builder.node_named("x");
  expect_back(std::move(builder).build(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip, ::testing::Values("json", "graphml", "dot"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace espalier::platforms::round_trip_test
