// Invalid platforms: each refused in one line that names file, place and reason.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
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

// A platform of hosts a and b whose link a -> b has these members.
std::string with_link(const std::string& members) {
  return R"({"format": "espalier-platform", "version": 1, "name": "pair",
    "nodes": [{"name": "a"}, {"name": "b"}],
    "links": [{"from": "a", "to": "b", )" +
         members + "}]}";
}

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

TEST_F(BadPlatform, TruncatedAnywhere) {
  for (std::size_t length = 0; length < kTriangle.size(); length += 7) {
    refusal(kTriangle.substr(0, length));
  }
}

TEST_F(BadPlatform, TruncatedSaysWhere) {
  EXPECT_THAT(refusal(kTriangle.substr(0, kTriangle.size() - 2)),
              StartsWith("espalier: platform.json: line "));
}

TEST_F(BadPlatform, DeepNesting) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(refusal(deep), HasSubstr("nested over 64 levels"));
  EXPECT_THAT(refusal(R"({"format": "espalier-platform", "version": 1, "nodes": )" + deep),
              HasSubstr("nested over 64 levels"));
}

TEST_F(BadPlatform, InvalidNumbers) {
  for (const char* number : {"NaN", "Infinity", "-Infinity", "1e999", "1e-", "0x10", "nan"}) {
    refusal(with_link(std::string("\"bandwidth_Bps\": ") + number));
  }
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

TEST_F(BadPlatform, DuplicateKeys) {
  EXPECT_THAT(refusal(with_link(R"("bandwidth_Bps": 1e9, "bandwidth_Bps": 2e9)")),
              AllOf(HasSubstr("/links/0/bandwidth_Bps"), HasSubstr("duplicate key")));
}

TEST_F(BadPlatform, WrongTypes) {
  for (const char* text :
       {"[]", "7", "null", "\"text\"", "{}", R"({"format": 7})",
        R"({"format": "espalier-platform", "version": "1", "nodes": [], "links": []})",
        R"({"format": "espalier-platform", "version": 1, "nodes": {}, "links": []})",
        R"({"format": "espalier-platform", "version": 1, "nodes": ["a"], "links": []})",
        R"({"format": "espalier-platform", "version": 2, "nodes": [], "links": []})"}) {
    EXPECT_THAT(refusal(text), StartsWith("espalier: platform.json: ")) << text;
  }
  EXPECT_THAT(refusal(with_link(R"("bandwidth_Bps": "1e9")")),
              HasSubstr("/links/0/bandwidth_Bps: "));
}

TEST_F(BadPlatform, UnknownKeySuggestsTheNearest) {
  EXPECT_THAT(refusal(with_link(R"("bandwith_Bps": 1e9)")),
              AllOf(StartsWith("espalier: platform.json: /links/0"), HasSubstr("'bandwith_Bps'"),
                    HasSubstr("did you mean 'bandwidth_Bps'?")));
}

TEST_F(BadPlatform, TwoNodesOfOneName) {
  EXPECT_EQ(refusal(R"({"format": "espalier-platform", "version": 1, "name": "twins",
      "nodes": [{"name": "a"}, {"name": "b"}, {"name": "a"}], "links": []})"),
            "espalier: platform.json: /nodes/2/name: two nodes are named 'a'\n");
}

TEST_F(BadPlatform, InvalidBandwidths) {
  for (const char* bandwidth : {"\"bandwidth_Bps\": 0", "\"bandwidth_Bps\": -1e9",
                                "\"bandwidth\": \"0 Gbit/s\"", "\"bandwidth\": \"-1 GB/s\""}) {
    EXPECT_THAT(refusal(with_link(bandwidth)),
                AllOf(StartsWith("espalier: platform.json: /links/0"),
                      HasSubstr("must be finite and positive")))
        << bandwidth;
  }
}

TEST_F(BadPlatform, UnitsMissingOrWrong) {
  EXPECT_THAT(refusal(with_link(R"("bandwidth": "10")")),
              AllOf(HasSubstr("/links/0/bandwidth: "), HasSubstr("the unit is missing")));
  EXPECT_THAT(refusal(with_link(R"("bandwidth": "10 parsec")")),
              AllOf(HasSubstr("/links/0/bandwidth: "), HasSubstr("unknown unit 'parsec'")));
  EXPECT_THAT(refusal(with_link(R"("bandwidth": 10)")),
              AllOf(HasSubstr("/links/0/bandwidth: "), HasSubstr("'bandwidth_Bps'")));
  EXPECT_THAT(refusal(with_link(R"("bandwidth_Bps": 1e9, "latency": "3")")),
              HasSubstr("/links/0/latency: "));
  write("p.csv", "from,to,bandwidth\na,b,8\n");
  EXPECT_THAT(refusal_of(run({"bound", "p.csv", "--source", "a"})),
              AllOf(StartsWith("espalier: p.csv: line 2: "), HasSubstr("the unit is missing")));
}

TEST_F(BadPlatform, ASelfLoopAndANegativeLatency) {
  EXPECT_THAT(refusal(R"({"format": "espalier-platform", "version": 1, "name": "loop",
      "nodes": [{"name": "a"}], "links": [{"from": "a", "to": "a", "bandwidth_Bps": 1}]})"),
              HasSubstr("/links/0"));
  EXPECT_THAT(refusal(with_link(R"("bandwidth_Bps": 1e9, "latency_s": -1)")),
              HasSubstr("/links/0/latency_s"));
}

TEST_F(BadPlatform, AnUnknownNode) {
  EXPECT_THAT(refusal(R"({"format": "espalier-platform", "version": 1, "name": "x",
      "nodes": [{"name": "alpha"}], "links": [{"from": "alpha", "to": "alhpa", "bandwidth_Bps": 1}]})"),
              AllOf(HasSubstr("/links/0/to: "), HasSubstr("did you mean 'alpha'?")));
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

TEST_F(BadPlatform, AHundredMegabytesOfNoise) {
  constexpr std::size_t kHalf = 50'000'000;
  std::string noise;
  noise.resize(2 * kHalf);
  std::uint32_t state = 1;  // the noise's seed
  for (char& byte : noise) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24U);
  }
  const auto start = std::chrono::steady_clock::now();
  refusal(noise);
  std::fill_n(noise.begin(), kHalf, ' ');
  std::fill_n(noise.begin() + kHalf, kHalf, '[');
  refusal(noise);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 60) << "a refusal must not take minutes";
}

}  // namespace

}  // namespace espalier::cli::bad_input_test
