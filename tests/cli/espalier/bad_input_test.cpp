// Invalid platforms: each refused in one line that names file, place and reason. The reasons are
// those of tests/platforms/formats; here is what a user sees of them.
#include <gmock/gmock.h>

#include <string>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::bad_input_test {

namespace {

using namespace ::testing;

class BadPlatform : public CliTest {
 protected:
  // The message of `bound` for the text as platform.json.
  std::string refused(const std::string& text, int status = 2) const {
    write("platform.json", text);
    return refusal({"bound", "platform.json", "--source", "a"}, status);
  }
};

TEST_F(BadPlatform, NoSuchFileAndAFolder) {
  EXPECT_EQ(refusal({"bound", "none.json", "--source", "a"}),
            "espalier: none.json: cannot open: No such file or directory\n");
  refusal({"bound", ".", "--source", "a"});
}

TEST_F(BadPlatform, AnEmptyFile) {
  EXPECT_THAT(refused(""), StartsWith("espalier: platform.json: "));
  EXPECT_THAT(refusal({"bound", "-", "--source", "a"}), StartsWith("espalier: <stdin>: "));
}

TEST_F(BadPlatform, TruncatedSaysWhere) {
  EXPECT_THAT(refused(kTriangle.substr(0, kTriangle.size() - 2)),
              StartsWith("espalier: platform.json: line "));
}

// GLPK would abort, after printing to stdout.
TEST_F(BadPlatform, RatesTooFarApart) {
  EXPECT_EQ(refused(R"({"format": "espalier-platform", "version": 1, "name": "far",
      "nodes": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
      "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e300},
                {"from": "b", "to": "c", "bandwidth_Bps": 1e-300},
                {"from": "a", "to": "c", "bandwidth_Bps": 1}]})"),
            "espalier: platform.json: /links: 'a' -> 'b' (1e+300 B/s) is over 1e+15 times faster "
            "than 'b' -> 'c' (1e-300 B/s), too far apart to compute with; check the units\n");
}

TEST_F(BadPlatform, TwoNodesOfOneName) {
  EXPECT_EQ(refused(R"({"format": "espalier-platform", "version": 1, "name": "twins",
      "nodes": [{"name": "a"}, {"name": "b"}, {"name": "a"}], "links": []})"),
            "espalier: platform.json: /nodes/2/name: two nodes are named 'a'\n");
}

TEST_F(BadPlatform, AnotherFormat) {
  write("p.csv", "from,to,bandwidth\na,b,8\n");
  EXPECT_THAT(refusal({"bound", "p.csv", "--source", "a"}),
              AllOf(StartsWith("espalier: p.csv: line 2: "), HasSubstr("the unit is missing")));
}

TEST_F(BadPlatform, UnknownSourceSuggestsTheNearest) {
  EXPECT_THAT(refusal({"plan", sample("cloud-71-regions.json"), "--source", "aws:us-esat-1", "-o",
                       "plan.json"}),
              AllOf(HasSubstr("'aws:us-esat-1'"), HasSubstr("did you mean 'aws:us-east-1'?")));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(BadPlatform, ARelayCannotBeTheSource) {
  write("p.json", R"({"format": "espalier-platform", "version": 1, "name": "star",
    "nodes": [{"name": "a"}, {"name": "b"}, {"name": "sw", "relay": true}],
    "links": [{"from": "a", "to": "sw", "bandwidth_Bps": 1e9, "both_ways": true},
              {"from": "b", "to": "sw", "bandwidth_Bps": 1e9, "both_ways": true}]})");
  EXPECT_THAT(refusal({"plan", "p.json", "--source", "sw"}),
              AllOf(HasSubstr("'sw'"), HasSubstr("relay")));
}

// a -> b, and an island that no link leads to.
TEST_F(BadPlatform, ANodeThatCannotBeReachedIsNamed) {
  const std::string island = R"({"format": "espalier-platform", "version": 1, "name": "island",
    "nodes": [{"name": "a"}, {"name": "b"}, {"name": "the island"}],
    "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1},
              {"from": "the island", "to": "a", "bandwidth_Bps": 1}]})";
  EXPECT_THAT(refused(island, 3), HasSubstr("'the island'"));
  for (const char* command : {"plan", "compare"}) {
    EXPECT_THAT(refusal({command, "platform.json", "--source", "a"}, 3), HasSubstr("'the island'"));
  }
}

TEST_F(BadPlatform, NamesCannotBreakTheLine) {
  const std::string err = refused(R"({"format": "espalier-platform", "version": 1, "name": "x",
      "nodes": [{"name": "a\n\u001b[31m"}, {"name": "a\n\u001b[31m"}], "links": []})");
  EXPECT_THAT(err, ::testing::Not(HasSubstr("\x1b")));
}

TEST_F(BadPlatform, ACapThatMatchesNoNode) {
  write("p.json", kTriangle);
  EXPECT_THAT(refusal({"bound", "p.json", "--source", "a", "--send-cap", "aws=5Gbit/s"}),
              HasSubstr("aws"));
}

}  // namespace

}  // namespace espalier::cli::bad_input_test
