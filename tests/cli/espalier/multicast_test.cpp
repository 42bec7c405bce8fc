// Broadcasts to some of the hosts through the commands.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::multicast_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// One-port: s to a and b over h at 100 MB/s, directly at 50; island is not connected.
constexpr const char* kHub = R"({"format": "espalier-platform", "version": 1, "name": "hub",
  "nodes": [{"name": "s"}, {"name": "h"}, {"name": "a"}, {"name": "b"}, {"name": "island"}],
  "links": [{"from": "s", "to": "h", "bandwidth_Bps": 1e8},
            {"from": "h", "to": "a", "bandwidth_Bps": 2e8},
            {"from": "h", "to": "b", "bandwidth_Bps": 2e8},
            {"from": "s", "to": "a", "bandwidth_Bps": 5e7},
            {"from": "s", "to": "b", "bandwidth_Bps": 5e7}]})";

class MulticastCommands : public CliTest {
 protected:
  MulticastCommands() { write("hub.json", kHub); }
  static std::vector<std::string> words(const std::string& command,
                                        const std::vector<std::string>& more) {
    return joined({command, "hub.json", "--source", "s"}, more);
  }
  Finished refused(const std::vector<std::string>& more) const {
    Finished finished = run(words("plan", more));
    EXPECT_TRUE(is_one_line(finished.err)) << finished.err;
    return finished;
  }
};

TEST_F(MulticastCommands, EveryCommandServesAPlanWithHelpers) {
  const Json summary = run_json(words("plan", {"--to", "a,b", "-o", "plan.json", "--json"}));
  EXPECT_NEAR(summary.at("rows")[0].at("throughput_Bps").get<double>(), 1e8, 1e3);
  const Json plan = Json::parse(read("plan.json"));
  EXPECT_EQ(plan.at("nodes"), Json({"s", "h", "a", "b"}));
  EXPECT_EQ(plan.at("blocks")[0].at("members"), Json({2, 3}));
  const Json checked = run_json({"verify", "plan.json", "--platform", "hub.json", "--json"});
  EXPECT_THAT(checked.at("faults"), IsEmpty());
  const Json shown = run_json({"show", "plan.json", "--platform", "hub.json", "--json"});
  EXPECT_EQ(shown.at("receivers"), 2);
  EXPECT_EQ(shown.at("helpers"), 1);
  EXPECT_EQ(shown.at("blocks")[0].at("members"), Json({"a", "b"}));
  EXPECT_EQ(run({"show", "plan.json", "--platform", "hub.json", "-o", "plan.svg"}).status, 0);
  EXPECT_THAT(read("plan.svg"), HasSubstr("<svg"));
  const Json simulated =
      run_json({"simulate", "plan.json", "--platform", "hub.json", "--message", "1GB", "--json"});
  EXPECT_NEAR(simulated.at("rows")[0].at("makespan_s").get<double>(), 10, 0.1);
  const Json bound = run_json(words("bound", {"--to", "a", "--to", "b", "--json"}));
  EXPECT_NEAR(bound.at("bound_Bps").get<double>(), 1e8, 1e3);
  const Json compared =
      run_json(words("compare", {"--to", "a,b", "--algorithm", "optimal,flat", "--json"}));
  EXPECT_NEAR(compared.at("rows")[1].at("relative").get<double>(), 0.25, 1e-5);
  const Json explained = run_json(words("explain", {"--to", "a,b", "--json"}));
  EXPECT_NEAR(explained.at("bound_Bps").get<double>(), 1e8, 1e3);
}

TEST_F(MulticastCommands, WithoutHelpersItIsABroadcastOfAllOptions) {
  const Json summary = run_json(words("plan", {"--to", "a,b", "--helpers", "none", "-o",
                                               "plan.json", "--message", "1MB", "--json"}));
  const Json plan = Json::parse(read("plan.json"));
  EXPECT_EQ(plan.at("version"), 1);
  EXPECT_EQ(plan.at("nodes"), Json({"s", "a", "b"}));
  const Finished lost = run({"explain", "hub.json", "--plan", "plan.json"});
  EXPECT_EQ(lost.status, 0) << lost.err;
}

TEST_F(MulticastCommands, Refusals) {
  const Finished lonely = refused({});
  EXPECT_EQ(lonely.status, 3);
  EXPECT_EQ(
      lonely.err,
      "espalier: hub: 'island' cannot be reached from 's'; to those that can be reached: --to "
      "h,a,b\n");
  EXPECT_EQ(refused({"--to", "island"}).status, 3);
  EXPECT_THAT(refused({"--to", "c"}).err, HasSubstr("unknown host 'c'"));
  EXPECT_THAT(refused({"--helpers", "none"}).err, HasSubstr("--helpers: needs --to NAME"));
  EXPECT_THAT(refused({"--to", "a", "--message", "1MB"}).err,
              HasSubstr("--message: cannot be combined with helpers yet; give --helpers none"));
  EXPECT_THAT(refused({"--to", "a", "--operation", "reduce"}).err,
              HasSubstr("--to: is for a broadcast"));
}

}  // namespace

}  // namespace espalier::cli::multicast_test
