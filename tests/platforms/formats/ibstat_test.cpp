#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::ibstat_test {
namespace {

using namespace espalier::testing;
using ::testing::ElementsAre;

std::string refused(const std::string& text) {
  return refusal_as("ibstat", text, "i.txt");
}

// n1 has two ports of 100 Gbit/s, n2 one and another one that is down, n3 one of 200 Gbit/s.
TEST(Ibstat, HostsHaveTheirActivePorts) {
  const ReadResult result =
      read_platform(ESPALIER_SOURCE_DIR "/platforms/data/infiniband/three_hosts.ibstat");
  EXPECT_EQ(result.format, "ibstat");
  const Platform& platform = result.platform;
  EXPECT_THAT(counts(platform), ElementsAre(3, 1, 6, 0));
  EXPECT_EQ(arc(platform, "n1", "InfiniBand fabric").bandwidth.value, 25e9);
  EXPECT_EQ(arc(platform, "InfiniBand fabric", "n2").bandwidth.value, 12.5e9);
  EXPECT_EQ(arc(platform, "n3", "InfiniBand fabric").bandwidth.value, 25e9);
  EXPECT_THAT(
      result.notes,
      ElementsAre("left out 1 port that are not active",
                  "the fabric has no limits of its own: ibstat does not show its switches"));
}

TEST(Ibstat, Refusals) {
  EXPECT_EQ(refused(""), "i.txt: no port is active");
  EXPECT_EQ(refused("CA 'mlx5_0'\n"),
            "i.txt: line 1: no host in front of the line; run ibstat on all hosts at once: pdsh -w "
            "HOSTS ibstat");
  EXPECT_EQ(refused("a: Port 1:\nb: State: Active\n"),
            "i.txt: line 2: a line of 'b' in a port of 'a'; sort the lines by host");
  EXPECT_EQ(refused("a: Port 1:\na: Rate: fast\n"),
            "i.txt: line 2: Rate 'fast' is not a number above 0");
  EXPECT_EQ(refused("a: Port 1:\na: State: Active\n"), "i.txt: an active port has no Rate");
}

}  // namespace
}  // namespace espalier::platforms::ibstat_test
