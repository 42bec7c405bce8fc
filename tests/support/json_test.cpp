#include "support/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/draws.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::json_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

std::string parse_refusal(std::string_view text) {
  return refusal([&] { return parse_json(text, "f.json"); });
}

TEST(ParseJson, KeepsOrderAndValues) {
  const std::string text = R"({"b":[1,-2,3.5,true,null],"a":{"x":"y"},"":{}})";
  EXPECT_EQ(parse_json(text, "f").dump(), text);
  EXPECT_EQ(parse_json(" 7 ", "f").dump(), "7");
  EXPECT_EQ(parse_json("[]", "f").dump(), "[]");
  EXPECT_EQ(parse_json("\xEF\xBB\xBF[1]", "f").dump(), "[1]") << "a byte order mark";
}

TEST(ParseJson, MalformedTextIsRefusedWithLineAndColumn) {
  EXPECT_THAT(parse_refusal("{\n  \"a\": 1,\n  \"b\" 2\n}"),
              StartsWith("f.json: line 3, column 7: not valid JSON: "));
  EXPECT_THAT(parse_refusal(""), HasSubstr("line 1, column 1: not valid JSON"));
  EXPECT_THAT(parse_refusal("[1,2"), HasSubstr("unexpected end of input"));
  EXPECT_THAT(parse_refusal("[1] x"), HasSubstr("line 1, column 5"));
  EXPECT_THAT(parse_refusal("[1,]"), HasSubstr("not valid JSON"));
  EXPECT_THAT(parse_refusal("{'a':1}"), HasSubstr("not valid JSON"));
}

TEST(ParseJson, NumbersMustBeFinite) {
  for (const std::string_view text : {"[NaN]", "[nan]", "[Infinity]", "[-Infinity]", "[inf]"}) {
    EXPECT_THAT(parse_refusal(text), HasSubstr("not valid JSON")) << text;
  }
  EXPECT_THAT(parse_refusal("{\"a\": 1e999}"),
              StartsWith("f.json: line 1, column 11: not valid JSON: number overflow"));
  EXPECT_THAT(parse_refusal("[-" + std::string(400, '9') + "]"), HasSubstr("number overflow"));
}

TEST(ParseJson, InvalidUtf8IsRefusedOnOneCleanLine) {
  const std::string reason = parse_refusal("[\"a\xff\nb\"]");
  EXPECT_THAT(reason, HasSubstr("ill-formed UTF-8"));
  EXPECT_EQ(reason.find('\n'), std::string::npos);
  EXPECT_EQ(reason.find('\xff'), std::string::npos);
}

TEST(ParseJson, DuplicateKeysAreRefusedWithTheirPointer) {
  EXPECT_EQ(parse_refusal(R"({"a":1,"a":2})"), "f.json: /a: duplicate key");
  EXPECT_EQ(parse_refusal(R"({"n":[0,{"x~/y":{"k":1,"k":1}}]})"),
            "f.json: /n/1/x~0~1y/k: duplicate key");
  std::string many = "{\"k\":0";
  for (int i = 0; i < 100; ++i) many += ",\"k" + std::to_string(i) + "\":0";
  EXPECT_NO_THROW(parse_json(many + "}", "f"));
  EXPECT_EQ(parse_refusal(many + ",\"k50\":0}"), "f.json: /k50: duplicate key");
}

TEST(ParseJson, OfDuplicateKeysTheFirstCanBeKept) {
  const Json document = parse_json(R"({"a":1,"b":2,"a":3})", "f", DuplicateKeys::kFirstCounts);
  const JsonCursor root(document, "f");
  EXPECT_EQ(root.at("a").number(), 1);
  EXPECT_EQ(root.at("b").number(), 2);
}

TEST(ParseJson, NestingIsBounded) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_NO_THROW(parse_json(nested(kMaxJsonDepth), "f"));
  EXPECT_THAT(parse_refusal(nested(kMaxJsonDepth + 1)), HasSubstr("nested over 64 levels"));
  EXPECT_THAT(parse_refusal(std::string(10'000'000, '[')), HasSubstr("nested over 64 levels"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_THAT(parse_refusal(objects), MatchesRegex("f.json: (/a)+: nested over 64 levels"));
}

TEST(ParseJson, HugeDocumentsAreRefusedBeforeTheyFillTheMemory) {
  std::string text = "[0";
  for (std::size_t i = 0; i < kMaxJsonValues; ++i) text += ",0";
  EXPECT_THAT(parse_refusal(text), HasSubstr("more than 16000000 values"));
}

// A quarter of them under sanitizers.
TEST(ParseJson, AHundredMegabytesOfNoiseAreRefused) {
  std::string noise(std::size_t{1} << 20U, '\0');
  std::uint64_t state = 1;
  for (char& byte : noise) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>(state >> 56U);
  }
  const std::string mebibyte = noise;
  for (std::uint64_t copies = 1; copies < draws(100); ++copies) noise += mebibyte;
  EXPECT_THAT(parse_refusal(noise), HasSubstr("not valid JSON"));
  noise.assign(noise.size(), 'a');
  noise[0] = '"';  // a string that never ends
  const std::string reason = parse_refusal(noise);
  EXPECT_THAT(reason, HasSubstr("missing closing quote"));
  EXPECT_LT(reason.size(), 500U);
}

class Cursor : public ::testing::Test {
 protected:
  const Json document_ = parse_json(
      R"({"name":"x","list":[1,{"k/~":-1.5}],"flag":true,"big":18446744073709551615,"e":1e6})",
      "f");
  const JsonCursor root_{document_, "f"};
};

TEST_F(Cursor, ReadsTypedValues) {
  EXPECT_EQ(root_.at("name").string(), "x");
  EXPECT_TRUE(root_.at("flag").boolean());
  EXPECT_EQ(root_.at("big").unsigned_integer(), 18446744073709551615U);
  EXPECT_EQ(root_.at("e").unsigned_integer(), 1000000U) << "whole, though written 1e6";
  EXPECT_EQ(root_.at("list").elements()[1].at("k/~").number(), -1.5);
  EXPECT_TRUE(root_.has("name"));
  EXPECT_FALSE(root_.has("nom"));
  EXPECT_FALSE(root_.find("nom"));
  EXPECT_EQ(root_.members().size(), 5U);
  EXPECT_EQ(root_.members()[1].key, "list");
}

TEST_F(Cursor, EveryRefusalNamesItsPlace) {
  const auto deep = root_.at("list").elements()[1].at("k/~");
  EXPECT_EQ(deep.pointer(), "/list/1/k~1~0");
  EXPECT_EQ(root_.pointer(), "");
  EXPECT_EQ(refusal([&] { return deep.string(); }),
            "f: /list/1/k~1~0: expected a string, got a number");
  EXPECT_EQ(refusal([&] { return deep.unsigned_integer(); }),
            "f: /list/1/k~1~0: expected a whole number that is not negative");
  EXPECT_EQ(refusal([&] { return root_.at("name").number(); }),
            "f: /name: expected a number, got a string");
  EXPECT_EQ(refusal([&] { return root_.at("name").boolean(); }),
            "f: /name: expected true or false, got a string");
  EXPECT_EQ(refusal([&] { return root_.at("flag").elements(); }),
            "f: /flag: expected an array, got a boolean");
  EXPECT_EQ(refusal([&] { return root_.at("list").at("x"); }),
            "f: /list: expected an object, got an array");
  EXPECT_EQ(refusal([&] { return root_.at("nom"); }), "f: the key 'nom' is missing");
}

TEST_F(Cursor, UnknownKeysAreRefusedAndTheNearestOffered) {
  EXPECT_EQ(refusal([&] {
              root_.expect_object({"nam", "list", "flag", "big", "e"});
              return 0;
            }),
            "f: unknown key 'name'; did you mean 'nam'? one of: nam, list, flag, big, e");
}

TEST_F(Cursor, ASubtreeCanHaveAnotherRootPointer) {
  const JsonCursor cursor(document_.at("list"), "f", "/elsewhere");
  EXPECT_EQ(cursor.elements()[0].pointer(), "/elsewhere/0");
}

TEST_F(Cursor, OutlivesTheCursorItCameFrom) {
  const auto elements = JsonCursor(document_, "f").at("list").elements();
  EXPECT_EQ(elements[0].pointer(), "/list/0");
}

TEST(CompactDump, WritesOneLine) {
  const Json json{
      {"name", "a \"b\""}, {"pairs", {{0, 1}, {1, 2}}}, {"rate", 1.25e8}, {"none", nullptr}};
  EXPECT_EQ(compact_dump(json),
            R"({"name": "a \"b\"", "pairs": [[0, 1], [1, 2]], "rate": 125000000, "none": null})");
  EXPECT_EQ(compact_dump(Json::array()) + compact_dump(Json::object()), "[]{}");
}

}  // namespace
}  // namespace espalier::json_test
