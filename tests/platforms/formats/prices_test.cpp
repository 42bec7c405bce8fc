#include "platforms/formats/text/prices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platforms/formats/formats.hpp"
#include "support/files.hpp"
#include "tests/platforms/figures.hpp"

namespace espalier::platforms::prices_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

Platform two_hosts() {
  PlatformBuilder builder("two");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  builder.add_both_ways({a, b, {1}});
  return std::move(builder).build();
}

Platform priced(std::string_view text, std::vector<std::string>* notes = nullptr,
                const Platform& platform = two_hosts()) {
  std::vector<std::string> own;
  return with_price_table(platform, text, "p.csv", notes != nullptr ? *notes : own);
}

std::string refused(std::string_view text) {
  return refusal([&] { priced(text); });
}

TEST(Prices, OfTheCloudRegionsAreTheirsInFull) {
  const std::string data = ESPALIER_SOURCE_DIR "/platforms/data/";
  const Platform regions = read_platform(data + "cloud-71-regions.json").platform;
  std::vector<std::string> notes;
  const Platform platform =
      with_price_table(regions, read_text(data + "skyplane/cost.csv"), "cost.csv", notes);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_EQ(platform.currency(), "USD");
  EXPECT_EQ(arc(platform, "aws:us-east-2", "azure:eastus").price_per_GB, 0.09);
}

TEST(Prices, TakesEitherHeadingsAndNotesWhatItLeavesOut) {
  std::vector<std::string> notes;
  const Platform platform =
      priced("to,from,zone,price_per_GB\nb,a,x,0.5\nc,a,x,1\na,a,x,1\n", &notes);
  EXPECT_EQ(arc(platform, "a", "b").price_per_GB, 0.5);
  EXPECT_EQ(arc(platform, "b", "a").price_per_GB, 0);
  EXPECT_THAT(notes, ElementsAre("p.csv: no price for 1 of 2 links",
                                 "p.csv: left out 2 rows about links that the platform does not "
                                 "have"));
}

TEST(Prices, Refusals) {
  EXPECT_THAT(refused("src,dest\na,b\n"), StartsWith("p.csv: "));
  EXPECT_EQ(refused("src,dest,cost\na,b,cheap\n"), "p.csv: line 2: expected a price, got 'cheap'");
  EXPECT_EQ(refused("src,dest,cost\na,b,-1\n"),
            "p.csv: line 2: a price must be finite and not negative, not -1");
  EXPECT_EQ(refused("src,dest,cost\na,b,1\na,b,1\n"),
            "p.csv: line 3: the price of 'a' -> 'b' is given twice");
  EXPECT_EQ(refused("src,dest,cost\nx,b,1\n"), "p.csv: no row is about a link of platform 'two'");
  PlatformBuilder builder("euros");
  builder.set_currency("EUR");
  const Platform euros = std::move(builder).build();
  EXPECT_EQ(refusal([&] { priced("src,dest,cost\n", nullptr, euros); }),
            "p.csv: its prices are in USD, those of platform 'euros' in EUR");
}

}  // namespace
}  // namespace espalier::platforms::prices_test
