#include "support/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/choice.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::text_test {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,b,,c", ','), (Parts{"a", "b", "", "c"}));
  EXPECT_EQ(split("a,", ','), (Parts{"a", ""}));
  EXPECT_EQ(split("", ','), (Parts{""}));
}

TEST(Trimmed, RemovesBlanksAround) {
  EXPECT_EQ(trimmed("\t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(ParseWhole, TakesTheWholeText) {
  EXPECT_EQ(parse_whole<std::uint32_t>("17"), 17U);
  for (const std::string_view bad : {"", "17 ", " 17", "1.0", "-1", "4294967296"}) {
    EXPECT_FALSE(parse_whole<std::uint32_t>(bad)) << bad;
  }
}

TEST(ParseNumber, TakesFiniteNumbersOnly) {
  EXPECT_EQ(parse_number("-2.5e3"), -2500);
  for (const std::string_view bad : {"", "x", "1x", "inf", "nan", "1e999"}) {
    EXPECT_FALSE(parse_number(bad)) << bad;
  }
}

enum class Fruit { kApple, kPear };
constexpr std::array<Choice<Fruit>, 2> kFruits{{{"apple", Fruit::kApple}, {"pear", Fruit::kPear}}};

TEST(Choice, ConvertsBothWays) {
  EXPECT_EQ(names_of(kFruits), (Parts{"apple", "pear"}));
  EXPECT_EQ(name_of(kFruits, Fruit::kPear), "pear");
  EXPECT_EQ(choice_named("fruit", kFruits, "pear").value, Fruit::kPear);
  EXPECT_EQ(find_choice(kFruits, "plum"), nullptr);
}

TEST(Choice, SuggestsTheNearestName) {
  EXPECT_EQ(testing::refusal([] { return choice_named("fruit", kFruits, "paer").value; }),
            "unknown fruit 'paer'; did you mean 'pear'? one of: apple, pear");
}

}  // namespace
}  // namespace espalier::text_test
