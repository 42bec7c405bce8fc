// Platforms that the program cannot use: each refused in one line that names file, place and
// reason. Every fault of the format: tests/platforms/formats/json_refusals_test.cpp.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/cli/espalier/program.hpp"

namespace espalier::cli::bad_input_test {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class BadPlatform : public CliTest {
 protected:
  // The message of `bound` for the text as platform.json; the status must be `status`.
  std::string refusal(const std::string& text, int status = 2) const {
    write("platform.json", text);
    return refusal_of(run({"bound", "platform.json", "--source", "a"}), status);
  }
};

TEST_F(BadPlatform, NoSuchFile) {
  EXPECT_EQ(refusal_of(run({"bound", "none.json", "--source", "a"})),
            "espalier: none.json: cannot open: No such file or directory\n");
}

TEST_F(BadPlatform, AFolder) {
  const Finished finished = run({"bound", ".", "--source", "a"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_TRUE(is_one_line(finished.err));
}

TEST_F(BadPlatform, AnEmptyFile) {
  EXPECT_THAT(refusal(""), StartsWith("espalier: platform.json: "));
  EXPECT_THAT(refusal_of(run({"bound", "-", "--source", "a"}, "")),
              StartsWith("espalier: <stdin>: "));
}

TEST_F(BadPlatform, TruncatedSaysWhere) {
  EXPECT_THAT(refusal(kTriangle.substr(0, kTriangle.size() - 2)),
              StartsWith("espalier: platform.json: line "));
}

// GLPK would abort, after printing to stdout.
TEST_F(BadPlatform, RatesTooFarApart) {
  EXPECT_EQ(refusal(R"({"format": "espalier-platform", "version": 1, "name": "far",
      "nodes": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
      "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e300},
                {"from": "b", "to": "c", "bandwidth_Bps": 1e-300},
                {"from": "a", "to": "c", "bandwidth_Bps": 1}]})"),
            "espalier: platform.json: /links: 'a' -> 'b' (1e+300 B/s) is over 1e+15 times faster "
            "than 'b' -> 'c' (1e-300 B/s), too far apart to compute with; check the units\n");
}

TEST_F(BadPlatform, UnknownSourceSuggestsTheNearest) {
  EXPECT_THAT(refusal_of(run({"plan", sample("cloud-71-regions.json"), "--source", "aws:us-esat-1",
                              "-o", "plan.json"})),
              AllOf(HasSubstr("'aws:us-esat-1'"), HasSubstr("did you mean 'aws:us-east-1'?")));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(BadPlatform, ARelayCannotBeTheSource) {
  write("p.json", R"({"format": "espalier-platform", "version": 1, "name": "star",
    "nodes": [{"name": "a"}, {"name": "b"}, {"name": "sw", "relay": true}],
    "links": [{"from": "a", "to": "sw", "bandwidth_Bps": 1e9, "both_ways": true},
              {"from": "b", "to": "sw", "bandwidth_Bps": 1e9, "both_ways": true}]})");
  EXPECT_THAT(refusal_of(run({"plan", "p.json", "--source", "sw"})),
              AllOf(HasSubstr("'sw'"), HasSubstr("relay")));
}

// a -> b, and an island that no link leads to.
TEST_F(BadPlatform, ANodeThatCannotBeReachedIsNamed) {
  const std::string island = R"({"format": "espalier-platform", "version": 1, "name": "island",
    "nodes": [{"name": "a"}, {"name": "b"}, {"name": "the island"}],
    "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1},
              {"from": "the island", "to": "a", "bandwidth_Bps": 1}]})";
  EXPECT_THAT(refusal(island, 3), HasSubstr("'the island'"));
  for (const char* command : {"plan", "compare"}) {
    EXPECT_THAT(refusal_of(run({command, "platform.json", "--source", "a"}), 3),
                HasSubstr("'the island'"));
  }
}

TEST_F(BadPlatform, NamesCannotBreakTheLine) {
  const std::string err = refusal(R"({"format": "espalier-platform", "version": 1, "name": "x",
      "nodes": [{"name": "a\n\u001b[31m"}, {"name": "a\n\u001b[31m"}], "links": []})");
  EXPECT_THAT(err, ::testing::Not(HasSubstr("\x1b")));
}

TEST_F(BadPlatform, ACapThatMatchesNoNode) {
  write("p.json", kTriangle);
  EXPECT_THAT(refusal_of(run({"bound", "p.json", "--source", "a", "--send-cap", "aws=5Gbit/s"})),
              HasSubstr("aws"));
}

}  // namespace

}  // namespace espalier::cli::bad_input_test
