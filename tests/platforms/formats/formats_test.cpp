#include "platforms/formats/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/files.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::formats_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

Platform abc() {
  return parse_platform("from,to,bandwidth_Bps\naws:x,aws:y,1\naws:y,azure,1\nazure,awsome,1\n",
                        "abc.csv")
      .platform;
}

// "json, edges, ...", as listed in errors.
std::string all_names() {
  std::string names;
  for (const FormatEntry& format : formats()) {
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  return names;
}

TEST(Formats, AreDetectedFromTheContent) {
  EXPECT_EQ(parse_platform("from,to,bandwidth_Bps\na,b,1\n", "x").format, "edges");
  EXPECT_EQ(parse_platform("bandwidth_Bps,from,to\n1,a,b\n", "x").format, "edges");
  EXPECT_EQ(parse_platform("bandwidth_Bps,a,b\na,,1\nb,1,\n", "x").format, "matrix");
  EXPECT_EQ(parse_platform("src_region,dst_region,throughput_received\na,b,1\n", "x").format,
            "skyplane");
  EXPECT_EQ(parse_platform("# Tiers\n# NODES\n0 1 1 0\n# EDGES\n", "x").format, "tiers");
  EXPECT_EQ(
      parse_platform("<platform version='4'><zone id='z' routing='None'/></platform>", "x").format,
      "simgrid");
  EXPECT_EQ(
      parse_platform("<graphml><graph edgedefault='directed'><node id='0'/></graph></graphml>", "x")
          .format,
      "graphml");
  EXPECT_EQ(parse_platform("src,dst,GBps,alpha_us,kind\ngpu0,gpu1,1,,\n", "x").format, "gpufabric");
  EXPECT_EQ(parse_platform("# to 0\t\tto 1\t\t\n0 1\n1 0\n", "x").format, "starpu");
  EXPECT_EQ(parse_platform("\tGPU0\tGPU1\nGPU0\t X \tPIX\nGPU1\tPIX\t X \n", "x").format,
            "nvidiatopo");
  EXPECT_EQ(refusal([] { return parse_platform("{\"nvbandwidth\": {}}", "x"); }),
            "x: /nvbandwidth: the key 'testcases' is missing");
  EXPECT_EQ(parse_platform(
                R"({"format": "espalier-platform", "version": 1, "nodes": [], "links": []})", "x")
                .format,
            "json");
  EXPECT_EQ(parse_platform(R"({"start": {"connected": [{"local_host": "a", "remote_host": "b"}],
                "test_start": {"protocol": "TCP"}},
                "end": {"sum_received": {"bits_per_second": 8}}})",
                           "x")
                .format,
            "iperf3")
      << "before JSON of Espalier's own";
  EXPECT_EQ(parse_platform("# OSU MPI Bandwidth Test v5.8\n1 2.0\n", "a__b.bw").format, "osu");
  ReadOptions slurm;
  slurm.level_bandwidth = "1Gbit/s";
  EXPECT_EQ(parse_platform("SwitchName=s Nodes=a\n", "x", slurm).format, "slurm-conf");
  EXPECT_EQ(parse_platform("- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: a}\n",
                           "x", slurm)
                .format,
            "slurm-yaml");
  EXPECT_EQ(parse_platform("graph { a -- b }", "x").format, "dot");
  EXPECT_EQ(refusal([] { return parse_platform("hello\n", "x.txt"); }),
            "x.txt: cannot tell the format from the content; name it, one of: " + all_names());
}

TEST(Formats, FilesHaveASizeLimit) {
  const std::vector<std::pair<std::string, std::size_t>> limits{
      {"iperf3", 8},      {"osu", 1},           {"slurm-yaml", 1},     {"simgrid", 64},
      {"graphml", 64},    {"p2pbandwidth", 16}, {"nvbandwidth", 16},   {"nvidiatopo", 16},
      {"starpu", 16},     {"tiers", 64},        {"ibnetdiscover", 64}, {"gpufabric", 64},
      {"slurm-conf", 64}, {"mpigraph", 128},    {"ibstat", 64},        {"nccltopo", 16},
      {"ncclgraph", 16}};
  for (const auto& [format, most_MiB] : limits) {
    SCOPED_TRACE(format);
    ReadOptions options;
    options.format = format;
    // The text is a single invalid line, so that the test does not read a large valid file.
    const std::string text((most_MiB << 20U) + 1, 'x');
    const std::string reason =
        "x: larger than " + std::to_string(most_MiB) + " MiB, the size limit of this format";
    EXPECT_EQ(refusal([&] { return parse_platform(text, "x", options); }), reason);
    const std::string_view less = std::string_view(text).substr(1);
    EXPECT_NE(refusal([&] { return parse_platform(less, "x", options); }), reason);
  }
}

TEST(Formats, CanBeNamed) {
  ReadOptions options;
  options.format = "edge";
  EXPECT_EQ(refusal([&] { return parse_platform("x", "x", options); }),
            "unknown format 'edge'; did you mean 'edges'?");
  EXPECT_EQ(refusal([&] { return read_platform("no/such/file", options); }),
            "unknown format 'edge'; did you mean 'edges'?")
      << "before the file is read";
}

TEST(Formats, EveryWriterIsReadBack) {
  const Platform platform = abc();
  for (const FormatEntry& format : formats()) {
    EXPECT_FALSE(format.summary.empty()) << format.name;
    if (format.write == nullptr) continue;
    const std::string text = write_platform(platform, format.name);
    EXPECT_TRUE(format.detects(text)) << format.name;
    EXPECT_EQ(parse_platform(text, "x").format, format.name);
  }
}

TEST(Formats, WritingRefusals) {
  const Platform platform = abc();
  EXPECT_EQ(refusal([&] { return write_platform(platform, "skyplane"); }),
            "format 'skyplane' is read only");
  EXPECT_THAT(refusal([&] { return write_platform(platform, "yaml"); }),
              StartsWith("unknown format 'yaml'"));
}

TEST(Formats, PlainFormatsNameWhatTheyCannotRepresent) {
  const auto reasons = [](const Platform& platform) {
    return std::vector{refusal([&] { return write_platform(platform, "edges"); }),
                       refusal([&] { return write_platform(platform, "matrix"); })};
  };
  const auto with_node = [](auto change) {
    PlatformBuilder builder("x");
    const NodeId a = builder.node_named("a");
    const NodeId b = builder.node_named("b");
    builder.add_arc({a, b, {1}, {}, {}});
    change(builder);
    return std::move(builder).build();
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(reasons(with_node([](auto& builder) { builder.nodes()[1].relay = true; })),
              ElementsAre("an edge list cannot represent relay 'b'; write JSON instead",
                          "a matrix cannot represent relay 'b'; write JSON instead"));
  EXPECT_THAT(reasons(with_node([](auto& builder) { builder.nodes()[0].send = {1}; })),
              ElementsAre("an edge list cannot represent the caps of 'a'; write JSON instead",
                          "a matrix cannot represent the caps of 'a'; write JSON instead"));
  EXPECT_THAT(reasons(with_node([](auto& builder) { builder.nodes()[0].group = "g"; })),
              ElementsAre("an edge list cannot represent the group of 'a'; write JSON instead",
                          "a matrix cannot represent the group of 'a'; write JSON instead"));
  EXPECT_THAT(reasons(with_node([](auto& builder) {
                builder.add_shared_link("w", {1}, {{NodeId{0}, NodeId{1}}});
              })),
              ElementsAre("an edge list cannot represent shared link 'w'; write JSON instead",
                          "a matrix cannot represent shared link 'w'; write JSON instead"));
  PlatformBuilder named(" x");
  const NodeId a = named.node_named("a");
  named.add_arc({a, named.node_named("b"), {1}, {}, {}});
  EXPECT_THAT(
      reasons(std::move(named).build()),
      ElementsAre(
          "an edge list cannot represent the blanks around the name ' x'; write JSON instead",
          "a matrix cannot represent the blanks around the name ' x'; write JSON instead"));
}

TEST(Formats, FilesAreReadByName) {
  const std::string file = ::testing::TempDir() + "/espalier two words.csv";
  write_text(file, "from,to,bandwidth_Bps\na,b,1\n");
  EXPECT_EQ(read_platform(file).platform.name(), "espalier two words");
  write_text(file, "from,to,bandwidth_Bps\na,b\n");
  EXPECT_EQ(refusal([&] { return read_platform(file); }),
            file + ": line 2: 2 fields where the header has 3");
  std::filesystem::remove(file);
}

TEST(Caps, AreSetByPrefix) {
  const std::vector<PrefixCap> send{parse_prefix_cap("aws:x=3 B/s"), parse_prefix_cap("aws=8bit/s"),
                                    parse_prefix_cap("azure=2 B/s")};
  const std::vector<PrefixCap> receive{parse_prefix_cap("aws=5B/s")};
  const Platform platform = with_caps(abc(), send, receive);
  const auto node = [&](std::string_view name) { return platform.node(*platform.find_node(name)); };
  EXPECT_EQ(node("aws:x").send, BytesPerSecond{3}) << "the longest prefix is used";
  EXPECT_EQ(node("aws:y").send, BytesPerSecond{1});
  EXPECT_EQ(node("azure").send, BytesPerSecond{2}) << "a whole name";
  EXPECT_EQ(node("awsome").send, std::nullopt) << "the prefix must end at a colon";
  EXPECT_EQ(node("aws:x").receive, BytesPerSecond{5});
  EXPECT_EQ(platform.arcs().size(), abc().arcs().size());
}

TEST(Caps, KeepSharedLinks) {
  PlatformBuilder builder("x");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  builder.add_arc({a, b, {1}, {}, {}});
  builder.add_shared_link("w", {2}, {{a, b}});
  const std::vector<PrefixCap> caps{{"a", {7}}};
  const Platform platform = with_caps(std::move(builder).build(), caps, {});
  ASSERT_EQ(platform.shared_links().size(), 1U);
  EXPECT_EQ(platform.shared_links()[0].bandwidth.value, 2);
}

TEST(Caps, Refusals) {
  EXPECT_EQ(refusal([] { return parse_prefix_cap("aws"); }),
            "cap 'aws': expected PREFIX=RATE, such as aws=5Gbit/s");
  EXPECT_EQ(refusal([] { return parse_prefix_cap("=5Gbit/s"); }),
            "cap '=5Gbit/s': expected PREFIX=RATE, such as aws=5Gbit/s");
  EXPECT_THAT(refusal([] { return parse_prefix_cap("aws=5"); }),
              StartsWith("rate '5': the unit is missing"));
  EXPECT_EQ(refusal([] { return parse_prefix_cap("aws=0B/s"); }),
            "cap 'aws=0B/s': the rate must be finite and positive, not 0 B/s");
  const std::vector<PrefixCap> caps{{"gcp", {1}}};
  EXPECT_EQ(refusal([&] { return with_caps(abc(), caps, {}); }),
            "no node is named 'gcp' or starts with 'gcp:'");
}

}  // namespace
}  // namespace espalier::platforms::formats_test
