// Operations whose parts are routed through the commands: scatter, gather and alltoall.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::routing_test {

namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// One-port, links of 100 MB/s both ways, none between a and c: half of what a sends crosses b,
// whose port carries it on.
constexpr const char* kLine = R"({"format": "espalier-platform", "version": 1, "name": "line",
  "nodes": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
  "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e8, "both_ways": true},
            {"from": "b", "to": "c", "bandwidth_Bps": 1e8, "both_ways": true}]})";

class Routing : public CliTest {
 protected:
  Routing() { write("line.json", kLine); }
  static std::vector<std::string> problem(const std::string& command,
                                          const std::string& operation) {
    std::vector<std::string> words{command, "line.json", "--operation", operation, "--json"};
    if (operation != "alltoall") words.insert(words.end(), {"--root", "a"});
    return words;
  }
  static std::vector<std::string> with(std::vector<std::string> words,
                                       const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(Routing, PlanBoundVerifyAndShowAgree) {
  for (const std::string operation : {"scatter", "gather", "alltoall"}) {
    SCOPED_TRACE(operation);
    const bool has_root = operation != "alltoall";
    // a's port carries 2/3 of the message; b's carries its own two thirds, and one for each other.
    const double optimum = has_root ? 1.5e8 : 0.75e8;
    const Json summary = run_json(with(problem("plan", operation), {"-o", "plan.json"}));
    EXPECT_NEAR(summary.at("rows")[0].at("throughput_Bps").get<double>(), optimum, 1e3);
    EXPECT_EQ(summary.at("source"), has_root ? Json("a") : Json());
    EXPECT_NEAR(run_json(problem("bound", operation)).at("bound_Bps").get<double>(), optimum, 1e3);
    const Json written = Json::parse(read("plan.json"));
    EXPECT_EQ(written.at("version"), 2);
    ASSERT_THAT(written.at("blocks"), SizeIs(has_root ? 2 : 6));
    EXPECT_EQ(written.at("blocks")[0].at("kind"), "route");
    EXPECT_THAT(written.at("blocks")[0].at("members"), SizeIs(1));
    const Json checked = run_json({"verify", "plan.json", "--platform", "line.json", "--json"});
    EXPECT_THAT(checked.at("faults"), SizeIs(0));
    EXPECT_NEAR(checked.at("bound_Bps").get<double>(), optimum, 1e3);
    EXPECT_THAT(run({"explain", "line.json", "--plan", "plan.json"}).out,
                HasSubstr("the optimum, within the proof's gap"));
    const Json shown = run_json({"show", "plan.json", "--platform", "line.json", "--json"});
    EXPECT_EQ(shown.at("blocks")[0].at("to"), operation == "gather" ? "a" : "b");
    const Json compared = run_json(
        with(problem("compare", operation), {"--algorithm", "optimal,chain,flat,binomial"}));
    ASSERT_THAT(compared.at("rows"), SizeIs(4));
    for (const Json& row : compared.at("rows")) {
      EXPECT_LE(row.at("relative").get<double>(), 1 + 1e-6) << row;
    }
    EXPECT_EQ(run({"show", "plan.json", "--platform", "line.json", "-o", "plan.svg"}).status, 0);
  }
}

TEST_F(Routing, CountsOfAnAlltoallAreAMatrix) {
  write("counts.txt", "0 1 0\n0 0 0\n0 1 0\n");
  const std::vector<std::string> counts{"--counts", "counts.txt"};
  run_json(with(with(problem("plan", "alltoall"), counts), {"-o", "plan.json"}));
  const Json written = Json::parse(read("plan.json"));
  ASSERT_THAT(written.at("blocks"), SizeIs(2));  // from a and c to b, whose port carries both
  EXPECT_EQ(written.at("blocks")[0].at("share"), 1.5);
  EXPECT_NEAR(written.at("throughput_Bps").get<double>(), 1e8 / 3, 1e3);
  write("counts.txt", "1 2 3");
  EXPECT_THAT(refusal_of(run(with(problem("bound", "alltoall"), counts))),
              HasSubstr("counts.txt: expected 9 numbers"));
}

TEST_F(Routing, Refusals) {
  const auto refusal = [&](const std::vector<std::string>& words) {
    return refusal_of(run(words));
  };
  EXPECT_THAT(refusal({"plan", "line.json", "--operation", "scatter"}),
              HasSubstr("--source is required"));
  EXPECT_THAT(refusal({"bound", "line.json", "--operation", "alltoall", "--root", "a"}),
              HasSubstr("an alltoall has no source"));
  EXPECT_THAT(refusal(with(problem("plan", "gather"), {"--max-trees", "2"})),
              HasSubstr("--max-trees: cannot be combined with gather yet"));
  EXPECT_THAT(refusal(with(problem("plan", "gather"), {"--algorithm", "exact-tree"})),
              HasSubstr("exact-tree"));
  run_json(with(problem("plan", "scatter"), {"-o", "plan.json"}));
  EXPECT_THAT(refusal({"explain", "line.json", "--plan", "plan.json", "--to", "a"}),
              HasSubstr("--to: the plan names the receivers; leave this option out"));
}

}  // namespace

}  // namespace espalier::cli::routing_test
