// The families of generate, and which commands print notes about suspicious platforms.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::generate_test {

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class GenerateFamilies : public CliTest {
 protected:
  [[nodiscard]] std::vector<std::string> families() const {
    std::vector<std::string> names;
    const Json list = run_json({"list", "families", "--json"});
    for (const Json& entry : list.at("families")) names.push_back(entry.at("name"));
    return names;
  }
  // Tiers has no default shape.
  static std::vector<std::string> generate(const std::string& family) {
    if (family == "tiers") return {"generate", family, "--preset", "hbt-30"};
    return {"generate", family};
  }
};

TEST_F(GenerateFamilies, EachMakesASeriesThatCanBePlannedOn) {
  for (const std::string& family : families()) {
    SCOPED_TRACE(family);
    std::vector<std::string> arguments = generate(family);
    for (const char* const more :
         {"--heterogeneity", "0.3", "--seed", "5", "--count", "2", "-o", "draws"}) {
      arguments.emplace_back(more);
    }
    const Finished series = run(arguments);
    ASSERT_EQ(series.status, 0) << series.err;
    std::vector<std::string> one = generate(family);
    for (const char* const more : {"--heterogeneity", "0.3", "--seed", "6"}) one.emplace_back(more);
    const std::string file = "draws/" + family + "-002.json";
    EXPECT_EQ(read(file), run(one).out);
    EXPECT_NE(read(file), read("draws/" + family + "-001.json"));
    const Json platform = parse_json(read(file), file);
    const Finished plan =
        run({"plan", file, "--source", platform.at("nodes")[0].at("name"), "--algorithm", "grow"});
    EXPECT_EQ(plan.status, 0) << plan.err;
  }
}

TEST_F(GenerateFamilies, RefusalsNameTheOption) {
  const auto refused = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "generate");
    return refusal_of(run(arguments));
  };
  EXPECT_EQ(refused({"star", "--hosts", "0"}), "espalier: hosts must be 2 to 200000, not 0\n");
  EXPECT_EQ(refused({"star", "--hosts", "1000000000"}),
            "espalier: hosts must be 2 to 200000, not 1000000000\n");
  EXPECT_THAT(refused({"star", "--bandwidth", "1Gbit/s,10"}),
              HasSubstr("espalier: --bandwidth: rate '10': the unit is missing"));
  EXPECT_THAT(refused({"star", "--slow-hosts", "0.5"}), HasSubstr("espalier: --slow-hosts: '0.5'"));
  EXPECT_EQ(refused({"two-clusters", "--hosts", "3,4,5"}),
            "espalier: --hosts: got 3 values for two clusters; give one or two\n");
  EXPECT_EQ(refused({"two-clusters", "--form", "gatways"}),
            "espalier: --form: unknown form 'gatways'; did you mean 'gateways'? one of: switches, "
            "gateways, shared-link\n");
  EXPECT_EQ(refused({"fat-tree", "--ports", "7"}),
            "espalier: --ports: the ports of a switch must be even, 2 to 200000, not 7\n");
  EXPECT_THAT(refused({"fat-tree", "--shape", "2;4"}), HasSubstr("espalier: --shape: the shape"));
  EXPECT_EQ(refused({"fat-tree", "--oversubscription", "4,"}),
            "espalier: --oversubscription: '' is not a number\n");
  EXPECT_EQ(refused({"torus", "--dims", "3x3x"}), "espalier: --dims: '' is not a whole number\n");
  EXPECT_EQ(refused({"dragonfly", "--global-ports", "0"}),
            "espalier: --global-ports: a router needs at least one\n");
  EXPECT_THAT(refused({"dragonfly", "--shape", "1,1;1,1;1,1;2", "--groups", "3"}),
              HasSubstr("excludes"));
  EXPECT_THAT(refused({"multi-region", "--wan", "1Gbit/s..fast"}), HasSubstr("espalier: --wan: "));
  EXPECT_THAT(refused({"random", "--heterogeneity", "x"}),
              HasSubstr("espalier: --heterogeneity: 'x' is not a number"));
}

TEST_F(GenerateFamilies, RandomsHeterogeneityIsItsDeviation) {
  EXPECT_EQ(run({"generate", "random", "--heterogeneity", "0.4"}).out,
            run({"generate", "random", "--deviation", "40MB/s"}).out);
}

//    a---b---c    c -> d has no reverse link
//             \.
//              d
TEST_F(GenerateFamilies, WarningsAreNotesOfTheCommandsThatShowAPlatform) {
  write("p.csv", "from,to,bandwidth_Gbps\na,b,8\nb,a,8\nb,c,8\nc,b,8\nc,d,8\n");
  const std::string note = "espalier: note: 1 link has one direction only: 'c' -> 'd'\n";
  EXPECT_EQ(run({"bound", "p.csv", "--source", "a"}).err, note);
  EXPECT_EQ(run({"convert", "p.csv", "-o", "p.json"}).err, note);
  EXPECT_THAT(run({"bound", "p.csv", "--source", "a", "--quiet"}).err, IsEmpty());
  EXPECT_THAT(run({"convert", "p.csv", "-o", "p.json", "-q"}).err, IsEmpty());
  EXPECT_THAT(run({"plan", "p.json", "--source", "a", "-o", "plan.json"}).err, IsEmpty());
  EXPECT_THAT(run({"compare", "p.json", "--source", "a", "--algorithm", "grow"}).err, IsEmpty());
}

TEST_F(GenerateFamilies, ASeriesPrintsTheFirstNotesAndHowManyHaveSome) {
  const std::vector<std::string> thin{"generate", "two-clusters", "--thin", "100kbit/s"};
  EXPECT_THAT(run(thin).err, HasSubstr("espalier: note: a link over 500 times slower"));
  std::vector<std::string> series = thin;
  series.insert(series.end(), {"--count", "4", "-o", "d"});
  const Finished finished = run(series);
  EXPECT_THAT(finished.err, HasSubstr("espalier: note: d/two-clusters-001.json: a link over"));
  EXPECT_THAT(finished.err, Not(HasSubstr("002.json")));
  EXPECT_THAT(finished.err, HasSubstr("espalier: note: 4 of the 4 platforms have such notes\n"));
}

}  // namespace

}  // namespace espalier::cli::generate_test
