// A report says the same in text, JSON and CSV.
#include "cli/common/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

namespace espalier::cli::report_test {
namespace {

Rows two_rows() {
  Rows rows({left("host", "name"), {"rate", "rate_Bps"}, written("load"), {"of best", ""}});
  rows.add({"a", BytesPerSecond{1e6}, decimal(0.5), "1.00"});
  rows.add({"b, c", std::optional<BytesPerSecond>{}, decimal(std::nan("")), "-"});
  return rows;
}

TEST(Report, ATableIsTextJsonAndCsv) {
  EXPECT_EQ(two_rows().text(),
            "host           rate  of best\n"
            "a     8.0000 Mbit/s     1.00\n"
            "b, c              -        -\n");
  EXPECT_EQ(two_rows().json().dump(), R"([{"name":"a","rate_Bps":1000000.0,"load":0.5},)"
                                      R"({"name":"b, c","rate_Bps":null,"load":null}])");
  EXPECT_EQ(two_rows().csv({{"size", Bytes{3}}}, {{"valid", Cell("", true)}}),
            "size,name,rate_Bps,load,valid\n"
            "3,a,1000000,0.5,true\n"
            "3,\"b, c\",,,true\n");
}

TEST(Report, TextMayHaveAnotherOrder) {
  Rows rows = two_rows();
  rows.order_text({"rate_Bps", "name"});
  EXPECT_TRUE(rows.text().starts_with("         rate  host\n")) << rows.text();
  EXPECT_EQ(rows.json().dump(), two_rows().json().dump());
}

TEST(Report, FactsTablesAndSentencesFollowEachOther) {
  Report report;
  report.write("platform", "p");
  report.add("trees", "trees", 2);
  report.add("busiest", "busiest_load", share(0.25));
  report.say("Below:\n", /*joined=*/true);
  report.add("hosts", two_rows());
  EXPECT_EQ(report.text(), "trees    2\nbusiest  25.00 %\n\nBelow:\n" + two_rows().text());
  EXPECT_EQ(report.json().dump(), R"({"platform":"p","trees":2,"busiest_load":0.25,"hosts":)" +
                                      two_rows().json().dump() + "}");
}

}  // namespace
}  // namespace espalier::cli::report_test
