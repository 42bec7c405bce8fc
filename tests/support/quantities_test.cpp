#include "support/quantities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/refusal.hpp"

namespace espalier::quantities_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

TEST(ParseRate, KnowsEveryUnitAndPrefix) {
  const struct {
    std::string_view text;
    double bytes_per_second;
  } cases[] = {
      {"10 Gbit/s", 1.25e9},  {"25 GiB/s", 25 * 1073741824.0},
      {"100MB/s", 1e8},       {"9 Gbps", 1.125e9},
      {"41.27MBps", 41.27e6}, {"5Gbit/s", 6.25e8},
      {"1.25e9 B/s", 1.25e9}, {"8 bit/s", 1},
      {"8 b/s", 1},           {"8 bps", 1},
      {"8 Bps", 8},           {"1 kbit/s", 125},
      {"1 Tbit/s", 1.25e11},  {"1 KiB/s", 1024},
      {"1 MiB/s", 1048576},   {"1 TiB/s", 1099511627776.0},
      {"  3 kB/s ", 3000},    {"0 B/s", 0},
      {"-1 B/s", -1},         {".5 kB/s", 500},
      {"8 Kibit/s", 1024},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_DOUBLE_EQ(parse_rate(text).value, expected) << text;
  }
}

TEST(ParseRate, RefusesABareNumber) {
  EXPECT_EQ(refusal([] { return parse_rate("10"); }),
            "rate '10': the unit is missing (bit/s, b/s, bps, B/s or Bps, with k M G T or Ki Mi Gi "
            "Ti before it)");
}

TEST(ParseRate, RefusesOtherUnits) {
  for (const std::string_view text : {"10 Gfoo", "10 s", "10 G", "10 KB/s", "10 mb/s", "10 GB",
                                      "10 gbit/s", "10 GB/s x", "1,5 GB/s", "1.2.3 GB/s"}) {
    EXPECT_THAT(refusal([&] { return parse_rate(text); }), HasSubstr("unknown unit")) << text;
  }
}

TEST(ParseRate, RefusesTextWithoutANumber) {
  for (const std::string_view text :
       {"", " ", "fast", "inf GB/s", "nan B/s", "-inf B/s", "GB/s", "+5 GB/s", "-", "0x10 B/s "}) {
    EXPECT_NE(refusal([&] { return parse_rate(text); }), "(not refused)") << text;
  }
  EXPECT_EQ(refusal([] { return parse_rate("fast"); }),
            "rate 'fast': expected a number and a unit");
}

TEST(ParseRate, RefusesOverflow) {
  EXPECT_EQ(refusal([] { return parse_rate("1e999 B/s"); }),
            "rate '1e999 B/s': the number is out of range");
  EXPECT_EQ(refusal([] { return parse_rate("1e308 GB/s"); }),
            "rate '1e308 GB/s': the number is out of range");
}

TEST(ParseDuration, KnowsEveryUnit) {
  EXPECT_DOUBLE_EQ(parse_duration("20 us").value, 20e-6);
  EXPECT_DOUBLE_EQ(parse_duration("20 µs").value, 20e-6);
  EXPECT_DOUBLE_EQ(parse_duration("1.5ms").value, 1.5e-3);
  EXPECT_DOUBLE_EQ(parse_duration("3 s").value, 3);
  EXPECT_DOUBLE_EQ(parse_duration("10 ns").value, 10e-9);
  EXPECT_DOUBLE_EQ(parse_duration("2 min").value, 120);
  EXPECT_DOUBLE_EQ(parse_duration("-1 s").value, -1);
}

TEST(ParseDuration, RefusesBareNumbersAndOtherUnits) {
  EXPECT_EQ(refusal([] { return parse_duration("3"); }),
            "duration '3': the unit is missing (s, ms, us, ns or min)");
  EXPECT_EQ(refusal([] { return parse_duration("3 parsec"); }),
            "duration '3 parsec': unknown unit 'parsec' (s, ms, us, ns or min)");
}

TEST(ParseSize, ReadsBytes) {
  EXPECT_EQ(parse_size("4096").value, 4096U);
  EXPECT_EQ(parse_size("0").value, 0U);
  EXPECT_EQ(parse_size("17 B").value, 17U);
  EXPECT_EQ(parse_size("64MiB").value, 64U << 20U);
  EXPECT_EQ(parse_size("1 GB").value, 1000000000U);
  EXPECT_EQ(parse_size("10kB").value, 10000U);
  EXPECT_EQ(parse_size("1.5 KiB").value, 1536U);
  EXPECT_EQ(parse_size("9223372036854775807").value, 9223372036854775807U) << "exact past 2^53";
}

TEST(ParseSize, RefusesInvalidSizes) {
  EXPECT_EQ(refusal([] { return parse_size("-1"); }), "size '-1': it is negative");
  EXPECT_EQ(refusal([] { return parse_size("1.5"); }),
            "size '1.5': it is not a whole number of bytes");
  EXPECT_EQ(refusal([] { return parse_size("9223372036854775808"); }),
            "size '9223372036854775808': it is over 2^63 - 1 bytes");
  EXPECT_EQ(refusal([] { return parse_size("9e30 GiB"); }),
            "size '9e30 GiB': it is over 2^63 - 1 bytes");
  EXPECT_EQ(refusal([] { return parse_size("8388608 TiB"); }),
            "size '8388608 TiB': it is over 2^63 - 1 bytes");
  EXPECT_EQ(refusal([] { return parse_size("1 MiBs"); }),
            "size '1 MiBs': unknown unit 'MiBs' (B, with k M G T or Ki Mi Gi Ti before it)");
  EXPECT_EQ(refusal([] { return parse_size("much"); }),
            "size 'much': expected a number and a unit");
}

TEST(Format, Rates) {
  EXPECT_EQ(format_rate({9.2143e9 / 8}), "9.2143 Gbit/s");
  EXPECT_EQ(format_rate({0}), "0.0000 bit/s");
  EXPECT_EQ(format_rate({125}), "1.0000 kbit/s");
  EXPECT_EQ(format_rate({999.99999 / 8}), "1.0000 kbit/s") << "never 1000.0000";
  EXPECT_EQ(format_rate({1e20}), "800000000.0000 Tbit/s");
  EXPECT_EQ(format_rate({1e308}), "8.0000e+296 Tbit/s") << "neither inf nor 300 digits";
}

TEST(Format, Durations) {
  EXPECT_EQ(format_duration({1.25}), "1.250 s");
  EXPECT_EQ(format_duration({20e-6}), "20.0 us");
  EXPECT_EQ(format_duration({1.5e-3}), "1.5 ms");
  EXPECT_EQ(format_duration({2e-9}), "2.0 ns");
  EXPECT_EQ(format_duration({0}), "0.000 s");
  EXPECT_EQ(format_duration({1e302}), "1.000e+302 s");
  EXPECT_EQ(format_duration({0.99999}), "1.000 s");
}

TEST(Figures, AreShort) {
  EXPECT_EQ(fixed(0.98765, 4), "0.9877");
  EXPECT_EQ(fixed(-2e14, 1), "-200000000000000.0");
  EXPECT_EQ(fixed(1e302, 6), "1.000000e+302");
  EXPECT_EQ(fixed(std::nan(""), 4), "-");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(2, "rank"), "2 ranks");
  EXPECT_EQ(counted(1, "link has", "links have"), "1 link has");
  EXPECT_EQ(counted(2, "link has", "links have"), "2 links have");
}

TEST(Format, Sizes) {
  EXPECT_EQ(format_size({17}), "17 B");
  EXPECT_EQ(format_size({1536}), "1.5 KiB");
  EXPECT_EQ(format_size({64U << 20U}), "64 MiB");
  EXPECT_EQ(format_size({20'000'000'000}), "20 GB");  // which is a whole number of KiB, too
  EXPECT_EQ(format_size({160'000}), "160 kB");        // not 156.25 KiB
  EXPECT_EQ(format_size({512'000}), "500 KiB");
  EXPECT_EQ(format_size({1000}), "1 kB");
  EXPECT_EQ(format_size({1023}), "1.02 kB");
  EXPECT_EQ(format_size({1024}), "1 KiB");
  EXPECT_EQ(format_size({(1U << 20U) - 1}), "1.05 MB");
  EXPECT_EQ(format_size({999'999}), "1 MB");
  EXPECT_EQ(format_size({~std::uint64_t{0}}), "18446.74 PB");
}

TEST(ShortRate, HasThreeDigits) {
  EXPECT_EQ(short_rate({1.25e9}), "10 Gbit/s");
  EXPECT_EQ(short_rate({1.2345e6}), "9.88 Mbit/s");
  EXPECT_EQ(short_rate({999.7e6 / 8}), "1 Gbit/s");
  EXPECT_EQ(short_rate({0}), "0 bit/s");
}

}  // namespace
}  // namespace espalier::quantities_test
