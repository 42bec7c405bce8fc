// report: what the page contains, and refusals. tests/page/ opens it in a browser.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::report_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

class ReportPage : public CliTest {
 protected:
  ReportPage() {
    write("net.json", kTriangle);
    write("plan.json", kChainPlan);
  }

  // The facts in the page that `files` give.
  Json facts_of(std::vector<std::string> files, int status = 0) const {
    files.insert(files.begin(), "report");
    for (const char* more : {"-o", "page.html", "--algorithm", "grow,chain"})
      files.emplace_back(more);
    const Finished finished = run(files);
    EXPECT_EQ(finished.status, status) << finished.err;
    return facts_in(read("page.html"));
  }

  static Json facts_in(const std::string& page) {
    const std::string begin = R"(<script type="application/json" id="facts">)";
    const std::size_t at = page.find(begin) + begin.size();
    return parse_json(page.substr(at, page.find("</script>", at) - at), "facts");
  }

  void trace(const std::string& file, const std::string& platform = "net.json") const {
    const Finished finished = run({"simulate", "plan.json", "--platform", platform, "--message",
                                   "1MiB", "--segment", "512KiB", "--trace", file});
    ASSERT_EQ(finished.status, 0) << finished.err;
  }

  std::string refusal(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "report");
    for (const char* more : {"-o", "page.html"}) arguments.emplace_back(more);
    const std::string refusal = refusal_of(run(arguments));
    EXPECT_FALSE(exists("page.html"));
    return refusal;
  }
};

std::vector<std::string> names_of(const Json& nodes) {
  std::vector<std::string> names;
  for (const Json& node : nodes) names.push_back(node.at("name"));
  return names;
}

std::size_t count_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST_F(ReportPage, OfAPlatformHasItsBottlenecksAndAlgorithms) {
  const Json facts = facts_of({"net.json"});
  EXPECT_THAT(names_of(facts.at("network").at("nodes")), ElementsAre("a", "b", "c"));
  EXPECT_EQ(facts.at("network").at("links").size(), 6U);
  EXPECT_EQ(facts.at("problem").at("source"), "a");
  EXPECT_NEAR(facts.at("problem").at("report").at("bound_Bps").get<double>(), 1e9, 1);
  EXPECT_THAT(facts.at("problem").at("sentences"), Not(IsEmpty()));
  EXPECT_EQ(facts.at("comparison").at("rows").size(), 2U);
  EXPECT_THAT(facts.at("commands").at(0).at("command"),
              "espalier plan net.json --source a --model one-port -o plan.json");
  EXPECT_FALSE(facts.contains("trace"));
}

TEST_F(ReportPage, OfPlansHasTheirTreesAndWhereTheyLose) {
  const Finished grown =
      run({"plan", "net.json", "--source", "a", "--algorithm", "flat", "-o", "flat.json"});
  ASSERT_EQ(grown.status, 0) << grown.err;
  const Json facts = facts_of({"plan.json", "flat.json", "--platform", "net.json"});
  ASSERT_EQ(facts.at("plans").size(), 2U);
  EXPECT_EQ(facts.at("plans").at(0).at("trees").at(0).at("paths"), Json::parse("[[0, 1], [1, 2]]"));
  EXPECT_EQ(facts.at("plans").at(0).at("relative"), 1);
  EXPECT_THAT(facts.at("problem").at("losses").at("0").at(0),
              HasSubstr("plan.json (optimal, 1 tree) carries 8.0000 Gbit/s: the optimum"));
  EXPECT_THAT(facts.at("problem").at("losses").at("1").at(0),
              HasSubstr("less than the proven bound"));
  EXPECT_THAT(facts.at("problem").at("losses").at("1").back(), Not(HasSubstr("costly edge")));
}

// 1 MiB in two segments along a -> b -> c.
TEST_F(ReportPage, PlaysATrace) {
  trace("trace.json");
  const Json facts = facts_of({"net.json", "plan.json", "trace.json"}).at("trace");
  EXPECT_THAT(facts.at("lines"),
              ElementsAre("out-port of a", "out-port of b", "in-port of b", "in-port of c"));
  EXPECT_EQ(facts.at("bars").size(), 8U);
  ASSERT_EQ(facts.at("hops").size(), 4U);
  EXPECT_EQ(facts.at("hops").at(0), Json::parse("[0, 333333, 0, 0, 0, 1]"));
  EXPECT_EQ(facts.at("hops").at(3), Json::parse("[666667, 333333, 0, 1, 1, 2]"));
  EXPECT_EQ(facts.at("every"), 1);
}

// Of a run, a line for what each rank receives and one for what it sends.
TEST_F(ReportPage, PlaysATraceOfRanksOnTheNodesOfThePlan) {
  write("run.json", R"({"traceEvents": [
    {"ph": "M", "pid": 0, "tid": 2, "name": "thread_name", "args": {"name": "rank 1 (x) receives"}},
    {"ph": "M", "pid": 0, "tid": 1, "name": "thread_name", "args": {"name": "rank 0 (x) sends"}},
    {"ph": "X", "pid": 0, "tid": 1, "ts": 0, "dur": 4, "name": "s",
     "args": {"to_rank": 1, "tree": 0, "segment": 0}},
    {"ph": "X", "pid": 0, "tid": 2, "ts": 2, "dur": 8, "name": "r",
     "args": {"from_rank": 0, "tree": 0, "segment": 0}}]})");
  const Json with_plan = facts_of({"net.json", "plan.json", "run.json"});
  EXPECT_EQ(with_plan.at("trace").at("hops"), Json::parse("[[200000, 800000, 0, 0, 0, 1]]"));
  const Json alone = facts_of({"run.json"});
  EXPECT_THAT(names_of(alone.at("network").at("nodes")), ElementsAre("rank 0 (x)", "rank 1 (x)"));
  EXPECT_FALSE(alone.contains("summary"));
  EXPECT_FALSE(alone.contains("problem"));
}

TEST_F(ReportPage, LeavesSegmentsOfALongTraceOut) {
  const Finished finished = run({"simulate", "plan.json", "--platform", "net.json", "--message",
                                 "15001KiB", "--segment", "1KiB", "--trace", "trace.json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json facts = facts_of({"trace.json"}).at("trace");
  EXPECT_EQ(facts.at("bars_in_all"), 60004);
  EXPECT_EQ(facts.at("every"), 4);
  EXPECT_EQ(facts.at("bars").size(), 4 * 3751U);
}

// Names from files neither end the script nor become elements.
TEST_F(ReportPage, ShowsAnyNameAsText) {
  const std::string name = R"(</script><b onload='x'>&amp;<!-- \" )";
  const Json node = name;
  write("odd.json", replaced(replaced(kTriangle, "\"name\": \"a\"", "\"name\": " + node.dump()),
                             "\"name\": \"triangle\"", "\"name\": " + node.dump()));
  std::string odd = read("odd.json");
  for (std::size_t at = odd.find("\"a\""); at != std::string::npos;
       at = odd.find("\"a\"", at + 1)) {
    odd.replace(at, 3, node.dump());
  }
  write("odd.json", odd);
  const Json facts = facts_of({"odd.json"});
  EXPECT_EQ(facts.at("network").at("nodes").at(0).at("name"), name);
  EXPECT_EQ(facts.at("title"), name);
  const std::string page = read("page.html");
  EXPECT_EQ(count_in(page, "<script"), 2U);
  EXPECT_EQ(count_in(page, "</script"), 2U);
  EXPECT_EQ(count_in(page, "<!--"), 0U);
  EXPECT_EQ(count_in(page, "<b "), 0U);
}

TEST_F(ReportPage, IsWholeInItselfAndTheSameEachTime) {
  facts_of({"net.json", "plan.json"});
  const std::string page = read("page.html");
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* outside : {"http:", "https:", "<link", "@import", "url(", " src="}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
  const Finished again =
      run({"report", "net.json", "plan.json", "--algorithm", "grow,chain", "-o", "-"});
  EXPECT_EQ(again.out, page);
  EXPECT_THAT(again.err, MatchesRegex("-: [0-9.]+ kB\n"));
}

TEST_F(ReportPage, ShowsANetworkOnWhichNothingReachesAHost) {
  write("cut.json", R"({"format": "espalier-platform", "version": 1, "name": "cut",
    "nodes": [{"name": "a"}, {"name": "b"}],
    "links": [{"from": "b", "to": "a", "bandwidth": "1 Gbit/s"}]})");
  const Json facts = facts_of({"cut.json"}, 3);
  EXPECT_EQ(facts.at("network").at("nodes").size(), 2U);
  EXPECT_EQ(facts.at("remarks").size(), 1U);
  EXPECT_FALSE(facts.contains("problem"));
}

TEST_F(ReportPage, RefusesFilesThatDoNotFit) {
  trace("trace.json");
  EXPECT_THAT(refusal({"plan.json"}), HasSubstr("plan.json: this is a plan; add --platform FILE"));
  EXPECT_THAT(refusal({"net.json", "net.json"}), HasSubstr("a page has one platform"));
  EXPECT_THAT(refusal({"net.json", "trace.json", "trace.json"}), HasSubstr("plays one trace"));
  EXPECT_THAT(refusal({"net.json", "--platform", "plan.json"}),
              HasSubstr("plan.json: --platform: this is not a platform"));
  EXPECT_EQ(refusal({"net.json", "plan.json", "--source", "b"}),
            "espalier: --source: is the plan's; leave this option out\n");
  EXPECT_THAT(refusal({sample("two-clusters-thin-link.json"), "trace.json"}),
              HasSubstr("trace.json: is of another network"));
  write("bad.json", R"({"traceEvents": [{"ph": "X", "ts": -1, "dur": 1}]})");
  EXPECT_EQ(refusal({"bad.json"}),
            "espalier: bad.json: /traceEvents/0: needs \"ts\", a number that is not negative\n");
  for (const std::string to : {"b", "c"}) {
    run({"plan", "net.json", "--source", "a", "--to", to, "-o", to + ".json"});
  }
  EXPECT_EQ(refusal({"net.json", "b.json", "c.json"}),
            "espalier: c.json: is for other hosts than the first plan; make a page of its own\n");
  write("net.json", replaced(kTriangle, "1e9", "9e8"));
  const Finished invalid = run({"report", "net.json", "plan.json", "-o", "page.html"});
  EXPECT_EQ(invalid.status, 5);
  EXPECT_FALSE(exists("page.html"));
}

}  // namespace

}  // namespace espalier::cli::report_test
