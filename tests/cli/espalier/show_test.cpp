// espalier show: figures, pictures and refusals.
#include <gmock/gmock.h>

#include <string>

#include "tests/cli/espalier/program.hpp"
#include "tests/support/xml.hpp"

namespace espalier::cli::show_test {

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Show : public CliTest {
 protected:
  Show() {
    write("net.json", kTriangle);
    write("plan.json", kChainPlan);
  }
};

// Rates whose bits exceed a double.
TEST_F(Show, PrintsTheFastestRatesThatAreRead) {
  write("fast.json", R"({"format": "espalier-platform", "version": 1, "name": "fast",
    "nodes": [{"name": "a"}, {"name": "b"}],
    "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e100, "both_ways": true}]})");
  const Finished finished = run({"show", "fast.json"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out, Not(HasSubstr("inf")));
  EXPECT_THAT(finished.err, Not(HasSubstr("inf")));
  EXPECT_THAT(finished.out, HasSubstr("8.0000e+88 Tbit/s  8.0000e+88 Tbit/s"));
}

TEST_F(Show, DescribesAPlatformInJson) {
  const Json json = run_json({"show", "net.json", "--json"});
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"platform",
                                                     "format",
                                                     "hosts",
                                                     "relays",
                                                     "links",
                                                     "pairs_both_ways",
                                                     "one_way_links",
                                                     "density",
                                                     "bandwidth_Bps",
                                                     "decades",
                                                     "asymmetry",
                                                     "components",
                                                     "largest_component",
                                                     "groups",
                                                     "shared",
                                                     "send_caps",
                                                     "receive_caps",
                                                     "latency_s",
                                                     "overhead_s",
                                                     "notes"}));
  EXPECT_EQ(json["hosts"], 3);
  EXPECT_EQ(json["links"], 6);
  EXPECT_EQ(json["pairs_both_ways"], 3);
  EXPECT_EQ(json["density"], 1.0);
  EXPECT_EQ(json["bandwidth_Bps"]["least"], 5e8);
  EXPECT_EQ(json["bandwidth_Bps"]["median"], 1e9);
  EXPECT_EQ(json["asymmetry"]["greatest"], 2.0);
  EXPECT_EQ(json["asymmetry"]["link"], Json({"c", "a"}));
  EXPECT_EQ(json["components"], 1);
  EXPECT_EQ(json["notes"], Json::array());
}

TEST_F(Show, DescribesAPlatformInTables) {
  const Finished finished = run({"show", "net.json"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("links       6: 3 pairs in both directions, 0 in one\n"));
  EXPECT_THAT(finished.out, HasSubstr("greatest 2.00 (c -> a over the reverse)\n"));
  EXPECT_THAT(finished.out, HasSubstr("1 Gbit/s  10 Gbit/s      6  ###"));
  EXPECT_THAT(finished.err, IsEmpty());
}

TEST_F(Show, PrintsTheReadersNotes) {
  write("twice.csv", "from,to,bandwidth_Gbps\na,b,1\na,b,1\n");
  const Finished finished = run({"show", "twice.csv"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("note: merged 2 parallel links"));
}

TEST_F(Show, DescribesAPlan) {
  const Json json = run_json({"show", "plan.json", "--platform", "net.json", "--json"});
  EXPECT_EQ(json["throughput_Bps"], 1e9);
  ASSERT_EQ(json["trees"].size(), 1U);
  EXPECT_EQ(json["trees"][0]["depth"], 2);
  EXPECT_EQ(json["trees"][0]["out_degree"], 1);
  EXPECT_EQ(json["trees"][0]["leaves"], 1);
  // a and b send, b and c receive at 8 Gbit/s; a receives and c sends nothing.
  EXPECT_EQ(json["resources"], 6);
  EXPECT_EQ(json["full"], 4);
  EXPECT_EQ(json["bottlenecks"][0], Json({{"resource", "out-port of a"}, {"load", 1.0}}));
  const Finished finished = run({"show", "plan.json", "--platform", "net.json", "--top", "1"});
  EXPECT_THAT(finished.out, HasSubstr("full        4 of 6 resources\n"));
  EXPECT_THAT(finished.out, HasSubstr("100.00 %  out-port of a\n"));
}

TEST_F(Show, WritesDotAndTheFigures) {
  const Finished finished = run({"show", "net.json", "-o", "net.dot"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("platform "));
  EXPECT_THAT(read("net.dot"), StartsWith("digraph "));
  const Finished plan =
      run({"show", "plan.json", "--platform", "net.json", "-o", "-", "--to", "dot"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, StartsWith("digraph "));
  EXPECT_THAT(plan.err, StartsWith("platform "));
}

TEST_F(Show, DrawsByCoordinates) {
  write("map.json", R"({"format": "espalier-platform", "version": 1, "name": "map",
      "nodes": [{"name": "a", "x": 4.9, "y": 52.4}, {"name": "b", "x": 11.6, "y": 48.1}],
      "links": [{"from": "a", "to": "b", "bandwidth": "1 Gbit/s"}]})");
  const Finished finished = run({"show", "map.json", "-o", "-", "--to", "dot"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("pos=\"-4.000,"));
  EXPECT_THAT(finished.out, HasSubstr("pos=\"4.000,"));
  write("half.json", R"({"format": "espalier-platform", "version": 1, "name": "map",
      "nodes": [{"name": "a", "x": 4.9}], "links": []})");
  EXPECT_EQ(refusal_of(run({"show", "half.json"})),
            "espalier: half.json: /nodes/0: 'x' without 'y'\n");
}

TEST_F(Show, DrawsOrReportsThatItCannot) {
  const Finished finished = run({"show", "plan.json", "--platform", "net.json", "-o", "plan.svg"});
  if (finished.status == 2) {
    EXPECT_THAT(finished.err, HasSubstr("built without Graphviz"));
    EXPECT_FALSE(exists("plan.svg"));
    return;
  }
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_EQ(espalier::testing::xml_fault(read("plan.svg")), "");
  run({"show", "plan.json", "--platform", "net.json", "-o", "again.svg"});
  EXPECT_EQ(read("again.svg"), read("plan.svg"));
  EXPECT_EQ(run({"show", "net.json", "-o", "net.png"}).status, 0);
  EXPECT_THAT(read("net.png"), StartsWith("\x89PNG"));
}

TEST_F(Show, RefusesUnknownPictureFormats) {
  EXPECT_EQ(refusal_of(run({"show", "net.json", "-o", "net.gif"})),
            "espalier: net.gif: unknown extension; add --to, one of: svg, png, dot\n");
  EXPECT_THAT(refusal_of(run({"show", "net.json", "-o", "net", "--to", "sgv"})),
              HasSubstr("--to: unknown format 'sgv'; did you mean 'svg'?"));
  EXPECT_THAT(refusal_of(run({"show", "net.json", "--to", "svg"})),
              HasSubstr("--to: is the picture's format; add -o FILE"));
  EXPECT_THAT(refusal_of(run({"show", "net.json", "-o", "none/net.dot"})),
              StartsWith("espalier: none/net.dot: "));
}

TEST_F(Show, DistinguishesPlansAndPlatforms) {
  EXPECT_EQ(
      refusal_of(run({"show", "plan.json"})),
      "espalier: plan.json: this is a plan; add --platform FILE, the platform that it is for\n");
  EXPECT_EQ(refusal_of(run({"show", "net.json", "--platform", "net.json"})),
            "espalier: net.json: this is not a plan; leave out --platform\n");
  EXPECT_THAT(refusal_of(run({"show", "-", "--platform", "-"})),
              HasSubstr("both be standard input"));
  // A platform may have this name.
  write("called.json", replaced(kTriangle, "triangle", "espalier-plan"));
  EXPECT_EQ(run_json({"show", "called.json", "--json"})["platform"], "espalier-plan");
}

TEST_F(Show, RefusesAPlanAsVerifyDoes) {
  write("other.json", replaced(kTriangle, R"("c")", R"("z")"));
  for (const std::string platform : {"net.json", "other.json"}) {
    write("bad.json", replaced(kChainPlan, "[[0, 1], [1, 2]]", "[[0, 1], [0, 2]]"));
    const Finished shown = run({"show", "bad.json", "--platform", platform, "-o", "bad.dot"});
    const Finished verified = run({"verify", "bad.json", "--platform", platform, "--no-proof"});
    EXPECT_EQ(shown.status, verified.status);
    EXPECT_EQ(shown.err, verified.err);
    EXPECT_THAT(shown.out, IsEmpty());
    EXPECT_FALSE(exists("bad.dot"));
  }
  write("cut.json", kChainPlan.substr(0, kChainPlan.size() / 2));
  EXPECT_THAT(refusal_of(run({"show", "cut.json", "--platform", "net.json"})),
              StartsWith("espalier: cut.json: "));
}

}  // namespace

}  // namespace espalier::cli::show_test
