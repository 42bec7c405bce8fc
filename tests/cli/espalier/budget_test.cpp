// Prices, budgets and deadlines of plan, bound, compare, verify, simulate and convert.
#include <gmock/gmock.h>

#include <string>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::budget_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

//      s             every link 8 Gbit/s; out of s 4 USD a GB, between a and b 6. The star costs 8
//     / \            and carries 4 Gbit/s, the two chains cost 10 and carry 8 Gbit/s; at 9 a third
//    a===b           of each second of s goes to the chains: 16/3 Gbit/s.
const std::string kPriced = R"({"format": "espalier-platform", "version": 1, "name": "priced",
  "currency": "USD", "nodes": [{"name": "s", "price_per_hour": 3}, {"name": "a"}, {"name": "b"}],
  "links": [{"from": "s", "to": "a", "bandwidth_Bps": 1e9, "price_per_GB": 4},
            {"from": "s", "to": "b", "bandwidth_Bps": 1e9, "price_per_GB": 4},
            {"from": "a", "to": "b", "bandwidth_Bps": 1e9, "price_per_GB": 6, "both_ways": true}]})";

class Prices : public CliTest {
 protected:
  Prices() { write("p.json", kPriced); }

  std::vector<std::string> plan(const std::vector<std::string>& options) const {
    return joined({"plan", "p.json", "--source", "s", "-o", "plan.json"}, options);
  }
  void expect_refused(const std::vector<std::string>& arguments, int status,
                      const std::string& line) const {
    EXPECT_EQ(refusal_of(run(arguments), status), "espalier: " + line + "\n");
  }
};

TEST_F(Prices, EveryReportStatesTheCost) {
  const Finished planned = run(plan({}));
  EXPECT_THAT(planned.out, HasSubstr("costs 10.0000 USD per GB of message, and 3.0000 USD per hour "
                                     "for the hosts\n"));
  EXPECT_THAT(run({"show", "plan.json", "--platform", "p.json"}).out,
              HasSubstr("10.0000 USD per GB of message"));
  EXPECT_THAT(run({"explain", "p.json", "--source", "s"}).out,
              HasSubstr("10.0000 USD per GB of message"));
  const Json verified = run_json({"verify", "plan.json", "--platform", "p.json", "--json"});
  EXPECT_NEAR(verified.at("cost_per_GB").get<double>(), 10, 1e-9);
  EXPECT_EQ(verified.at("currency"), "USD");
  const Json simulated =
      run_json({"simulate", "plan.json", "--platform", "p.json", "--message", "1GB", "--json"});
  const Json& row = simulated.at("rows")[0];
  EXPECT_NEAR(row.at("cost").get<double>(), 10 + 3 * row.at("makespan_s").get<double>() / 3600,
              1e-9);
  const Json bound = run_json({"bound", "p.json", "--source", "s", "--json"});
  EXPECT_NEAR(bound.at("cost_per_GB").get<double>(), 10, 1e-4);
}

TEST_F(Prices, ABudget) {
  for (const char* budget : {"9", "9.00/GB", "9 USD/GB", "9 USD"}) {
    const Json planned = run_json(plan({"--budget", budget, "--json"}));
    const Json& row = planned.at("rows")[0];
    EXPECT_NEAR(row.at("throughput_Bps").get<double>(), 2e9 / 3, 2e4);
    EXPECT_NEAR(row.at("bound_Bps").get<double>(), 2e9 / 3, 2e4);
    EXPECT_LE(row.at("cost_per_GB").get<double>(), 9 * (1 + 1e-9));
    EXPECT_EQ(planned.at("budget_per_GB"), 9);
  }
  EXPECT_EQ(run({"verify", "plan.json", "--platform", "p.json"}).status, 0);
  write("bad.json", replaced(read("plan.json"), "\"budget_per_GB\": 9", "\"budget_per_GB\": 8.5"));
  const Finished faulty = run({"verify", "bad.json", "--platform", "p.json", "--no-proof"});
  EXPECT_EQ(faulty.status, 5);
  EXPECT_THAT(faulty.err, HasSubstr("/budget_per_GB: the plan costs"));
  const Json bound = run_json({"bound", "p.json", "--source", "s", "--budget", "9/GB", "--json"});
  EXPECT_NEAR(bound.at("bound_Bps").get<double>(), 2e9 / 3, 2e4);
  EXPECT_EQ(bound.at("bottlenecks")[0].at("resource"), "money");
  EXPECT_NEAR(bound.at("bottlenecks")[0].at("price").get<double>(), 3, 0.01);
}

TEST_F(Prices, ADeadline) {
  const Json planned = run_json(plan({"--message", "2GB", "--deadline", "3s", "--json"}));
  EXPECT_NEAR(planned.at("rows")[0].at("cost_per_GB").get<double>(), 9, 1e-3);
  EXPECT_NEAR(planned.at("least_cost_per_GB").get<double>(), 9, 1e-3);
  EXPECT_NEAR(planned.at("message_cost").get<double>(), 18 + 3 * 3. / 3600, 2e-3);
  EXPECT_LE(planned.at("message_s").get<double>(), 3);
  expect_refused(plan({"--message", "2GB", "--deadline", "1s"}), 3,
                 "priced: no plan is that fast; the fastest carries 8.0000 Gbit/s");
}

TEST_F(Prices, Refusals) {
  expect_refused(plan({"--budget", "7.99"}), 3,
                 "priced: no plan costs so little; the cheapest costs 8.0000 USD per GB");
  expect_refused(plan({"--budget", "9 EUR/GB"}), 2,
                 "--budget: the prices of platform 'priced' are in USD, not EUR");
  expect_refused(plan({"--budget", "cheap"}), 2,
                 "--budget: expected a price of a GB above 0, such as 4.00/GB or '4.00 "
                 "USD/GB', got 'cheap'");
  expect_refused(plan({"--budget", "9", "--algorithm", "grow"}), 2,
                 "--budget: 'grow' does not know prices; use 'optimal'");
  expect_refused(plan({"--budget", "9", "--max-trees", "2"}), 2,
                 "--budget: cannot be combined with --max-trees yet");
  expect_refused(plan({"--deadline", "3s"}), 2, "--deadline: needs --message SIZE");
  write("q.json", kTriangle);
  EXPECT_THAT(refusal_of(run({"plan", "q.json", "--source", "a", "--budget", "9"})),
              HasSubstr("no link has a price; add 'price_per_GB' to its links, or "
                        "give --prices FILE"));
}

TEST_F(Prices, TheFrontier) {
  const Json compared =
      run_json({"compare", "p.json", "--source", "s", "--algorithm", "optimal,flat,chain",
                "--frontier", "--chart", "f.svg", "--json"});
  const Json& frontier = compared.at("frontier");
  ASSERT_EQ(frontier.size(), 8U);
  EXPECT_NEAR(frontier[0].at("throughput_Bps").get<double>(), 0.5e9, 1e6);
  EXPECT_NEAR(frontier[7].at("throughput_Bps").get<double>(), 1e9, 1e6);
  for (std::size_t i = 1; i < frontier.size(); ++i) {
    EXPECT_GT(frontier[i].at("throughput_Bps"), frontier[i - 1].at("throughput_Bps"));
    // t = 1 / (6 - c / 2) GB/s
    const double budget = frontier[i].at("budget_per_GB").get<double>();
    EXPECT_NEAR(frontier[i].at("throughput_Bps").get<double>(), 1e9 / (6 - budget / 2), 1e5);
  }
  for (const Json& row : compared.at("rows")) {
    const double cost = row.at("algorithm") == "flat" ? 8 : 10;
    EXPECT_NEAR(row.at("cost_per_GB").get<double>(), cost, 1e-9);
  }
  EXPECT_THAT(read("f.svg"), StartsWith("<svg"));
  EXPECT_THAT(read("f.svg"), HasSubstr("flat"));
  expect_refused({"compare", "p.json", "--chart", "f.svg"}, 2, "--chart: needs --frontier");
}

TEST_F(Prices, ConvertTakesATableAndKeepsIt) {
  write("q.csv", "from,to,bandwidth_Gbps\na,b,1\nb,a,1\n");
  write("prices.csv", "src,dest,cost\na,b,0.5\n");
  const Finished converted = run({"convert", "q.csv", "--prices", "prices.csv", "-o", "q.json"});
  EXPECT_EQ(converted.status, 0);
  EXPECT_THAT(converted.err, HasSubstr("prices.csv: no price for 1 of 2 links\n"));
  EXPECT_THAT(read("q.json"), HasSubstr("\"price_per_GB\": 0.5"));
  EXPECT_THAT(run({"convert", "q.json", "-o", "q.dot"}).err,
              HasSubstr("q.dot: dot has no prices; they are left out, only JSON keeps everything"));
}

// The published prices of the 71 regions: a figure of docs/model.md.
TEST_F(Prices, TheCloudRegions) {
  const Json bound =
      run_json({"bound", sample("cloud-71-regions.json"), "--source", "gcp:us-west1-a", "--prices",
                sample("skyplane/cost.csv"), "--budget", "2.5", "--json"});
  EXPECT_NEAR(8e-9 * bound.at("optimum_Bps").get<double>(), 2.3980, 1e-4);
  EXPECT_NEAR(8e-9 * bound.at("bound_Bps").get<double>(), 2.3980, 1e-4);
}

}  // namespace

}  // namespace espalier::cli::budget_test
