#include "support/errors.hpp"

#include <gtest/gtest.h>

#include "tests/support/refusal.hpp"

namespace espalier::errors_test {
namespace {

TEST(Errors, JoinFilePlaceAndReason) {
  EXPECT_STREQ(InputError("a.json", "/nodes/3", "is wrong").what(), "a.json: /nodes/3: is wrong");
  EXPECT_STREQ(InputError("a.json", "", "is wrong").what(), "a.json: is wrong");
  EXPECT_STREQ(InputError("is wrong").what(), "is wrong");
}

TEST(Errors, CarryTheirExitStatus) {
  EXPECT_EQ(InputError("x").status(), ExitStatus::kBadInput);
  EXPECT_EQ(InfeasibleError("x").status(), ExitStatus::kInfeasible);
  EXPECT_EQ(LimitReached("x").status(), ExitStatus::kLimitReached);
  EXPECT_EQ(CheckFailed("x").status(), ExitStatus::kCheckFailed);
}

TEST(Errors, StayOnOneLine) {
  EXPECT_STREQ(InputError("a\nb", "", "c\td").what(), "a\\x0ab: c\\x09d");
}

TEST(Printable, KeepsUtf8AndEscapesTheRest) {
  EXPECT_EQ(printable("Zürich €😀"), "Zürich €😀");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past U+10FFFF";
}

TEST(InQuotes, TruncatesLongText) {
  EXPECT_EQ(in_quotes("a"), "'a'");
  EXPECT_EQ(in_quotes(std::string(1000, 'x')), "'" + std::string(80, 'x') + "...'");
}

TEST(AtPlace, AddsThePlaceToAReason) {
  const auto refuse = []() -> int { throw InputError("too long"); };
  EXPECT_EQ(testing::refusal([&] { return at_place("a.csv", "line 3", refuse); }),
            "a.csv: line 3: too long");
  EXPECT_EQ(testing::refusal([&] {
              return at_place(
                  "a.csv", [] { return "/x"; }, refuse);
            }),
            "a.csv: /x: too long");
  EXPECT_EQ(at_place("a.csv", "line 3", [] { return 5; }), 5);
}

}  // namespace
}  // namespace espalier::errors_test
