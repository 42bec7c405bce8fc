#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/platforms/figures.hpp"

namespace espalier::platforms::ibnetdiscover_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kData = ESPALIER_SOURCE_DIR "/platforms/data/infiniband/";

//   h1 === core --- edge --- h2      === two cables
const std::string kFabric =
    "# Topology file\n"
    "vendid=0x1\n"
    "Switch\t24 \"S-c\"\t\t# \"core\" base port 0 lid 6 lmc 0\n"
    "[1]\t\"H-1\"[1](a1)\t\t# \"h1\" lid 4 4xQDR\n"
    "[2]\t\"H-1\"[2](a2)\t\t# \"h1\" lid 5 4xQDR\n"
    "[9]\t\"S-e\"[3]\t\t# \"edge\" lid 7 4xEDR\n"
    "\n"
    "Switch\t24 \"S-e\"\t\t# \"edge\" base port 0 lid 7 lmc 0\n"
    "[3]\t\"S-c\"[9]\t\t# \"core\" lid 6 4xEDR\n"
    "[4]\t\"H-2\"[1](b)\t\t# \"h2\" lid 8 4xFDR\n"
    "\n"
    "Ca\t2 \"H-1\"\t\t# \"h1\"\n"
    "[1](a1)\t\"S-c\"[1]\t\t# lid 4 lmc 0 \"core\" lid 6 4xQDR\n"
    "[2](a2)\t\"S-c\"[2]\t\t# lid 5 lmc 0 \"core\" lid 6 4xQDR\n";
const std::string kLast =
    "Ca\t1 \"H-2\"\t\t# \"h2\"\n[1](b)\t\"S-e\"[4]\t\t# lid 8 lmc 0 \"edge\" lid 7 4xFDR\n";

std::string refused(const std::string& text) {
  return refusal_as("ibnetdiscover", text, "f.txt");
}

TEST(Ibnetdiscover, Stanzas) {
  const ReadResult result = parse_platform(kFabric + kLast, "f.txt");
  EXPECT_EQ(result.format, "ibnetdiscover");
  EXPECT_THAT(counts(result.platform), ElementsAre(2, 2, 6, 0));
  EXPECT_EQ(arc(result.platform, "h1", "core").bandwidth.value, 2 * 32e9 / 8) << "two cables";
  EXPECT_EQ(arc(result.platform, "core", "edge").bandwidth.value, 100e9 / 8);
  EXPECT_DOUBLE_EQ(arc(result.platform, "edge", "h2").bandwidth.value, 54.56e9 / 8);
  EXPECT_TRUE(result.platform.node(*result.platform.find_node("edge")).relay);
  EXPECT_THAT(result.notes, ElementsAre("merged 4 parallel links core -> h1, h1 -> core"));
}

// Counted in the files without this reader: 155 cables between 106 pairs; 23 cables to one switch,
// each from a different adapter.
TEST(Ibnetdiscover, TheRealFilesHaveTheirCounts) {
  const ReadResult stanzas = read_platform(kData + "plafrim2-subnet0000.ibnetdiscover");
  EXPECT_THAT(counts(stanzas.platform), ElementsAre(96, 7, 2 * 106, 0));
  EXPECT_EQ(arc(stanzas.platform, "ibcore01", "ibedge03").bandwidth.value, 6 * 32e9 / 8)
      << "ports 1, 2, 3, 19, 20 and 21";
  const ReadResult ports = read_platform(kData + "plafrim2-subnet0001.txt");
  EXPECT_THAT(counts(ports.platform), ElementsAre(23, 1, 2 * 23, 0));
  EXPECT_EQ(arc(ports.platform, "bright mlx4_0", "MF0;switchIB-MLX01:IS5030/U1").bandwidth.value,
            8e9 / 8);
  EXPECT_THAT(ports.notes, ElementsAre("13 ports are not connected"));
  EXPECT_TRUE(ports.platform.find_node("sirocco06 HCA-1"));
  EXPECT_TRUE(ports.platform.find_node("MT25408 ConnectX Mellanox Technologies (CA 113)"))
      << "a shared description: the lid makes the name unique";
}

TEST(Ibnetdiscover, TakesTheLowerOfTwoRates) {
  std::string text = kFabric + kLast;
  text.replace(text.rfind("4xFDR"), 5, "1xSDR");
  const ReadResult result = parse_platform(text, "f.txt");
  EXPECT_EQ(arc(result.platform, "h2", "edge").bandwidth.value, 2e9 / 8);
  EXPECT_EQ(arc(result.platform, "edge", "h2").bandwidth.value, 2e9 / 8);
  EXPECT_EQ(result.notes[0], "1 cables have different rates at their ends: took the lower");
}

TEST(Ibnetdiscover, ACableListedAtOneEndHasBothDirections) {
  const std::string text = kFabric + "Ca\t1 \"H-2\"\t\t# \"h2\"\n";
  EXPECT_THAT(counts(parse_platform(text, "f.txt").platform), ElementsAre(2, 2, 6, 0));
}

TEST(Ibnetdiscover, EveryRate) {
  const auto rate = [](const std::string& text) {
    return arc(parse_platform("Ca 1 \"H-1\" # \"a\"\nCa 1 \"H-2\" # \"b\"\n"
                              "[1] \"H-1\"[1] # " +
                                  text + "\n",
                              "f.txt")
                   .platform,
               "a", "b")
               .bandwidth.value *
           8 / 1e9;
  };
  EXPECT_EQ(rate("1xSDR"), 2);
  EXPECT_EQ(rate("4xDDR"), 16);
  EXPECT_EQ(rate("4xFDR10"), 40);
  EXPECT_EQ(rate("12xHDR"), 600);
  EXPECT_EQ(rate("4xNDR"), 400);
  EXPECT_EQ(rate("4xXDR"), 800);
}

TEST(Ibnetdiscover, LinesHaveALimit) {
  EXPECT_EQ(refused("Ca 1 \"H-1\" # \"a\"\n[1] \"S-1\"[1] # " + std::string(70'000, '1') + "\n"),
            "f.txt: line 2: a line of more than 65536 bytes");
}

TEST(Ibnetdiscover, Refusals) {
  EXPECT_EQ(refused("# nothing\n"), "f.txt: there are no switches and no adapters");
  EXPECT_EQ(refused("[1] \"H-1\"[1] # 4xQDR\n"),
            "f.txt: line 1: a port before the first Switch or Ca");
  EXPECT_EQ(refused("Switch 24\n"), "f.txt: line 1: a stanza has no GUID in quotes");
  EXPECT_EQ(refused("Ca 1 \"H-1\" # \"a\"\nCa 1 \"H-1\" # \"a\"\n"),
            "f.txt: line 2: duplicate stanza of 'H-1'");
  EXPECT_EQ(refused(kFabric), "f.txt: line 10: there is no stanza of 'H-2'");
  const std::string stanza = "Ca 1 \"H-1\" # \"a\"\n";
  EXPECT_EQ(refused(stanza + "[x] \"H-1\"[1] # 4xQDR\n"),
            "f.txt: line 2: a port must be '[1] \"GUID\"[2] # ... 4xQDR'");
  EXPECT_EQ(refused(stanza + "[1] \"H-2\"[1] # 4xABC\n"),
            "f.txt: line 2: a link is 1 to 12 lanes of SDR to XDR, such as 4xQDR, not '4xABC'");
  EXPECT_THAT(refused(stanza + "[1] \"H-2\"[1] # 0xQDR\n"), HasSubstr("not '0xQDR'"));
  EXPECT_EQ(refused("CA 1 1\n"), "f.txt: line 1: a port must be 'CA lid port guid 4x QDR ...'");
  EXPECT_EQ(refused("CA one 1 0x1 4x QDR - SW 2 1 0x2 ( 'a' - 'b' )\n"),
            "f.txt: line 1: lid and port are whole numbers, not 'one' and '1'");
}

}  // namespace
}  // namespace espalier::platforms::ibnetdiscover_test
