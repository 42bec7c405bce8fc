#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/formats/host_groups.hpp"
#include "platforms/formats/slurm/slurm_topology.hpp"
#include "tests/platforms/figures.hpp"

namespace espalier::platforms::slurm_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kData = ESPALIER_SOURCE_DIR "/platforms/data/slurm/";

ReadOptions with(const std::string& levels, const std::string& topology = "") {
  ReadOptions options;
  options.level_bandwidth = levels;
  options.topology = topology;
  return options;
}

double bits(const Platform& platform, std::string_view from, std::string_view to) {
  return arc(platform, from, to).bandwidth.value * 8;
}

std::string group(const Platform& platform, std::string_view host) {
  return platform.node(platform.find_node(host).value()).group;
}

ReadResult read(const std::string& text, const std::string& levels = "1Gbit/s",
                const std::string& topology = "") {
  return parse_platform(text, "t.conf", with(levels, topology));
}

std::string refused(const std::string& text, const std::string& levels = "1Gbit/s",
                    const std::string& topology = "") {
  return refusal([&] { return read(text, levels, topology); });
}

// A topology.yaml with one topology; `inside` is indented by two.
std::string yaml(const std::string& inside) {
  return "- topology: t\n" + inside;
}

TEST(Hostlist, ExpandsToNames) {
  const auto names = [](std::string_view list) { return Hostlists().expand(list); };
  EXPECT_THAT(names("tux[0-3,12,18-20]"),
              ElementsAre("tux0", "tux1", "tux2", "tux3", "tux12", "tux18", "tux19", "tux20"));
  EXPECT_THAT(names("n[08-11]-ib"), ElementsAre("n08-ib", "n09-ib", "n10-ib", "n11-ib"));
  EXPECT_THAT(names("r[1-2]n[01,7]"), ElementsAre("r1n01", "r1n7", "r2n01", "r2n7"));
  EXPECT_THAT(names("a,b[1],c d,"), ElementsAre("a", "b1", "c", "d"));
  EXPECT_THAT(names("[9-10]"), ElementsAre("9", "10"));
  EXPECT_THAT(names("x[18446744073709551615]"), ElementsAre("x18446744073709551615"));
  EXPECT_THAT(names(""), IsEmpty());
}

TEST(Hostlist, Refusals) {
  const auto reason = [](const std::string& list) {
    return refusal([&] { return Hostlists().expand(list); });
  };
  EXPECT_EQ(reason("a[1-1000000000]"), "more than 100000 names in the file");
  EXPECT_EQ(reason("a[0-18446744073709551615]"), "more than 100000 names in the file");
  EXPECT_EQ(reason("a[1-9999][1-9999][1-9999][1-9999][1-9999][1-9999]"),
            "more than 100000 names in the file");
  EXPECT_EQ(reason("a[1-100000]" + std::string(1'000'000, 'x')), "a name of over 128 bytes");
  EXPECT_EQ(reason("a[4-1]"), "a bracket holds numbers and ranges, such as [01-04,7], not '4-1'");
  EXPECT_EQ(reason("a[1,]"), "a bracket holds numbers and ranges, such as [01-04,7], not ''");
  EXPECT_EQ(reason("a[1-2-3]"),
            "a bracket holds numbers and ranges, such as [01-04,7], not '1-2-3'");
  EXPECT_EQ(reason("a[[1]]"), "a bracket holds numbers and ranges, such as [01-04,7], not '[1'");
  EXPECT_EQ(reason("a[" + std::string(1'000'000, '0') + "]").substr(0, 40),
            "a bracket holds numbers and ranges, such");
  EXPECT_EQ(reason("a[1-2"), "unbalanced brackets in 'a[1-2'");
  EXPECT_EQ(reason("a1]"), "unbalanced brackets in 'a1]'");
  Hostlists lists;
  lists.expand("a[1-99999]");
  EXPECT_EQ(refusal([&] { return lists.expand("b,c"); }), "more than 100000 names in the file")
      << "all lists in total";
}

//                 core
//               /      \          Hosts are on leaf1..4, four each, and `login`
//          rack1        rack2     on rack2: 17 + 4 + 2 links.
//         /    \       /   |  \                                                 .
//     leaf1  leaf2  leaf3 leaf4 login
TEST(SlurmConf, TheSampleIsATreeOfThreeLevels) {
  const ReadResult result =
      read_platform(kData + "topology.conf", with("100Gbit/s,200Gbit/s,400Gbit/s"));
  EXPECT_EQ(result.format, "slurm-conf");
  const Platform& platform = result.platform;
  EXPECT_EQ(platform.name(), "topology");
  EXPECT_THAT(counts(platform), ElementsAre(17, 7, 2 * (17 + 4 + 2), 0));
  EXPECT_EQ(bits(platform, "ant03", "leaf1"), 100e9);
  EXPECT_EQ(bits(platform, "login", "rack2"), 100e9) << "hosts have level 0 on every switch";
  EXPECT_EQ(bits(platform, "rack2", "leaf4"), 200e9);
  EXPECT_EQ(bits(platform, "core", "rack1"), 400e9);
  EXPECT_EQ(bits(platform, "bee5-ib", "leaf3"), 100e9);
  EXPECT_FALSE(platform.find_node("bee4-ib"));
  EXPECT_EQ(bits(platform, "cow1n0", "leaf4"), 100e9) << "from the continued line";
  EXPECT_EQ(group(platform, "ant03"), "rack1/leaf1");
  EXPECT_EQ(group(platform, "login"), "rack2");
  EXPECT_THAT(result.notes,
              ElementsAre("left out LinkSpeed, for which Slurm defines no unit; "
                          "--link-speed-unit gives it",
                          "links by level from the hosts up: 17 of 100.0000 Gbit/s, 4 of 200.0000 "
                          "Gbit/s, 2 of 400.0000 Gbit/s"));
}

TEST(SlurmConf, LinkSpeedWithAUnit) {
  ReadOptions options = with("1Gbit/s,2Gbit/s");
  options.link_speed_unit = "1Mbit/s";
  const std::string top = "SwitchName=t Switches=s1,s2";
  const std::string leaves = "\nSwitchName=s1 Nodes=a LinkSpeed=100\nSwitchName=s2 Nodes=b";
  const ReadResult some = parse_platform(top + leaves, "t.conf", options);
  EXPECT_EQ(bits(some.platform, "a", "s1"), 100e6);
  EXPECT_EQ(bits(some.platform, "b", "s2"), 1e9);
  EXPECT_EQ(bits(some.platform, "t", "s1"), 2e9);
  EXPECT_EQ(some.notes.front(), "1 link of the file's LinkSpeed");
  options.level_bandwidth.clear();
  EXPECT_THROW(parse_platform(top + leaves, "t.conf", options), InputError);
  const ReadResult all =
      parse_platform(top + " LinkSpeed=4e3" + leaves + " LinkSpeed=200", "t.conf", options);
  EXPECT_EQ(bits(all.platform, "t", "s1"), 4e9);
  EXPECT_EQ(bits(all.platform, "b", "s2"), 200e6);
  EXPECT_EQ(refused("SwitchName=s Nodes=a LinkSpeed=fast\n"),
            "t.conf: line 1: LinkSpeed is a positive number, not 'fast'");
}

TEST(SlurmConf, KeysInAnyCaseQuotesAndBlanks) {
  const Platform platform =
      read("  # first\r\nswitchname = \"s\"  NODES=\"a,b\"  linkspeed = 5 # last\r\n\r\n").platform;
  EXPECT_THAT(counts(platform), ElementsAre(2, 1, 4, 0));
}

TEST(SlurmConf, LevelsAreCountedFromTheHostsUp) {
  // s1 has two switches with hosts below it, s4 is directly below the top.
  const Platform platform =
      read(
          "SwitchName=top Switches=s1,s4\nSwitchName=s1 Switches=s2,s3\nSwitchName=s2 Nodes=a\n"
          "SwitchName=s3 Nodes=b\nSwitchName=s4 Nodes=c\n",
          "1Gbit/s,2Gbit/s,3Gbit/s")
          .platform;
  EXPECT_EQ(bits(platform, "s1", "s2"), 2e9);
  EXPECT_EQ(bits(platform, "top", "s1"), 3e9);
  EXPECT_EQ(bits(platform, "s4", "top"), 2e9);
  EXPECT_EQ(group(platform, "c"), "s4");
}

TEST(SlurmConf, DisconnectedPartsAreNoted) {
  const ReadResult result = read("SwitchName=s1 Nodes=a[1-3]\nSwitchName=s2 Nodes=b\n");
  EXPECT_THAT(counts(result.platform), ElementsAre(4, 2, 8, 0));
  EXPECT_THAT(result.notes, Contains("the network is disconnected: 2 parts, of 3, 1 hosts"));
  EXPECT_EQ(group(result.platform, "a1"), "s1");
}

TEST(SlurmConf, AHostOnTwoSwitchesHasTwoLinks) {
  const ReadResult result =
      read("SwitchName=s1 Nodes=a,b,a\nSwitchName=s2 Nodes=b\nSwitchName=top Switches=s1,s2,s1\n",
           "1Gbit/s,2Gbit/s");
  EXPECT_THAT(counts(result.platform), ElementsAre(2, 3, 2 * (3 + 2), 0));
  EXPECT_EQ(bits(result.platform, "a", "s1"), 1e9) << "not doubled, although listed twice";
  EXPECT_EQ(bits(result.platform, "s1", "top"), 2e9);
  EXPECT_THAT(result.notes, Contains("1 nodes are listed twice under a switch"));
  EXPECT_THAT(result.notes, Contains("1 nodes are on several switches, first 'b': a link to each"));
}

TEST(SlurmConf, BlocksAreLinkedToOneRelay) {
  const ReadResult result =
      read_platform(kData + "blocks-and-rings.conf", with("900Gbit/s,400Gbit/s"));
  EXPECT_THAT(counts(result.platform), ElementsAre(8, 3, 2 * (8 + 2), 0));
  EXPECT_EQ(bits(result.platform, "gpu5", "nvl2"), 900e9);
  EXPECT_EQ(bits(result.platform, "nvl1", "(between blocks)"), 400e9);
  EXPECT_EQ(group(result.platform, "gpu5"), "nvl2");
  EXPECT_THAT(result.notes,
              ElementsAre("took the topology 'block' of: block, ring; --topology selects another",
                          "the file does not describe the network between blocks: added one relay, "
                          "'(between blocks)'",
                          "links by level from the hosts up: 8 of 900.0000 Gbit/s, 2 of 400.0000 "
                          "Gbit/s"));
}

TEST(SlurmConf, ARingLinksItsLastToItsFirst) {
  const Platform platform =
      read_platform(kData + "blocks-and-rings.conf", with("50Gbit/s", "ring")).platform;
  EXPECT_THAT(counts(platform), ElementsAre(8, 0, 2 * 8, 0));
  EXPECT_EQ(bits(platform, "gpu8", "gpu1"), 50e9);
  EXPECT_THAT(counts(read("RingName=r Nodes=a,b\n").platform), ElementsAre(2, 0, 2, 0));
  EXPECT_THAT(counts(read("RingName=r Nodes=a\n").platform), ElementsAre(1, 0, 0, 0));
}

TEST(GroupsByHost, NeedNoSpeeds) {
  const auto groups = groups_by_host(
      "SwitchName=s0 Nodes=n[1-2]\nSwitchName=s1 Nodes=n3\nSwitchName=top Switches=s[0-1]\n",
      "t.conf");
  ASSERT_TRUE(groups);
  EXPECT_EQ(groups->size(), 3U);
  EXPECT_EQ(groups->at("n1"), groups->at("n2"));
  EXPECT_NE(groups->at("n1"), groups->at("n3"));
}

TEST(GroupsByHost, AreThoseOfAPlatform) {
  const auto groups = groups_by_host(
      R"({"format": "espalier-platform", "version": 1, "name": "p", "nodes": [{"name": "a", "group":
          "lyon/r1"}, {"name": "s", "relay": true}], "links": [{"from": "a", "to": "s",
          "bandwidth_Bps": 1, "both_ways": true}]})",
      "p.json");
  ASSERT_TRUE(groups);
  EXPECT_THAT(*groups, ElementsAre(Pair("a", "lyon/r1")));
  EXPECT_FALSE(groups_by_host("a r1\nb r2\n", "lines"));
}

TEST(SlurmConf, SpeedsMustMatchTheLevels) {
  const std::string two = "SwitchName=s Nodes=a\nSwitchName=t Switches=s\n";
  EXPECT_EQ(refused(two, ""),
            "t.conf: the file has no speeds: give a speed for each of its 2 levels of links, from "
            "the hosts up, as in --level-bandwidth 100Gbit/s,200Gbit/s");
  EXPECT_THAT(refused("SwitchName=s Nodes=a LinkSpeed=100\n", ""),
              StartsWith("t.conf: Slurm defines no unit for the file's LinkSpeed, which "
                         "--link-speed-unit gives: give a speed"));
  EXPECT_EQ(refused(two), "t.conf: the file has 2 levels of links, but --level-bandwidth has 1");
  EXPECT_EQ(refused("RingName=r Nodes=a,b\n", "1bps,2bps"),
            "t.conf: the file has 1 level of links, but --level-bandwidth has 2");
  EXPECT_THAT(refused(two, "1Gbit/s,2"), StartsWith("--level-bandwidth: rate '2': the unit"));
  EXPECT_EQ(refused(two, "1Gbit/s,0bps"),
            "--level-bandwidth: a rate must be finite and positive, not 0 B/s");
}

TEST(SlurmConf, Refusals) {
  const std::string s = "SwitchName=s Nodes=a\n";
  EXPECT_EQ(refused(s + "SwitchName=t Switches=u\n"), "t.conf: line 2: there is no switch 'u'");
  EXPECT_EQ(refused(s + "SwitchName=s Nodes=b\n"), "t.conf: line 2: duplicate switch 's'");
  EXPECT_EQ(refused(s + "SwitchName=a Nodes=b\n"), "t.conf: line 2: two nodes are named 'a'");
  EXPECT_EQ(refused(s + "SwitchName=t Switches=t\n"), "t.conf: line 2: cycle t -> t");
  EXPECT_EQ(refused(s + "SwitchName=t Switches=u\nSwitchName=u Switches=v\n"
                        "SwitchName=v Switches=u\n"),
            "t.conf: line 3: cycle u -> v -> u");
  EXPECT_EQ(refused(s + "SwitchName=t Nods=b\n"),
            "t.conf: line 2: unknown key 'Nods'; did you mean 'Nodes'? one of: Nodes, Switches, "
            "LinkSpeed");
  EXPECT_EQ(refused(s + "NodeName=t\n").substr(0, 40), "t.conf: line 2: unknown key 'NodeName'; ");
  EXPECT_EQ(refused(s + "SwitchName=t Nodes=b Nodes=c\n"),
            "t.conf: line 2: 'Nodes' is given twice");
  EXPECT_EQ(refused(s + "SwitchName=t Nodes\n"), "t.conf: line 2: expected KEY=VALUE, got 'Nodes'");
  EXPECT_EQ(refused(s + "SwitchName=t Nodes=\n"),
            "t.conf: line 2: expected KEY=VALUE, got 'Nodes='");
  EXPECT_EQ(refused(s + "SwitchName=t Nodes=\"b\n"), "t.conf: line 2: a quote is not closed");
  EXPECT_EQ(refused("include leaf.conf\n" + s),
            "t.conf: line 1: 'Include' is not supported; copy here the lines of 'leaf.conf' here");
  EXPECT_EQ(refused("SwitchName=s\n"), "t.conf: there are no nodes");
  EXPECT_EQ(refused("BlockSizes=4\n"), "t.conf: there are no switches, blocks or rings");
  EXPECT_EQ(refused(s, "1bps", "block"), "t.conf: unknown topology 'block'; one of: tree");
  EXPECT_EQ(refused("RingName=r Nodes=a,a\n"), "t.conf: line 1: two nodes are named 'a'");
  EXPECT_EQ(refused("SwitchName=" + std::string(200, 's') + " Nodes=a\n"),
            "t.conf: line 1: a name of over 128 bytes");
  std::string deep = s + "SwitchName=s0 Switches=s\n";
  for (int i = 0; i < 16; ++i) {
    deep += "SwitchName=s" + std::to_string(i + 1) + " Switches=s" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(refused(deep), "t.conf: line 17: over 16 levels of switches");
}

TEST(SlurmYaml, TheClusterDefaultIsTaken) {
  const ReadResult result = read_platform(kData + "topology.yaml", with("100Gbit/s,200Gbit/s"));
  EXPECT_EQ(result.format, "slurm-yaml");
  EXPECT_THAT(counts(result.platform), ElementsAre(12, 4, 2 * (12 + 3), 0));
  EXPECT_EQ(bits(result.platform, "node12", "s3"), 100e9);
  EXPECT_EQ(bits(result.platform, "s3", "root"), 200e9);
  EXPECT_THAT(result.notes,
              Contains("took the topology 'by-switch' of: by-block, by-switch, by-torus, none; "
                       "--topology selects another"));
}

TEST(SlurmYaml, AnotherTopologyCanBeNamed) {
  const std::string file = kData + "topology.yaml";
  EXPECT_THAT(counts(read_platform(file, with("1Gbit/s,2Gbit/s", "by-block")).platform),
              ElementsAre(12, 4, 2 * (12 + 3), 0));
  // 3 x 2 x 2: 12 links along x, 6 each along y and z, because a dimension of 2 has one link.
  const Platform torus = read_platform(file, with("1Gbit/s", "by-torus")).platform;
  EXPECT_THAT(counts(torus), ElementsAre(12, 0, 2 * (12 + 6 + 6), 0));
  EXPECT_EQ(bits(torus, "node03", "node01"), 1e9) << "x wraps";
  EXPECT_EQ(bits(torus, "node01", "node04"), 1e9) << "next in y";
  EXPECT_EQ(bits(torus, "node01", "node07"), 1e9) << "next in z";
  EXPECT_EQ(refusal([&] { return read_platform(file, with("1Gbit/s", "none")); }),
            file + ": /3/flat: a flat topology does not describe the network");
  EXPECT_EQ(refusal([&] { return read_platform(file, with("1Gbit/s", "by-torrus")); }),
            file +
                ": unknown topology 'by-torrus'; did you mean 'by-torus'? one of: by-block, "
                "by-switch, by-torus, none");
}

TEST(SlurmYaml, RingsAreRead) {
  const ReadResult result = read(
      yaml("  ring:\n    rings:\n    - {ring: r1, nodes: 'a[1-3]'}\n    - {ring: r2, nodes: b}\n"));
  EXPECT_THAT(counts(result.platform), ElementsAre(4, 0, 6, 0));
  EXPECT_EQ(group(result.platform, "a2"), "r1");
}

TEST(SlurmYaml, Refusals) {
  EXPECT_EQ(refused(yaml("  tree:\n    switches:\n    - switch: s\n      nodes: a[1-2\n")),
            "t.conf: /0/tree/switches/0/nodes: unbalanced brackets in 'a[1-2'");
  EXPECT_EQ(refused(yaml("  tree:\n    switches:\n    - switch: s\n      nodes: [a]\n")),
            "t.conf: /0/tree/switches/0/nodes: expected a string, got an array");
  EXPECT_EQ(
      refused(yaml("  tree:\n    switches:\n    - switch: s\n      children: u\n      nodes: a\n")),
      "t.conf: /0/tree/switches/0: there is no switch 'u'");
  EXPECT_EQ(refused(yaml("  tree:\n    switchs: []\n")),
            "t.conf: /0/tree: unknown key 'switchs'; did you mean 'switches'? one of: switches");
  EXPECT_EQ(refused(yaml("  cluster_default: maybe\n")),
            "t.conf: /0/cluster_default: expected true or false, got 'maybe'");
  EXPECT_EQ(refused(yaml("")),
            "t.conf: /0: a topology is one of tree, block, ring, torus3d, flat; this has 0");
  const auto torus = [](const std::string& rest) {
    return yaml("  torus3d:\n    toruses:\n    - name: t\n      " + rest);
  };
  EXPECT_EQ(refused(torus("dims: {x: 2, y: 2, z: 1}\n      nodes: a[1-3]\n")),
            "t.conf: /0/torus3d/toruses/0: 3 nodes do not fill 2 x 2 x 1");
  EXPECT_EQ(refused(torus("dims: {x: 4294967296, y: 4294967296, z: 1}\n      nodes: a\n")),
            "t.conf: /0/torus3d/toruses/0: 1 nodes do not fill 4294967296 x 4294967296 x 1");
  EXPECT_EQ(refused(torus("dims: {x: 0, y: 1, z: 1}\n      nodes: a\n")),
            "t.conf: /0/torus3d/toruses/0: 1 nodes do not fill 0 x 1 x 1");
  EXPECT_EQ(refused(torus("dims: {x: two, y: 1, z: 1}\n      nodes: a\n")),
            "t.conf: /0/torus3d/toruses/0/dims/x: expected a whole number, got 'two'");
  EXPECT_EQ(
      refused(torus("regions: []\n")),
      "t.conf: /0/torus3d/toruses/0/regions: regions are not supported; list all nodes in 'nodes', "
      "x varying fastest");
}

TEST(SlurmYaml, AliasesOfAliasesAreRefused) {
  std::string inside = "  a0: &a0 [x, x, x, x]\n";
  for (int level = 1; level < 14; ++level) {
    const std::string below = "*a" + std::to_string(level - 1);
    const std::string name = "a" + std::to_string(level);
    inside += "  " + name + ": &" + name + " [" + below + ", " + below + ", " + below + "]\n";
  }
  EXPECT_THAT(refused(yaml(inside)), HasSubstr("aliases make more than "));
}

TEST(SlurmYaml, InvalidYamlIsRefused) {
  EXPECT_THAT(refused(yaml("  tree: [\n")),
              StartsWith("t.conf: line 3, column 1: not valid YAML: "));
  EXPECT_EQ(refused(yaml("  tree: 1\n  tree: 2\n")),
            "t.conf: line 3, column 3: duplicate key 'tree'");
  EXPECT_EQ(refused(yaml("  ? [a]\n  : b\n")), "t.conf: line 2, column 5: a key must be a scalar");
  EXPECT_EQ(refused(yaml("---\n- x\n")), "t.conf: more than one YAML document");
  EXPECT_EQ(refused(yaml("  tree: " + std::string(100, '[') + std::string(100, ']') + "\n")),
            "t.conf: line 2, column 71: nested over 64 levels");
  EXPECT_EQ(refused(yaml("  # " + std::string(2'000'000, 'x') + "\n")),
            "t.conf: larger than 1 MiB, the size limit of this format");
}

TEST(Slurm, IsDetectedBelowComments) {
  for (const char* text : {"\n# x\nSWITCHNAME = s Nodes=a\n", "BlockName=b Nodes=a\n",
                           "RingName=r Nodes=a\n", "include x\nSwitchName=s Nodes=a\n"}) {
    EXPECT_THAT(refused(text, ""), ::testing::Not(HasSubstr("cannot tell the format"))) << text;
  }
  EXPECT_THAT(refused("SwitchNames=s Nodes=a\n"), HasSubstr("cannot tell the format"));
  EXPECT_THAT(refused("- topologies: t\n"), HasSubstr("cannot tell the format"));
}

}  // namespace
}  // namespace espalier::platforms::slurm_test
