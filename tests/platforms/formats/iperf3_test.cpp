#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/files.hpp"
#include "tests/platforms/figures.hpp"

namespace espalier::platforms::iperf3_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kData = ESPALIER_SOURCE_DIR "/platforms/data/measured/";

// Output of a run from 10.0.0.1 to 10.0.0.2; `test` is added to test_start, `end` is the content of
// "end".
std::string run(const std::string& end, const std::string& test = "",
                const std::string& start = "") {
  return R"({"start": {"connected": [{"local_host": "10.0.0.1", "remote_host": "10.0.0.2"}], )" +
         start + R"("test_start": {"protocol": "TCP")" + test + R"(}}, "intervals": [], "end": {)" +
         end + "}}";
}

std::string sum(const std::string& key, const std::string& bits) {
  return "\"" + key + "\": {\"bits_per_second\": " + bits + "}";
}

const std::string kTenMegabytes = sum("sum_received", "8e7");

ReadResult read(const std::string& text) {
  return parse_platform(text, "r.json");
}

std::string refused(const std::string& text) {
  return refusal([&] { return read(text); });
}

// A folder of files, removed afterwards.
class Iperf3Folder : public ::testing::Test {
 protected:
  Iperf3Folder() { std::filesystem::create_directory(folder_); }
  ~Iperf3Folder() override { std::filesystem::remove_all(folder_); }
  Iperf3Folder(const Iperf3Folder&) = delete;
  Iperf3Folder& operator=(const Iperf3Folder&) = delete;
  Iperf3Folder(Iperf3Folder&&) = delete;
  Iperf3Folder& operator=(Iperf3Folder&&) = delete;

  void write(const std::string& name, const std::string& text) const {
    write_text(folder_ + "/" + name, text);
  }
  [[nodiscard]] ReadResult read_all(const ReadOptions& options = {}) const {
    return read_platform(folder_, options);
  }
  // The error without the folder's name.
  [[nodiscard]] std::string refused_all(const ReadOptions& options = {}) const {
    return refusal([&] { return read_all(options); }).substr(folder_.size());
  }

  std::string folder_ = ::testing::TempDir() + "espalier-runs-" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

// Values from the files: end.sum_received, for the server's file sum_sent; mean_rtt is 471 us for
// the single stream, 5269 and 5431 us for the two of h2 -> h3.
TEST(Iperf3, AFolderOfRealRunsIsOnePlatform) {
  const ReadResult result = read_platform(kData + "iperf3");
  EXPECT_EQ(result.format, "iperf3");
  const Platform& platform = result.platform;
  EXPECT_EQ(platform.name(), "iperf3");
  EXPECT_EQ(platform.hosts().size(), 3U);
  EXPECT_EQ(platform.arcs().size(), 5U);
  EXPECT_DOUBLE_EQ(arc(platform, "10.99.7.1", "10.99.7.2").bandwidth.value, 3131708072.597771 / 8);
  EXPECT_DOUBLE_EQ(arc(platform, "10.99.7.1", "10.99.7.2").latency.value, 471e-6 / 2);
  EXPECT_DOUBLE_EQ(arc(platform, "10.99.7.3", "10.99.7.1").bandwidth.value, 3466277420.5211644 / 8)
      << "-R: the server sent";
  EXPECT_DOUBLE_EQ(arc(platform, "10.99.7.3", "10.99.7.1").latency.value, 0);
  EXPECT_DOUBLE_EQ(arc(platform, "10.99.7.2", "10.99.7.3").bandwidth.value, 1249356882.1497686 / 8);
  EXPECT_DOUBLE_EQ(arc(platform, "10.99.7.3", "10.99.7.2").bandwidth.value, 1705544580.2611272 / 8);
  EXPECT_DOUBLE_EQ(arc(platform, "10.99.7.3", "10.99.7.2").latency.value, 5350e-6 / 2)
      << "round trip of the opposite direction";
  EXPECT_DOUBLE_EQ(arc(platform, "10.99.7.2", "10.99.7.1").bandwidth.value, 3495691621.63539 / 8)
      << "written by the server";
  EXPECT_THAT(
      result.notes,
      ElementsAre("left out 1 failed measurement, first " + kData +
                      "iperf3/h2-h3-error.json: unable to connect to server: Connection refused",
                  "2 measurements ran in both directions at once (--bidir)",
                  "no latency for 1 of 5 links: taken as 0",
                  "1 of 6 ordered pairs were not measured: no link"));
}

TEST(Iperf3, OneRunIsALink) {
  const ReadResult result = read(run(kTenMegabytes));
  EXPECT_EQ(result.format, "iperf3");
  EXPECT_EQ(result.platform.arcs().size(), 1U);
  EXPECT_EQ(arc(result.platform, "10.0.0.1", "10.0.0.2").bandwidth.value, 1e7);
}

TEST(Iperf3, UsesTheReceivedRateOtherwiseTheSentRate) {
  const std::string sent = sum("sum_sent", "16e7");
  EXPECT_EQ(read(run(sent + "," + kTenMegabytes)).platform.arcs()[0].bandwidth.value, 1e7);
  const ReadResult result = read(run(sent));
  EXPECT_EQ(result.platform.arcs()[0].bandwidth.value, 2e7);
  EXPECT_THAT(result.notes,
              Contains("1 measurement reported what was sent, not what was received"));
}

TEST(Iperf3, OldUdpRunsReportTheLoss) {
  const ReadResult result = read(
      R"({"start": {"connected": [{"local_host": "a", "remote_host": "b"}],
          "test_start": {"protocol": "UDP", "reverse": 0}},
          "end": {"sum": {"bits_per_second": 8e6, "lost_percent": 25}}})");
  EXPECT_DOUBLE_EQ(result.platform.arcs()[0].bandwidth.value, 0.75e6);
  EXPECT_THAT(result.notes, Contains("1 measurement used UDP: the rate is limited by -b"));
}

// With -R the server sends. It reports only what it sent, and 0 for what was received.
TEST(Iperf3, AServersFileHasTheOppositeDirection) {
  const std::string at_server = R"("accepted_connection": {"host": "10.0.0.2"}, )";
  const std::string end = sum("sum_sent", "16e7") + "," + sum("sum_received", "0");
  const Platform sends = read(run(end, R"(, "reverse": 1)", at_server)).platform;
  EXPECT_EQ(arc(sends, "10.0.0.1", "10.0.0.2").bandwidth.value, 2e7);
  const Platform receives = read(run(kTenMegabytes, R"(, "reverse": 0)", at_server)).platform;
  EXPECT_EQ(arc(receives, "10.0.0.2", "10.0.0.1").bandwidth.value, 1e7);
}

// TCP at the receiver reports its own estimate of the round trip, often 0.
TEST(Iperf3, OnlyTheSenderMeasuresTheRoundTrip) {
  const auto with_stream = [](const std::string& sender) {
    return read(run(kTenMegabytes + R"(, "streams": [{"sender": )" + sender + "}]"))
        .platform.arcs()[0]
        .latency.value;
  };
  EXPECT_DOUBLE_EQ(with_stream(R"({"mean_rtt": 300, "sender": true})"), 150e-6);
  EXPECT_EQ(with_stream(R"({"mean_rtt": 300, "sender": false})"), 0);
  EXPECT_EQ(with_stream(R"({"mean_rtt": 0, "sender": true})"), 0);
}

TEST(Iperf3, OfDuplicateKeysTheFirstIsUsed) {
  EXPECT_EQ(read(run(kTenMegabytes, "", R"("sndbuf": 1, "sndbuf": 2, )")).platform.arcs().size(),
            1U);
}

TEST_F(Iperf3Folder, TheMedianOfSeveralRunsIsUsed) {
  write("1.json", run(sum("sum_received", "8")));
  write("2.json", run(sum("sum_received", "800")));
  write("3.json", run(sum("sum_received", "80")));
  const ReadResult three = read_all();
  EXPECT_EQ(three.platform.arcs()[0].bandwidth.value, 10);
  EXPECT_THAT(
      three.notes,
      Contains("took the median where a pair was measured more than once (2 repeated runs)"));
  write("4.json", run(sum("sum_received", "8")));
  EXPECT_EQ(read_all().platform.arcs()[0].bandwidth.value, 5.5) << "between the two in the middle";
}

TEST_F(Iperf3Folder, AddressesGetTheNamesOfTheCommandLine) {
  const std::string named = R"("connecting_to": {"host": "two"}, )";
  write("1.json", run(kTenMegabytes, "", named));
  write("2.json",
        R"({"start": {"connected": [{"local_host": "::ffff:10.0.0.2", "remote_host": "10.0.0.1"}],
            "test_start": {"protocol": "TCP"}}, "end": {)" +
            kTenMegabytes + "}}");
  const Platform platform = read_all().platform;
  EXPECT_EQ(platform.hosts().size(), 2U);
  EXPECT_NO_THROW(arc(platform, "10.0.0.1", "two"));
  EXPECT_NO_THROW(arc(platform, "two", "10.0.0.1")) << "IPv4 on a socket of IPv6";
  write("3.json", run(kTenMegabytes, "", R"("connecting_to": {"host": "zwei"}, )"));
  EXPECT_TRUE(read_all().platform.find_node("10.0.0.2")) << "two names, so none is used";
}

TEST_F(Iperf3Folder, OtherFilesAreLeftOutWithANote) {
  write("run.json", run(kTenMegabytes));
  write("hosts.txt", "a\nb\n");
  write("empty.json", "");
  write(".hidden", "x");
  std::filesystem::create_directory(folder_ + "/deeper");
  const ReadResult result = read_all();
  EXPECT_EQ(result.platform.arcs().size(), 1U);
  EXPECT_THAT(result.notes,
              Contains("left out 3 that are not iperf3 files, first " + folder_ + "/deeper"));
}

TEST_F(Iperf3Folder, Refusals) {
  const std::string none =
      ": no file in this folder is a measurement of a pair of hosts (iperf3, osu)";
  EXPECT_EQ(refused_all(), none);
  write("net.csv", "from,to,bandwidth_Bps\na,b,1\n");
  EXPECT_EQ(refused_all(), none);
  ReadOptions edges;
  edges.format = "edges";
  EXPECT_EQ(refused_all(edges), ": format 'edges' reads one file, not a folder");
  ReadOptions iperf3;
  iperf3.format = "iperf3";
  EXPECT_THAT(refused_all(iperf3), HasSubstr("/net.csv: line 1, column 2: not valid JSON"));
  write("a.json", R"({"start": {}, "end": {}, "error": "no"})");
  write("b.json", R"({"start": {}, "end": {}, "error": "never"})");
  EXPECT_EQ(refused_all(), ": every measurement failed, first " + folder_ + "/a.json: no");
  write("c.json", run(kTenMegabytes));
  write("d__e.bw", "# OSU MPI Bandwidth Test v5.8\n1 2.0\n");
  EXPECT_EQ(refused_all(),
            "/d__e.bw: has format osu, but the files before it in the folder have format iperf3");
}

TEST(Iperf3, Refusals) {
  EXPECT_EQ(refused(R"({"start": {}, "end": {}, "error": "unable to connect"})"),
            "r.json: the measurement failed: unable to connect");
  EXPECT_EQ(refused(R"({"start": {"connected": []}, "end": {}})"),
            "r.json: the measurement failed: no connection was made");
  EXPECT_EQ(refused(run("")), "r.json: the measurement failed: nothing was received");
  EXPECT_EQ(refused(run(sum("sum_received", "0"))),
            "r.json: the measurement failed: nothing was received");
  EXPECT_EQ(refused(run(sum("sum_received", "-8"))),
            "r.json: /end: a bandwidth must be finite and positive, not -1 B/s");
  EXPECT_EQ(refused(run(sum("sum_received", "\"fast\""))),
            "r.json: /end/sum_received/bits_per_second: expected a number, got a string");
  EXPECT_EQ(refused(R"({"start": {}})"), "r.json: the key 'end' is missing");
  EXPECT_THAT(refused(R"({"start": {"connected")"),
              HasSubstr("r.json: line 1, column 22: not valid JSON"));
  EXPECT_EQ(refused(R"({"event":"start","data":{}})"),
            "r.json: the output of iperf3 --json-stream is not supported; run it with -J");
}

}  // namespace
}  // namespace espalier::platforms::iperf3_test
