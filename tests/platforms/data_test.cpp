// Every sample platform reads, and is what its README says.
#include <gtest/gtest.h>

#include <filesystem>

#include "platforms/formats.hpp"
#include "tests/platforms/expect_same.hpp"

namespace espalier::platforms {
namespace {

const std::filesystem::path kData = ESPALIER_SOURCE_DIR "/platforms/data";

Platform sample(const std::string& name) {
  return read_platform((kData / name).string()).platform;
}

TEST(Data, EverySampleReadsWithoutNotesAndRoundTrips) {
  std::size_t samples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kData)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().string());
    ++samples;
    const ReadResult result = read_platform(entry.path().string());
    EXPECT_TRUE(result.notes.empty());
    testing::expect_same(parse_platform(write_platform(result.platform, "json"), "again").platform,
                         result.platform);
  }
  EXPECT_GE(samples, 6U);
}

TEST(Data, The71RegionsHaveTheirCaps) {
  const Platform platform = sample("cloud-71-regions.json");
  EXPECT_EQ(platform.name(), "cloud 71 regions");
  EXPECT_EQ(platform.hosts().size(), 71U);
  EXPECT_EQ(platform.arcs().size(), 4970U);
  const Node& aws = platform.node(platform.find_node("aws:us-east-1").value());
  EXPECT_EQ(aws.send, BytesPerSecond{5e9 / 8});
  EXPECT_EQ(aws.receive, BytesPerSecond{10e9 / 8});
  const Node& gcp = platform.node(platform.find_node("gcp:us-west1-a").value());
  EXPECT_EQ(gcp.send, BytesPerSecond{7e9 / 8});
  EXPECT_EQ(gcp.receive, BytesPerSecond{16e9 / 8});
  const Node& azure = platform.node(platform.find_node("azure:westeurope").value());
  EXPECT_EQ(azure.send, BytesPerSecond{16e9 / 8});
  EXPECT_EQ(azure.receive, BytesPerSecond{16e9 / 8});
}

TEST(Data, TheOthersHaveTheirShape) {
  EXPECT_EQ(sample("two-clusters-thin-link.json").arcs().size(), 2U * (15 + 15 + 1));
  EXPECT_EQ(sample("heterogeneous-star.json").hosts().size(), 9U);
  EXPECT_EQ(sample("relays-shared-wire.json").hosts().size(), 6U);
  EXPECT_EQ(sample("relays-shared-wire.json").shared_wires().size(), 1U);
  EXPECT_EQ(sample("equal-hosts-16.json").arcs().size(), 16U * 15U);
  const Platform sketch = sample("seed-sketch.json");
  for (const Arc& arc : sketch.arcs()) {
    const double cost = 12e6 / arc.bandwidth.value;  // seconds per slice of 12 MB
    EXPECT_EQ(cost, static_cast<int>(cost));
  }
}

}  // namespace
}  // namespace espalier::platforms
