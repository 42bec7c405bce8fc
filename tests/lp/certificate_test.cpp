#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "tests/lp/plain_certificate.hpp"
#include "tests/lp/random_problems.hpp"
#include "tests/support/draws.hpp"

namespace espalier::lp::certificate_test {
namespace {

using namespace espalier::testing;
using namespace lp::testing;
using namespace ::testing;

class LyingPacking : public ::testing::Test {
 protected:
  RandomProblem made_ = random_problem({.hosts = 10, .extra_links = 20}, ModelKind::kOnePort, 4);
  Packing packing_ = pack_arborescences(made_.problem());
  std::string fault() { return packing_fault(made_.problem(), packing_); }
};

TEST_F(LyingPacking, TheUnchangedPackingHasNoFault) {
  EXPECT_EQ(fault(), "");
}

TEST_F(LyingPacking, TooFastIsFound) {
  for (PackedTree& tree : packing_.trees) tree.rate *= 1.01;
  packing_.rate *= 1.01;
  EXPECT_THAT(fault(), HasSubstr("is loaded to 1.01"));
}

TEST_F(LyingPacking, WrongSumIsFound) {
  packing_.rate *= 1.01;
  EXPECT_THAT(fault(), HasSubstr("is not the sum"));
}

TEST_F(LyingPacking, BoundTighterThanProvenIsFound) {
  packing_.bound *= 0.99;
  EXPECT_THAT(fault(), HasSubstr("the prices prove"));
}

TEST_F(LyingPacking, MissingEdgeIsFound) {
  packing_.trees[0].tree.arcs.pop_back();
  EXPECT_THAT(fault(), HasSubstr("is not connected to the root"));
}

TEST_F(LyingPacking, DoubledEdgeIsFound) {
  packing_.trees[0].tree.arcs.push_back(packing_.trees[0].tree.arcs.front());
  EXPECT_THAT(fault(), HasSubstr("two parents"));
}

TEST_F(LyingPacking, NegativeRateIsFound) {
  packing_.trees[0].rate = -1;
  EXPECT_THAT(fault(), HasSubstr("has rate -1"));
}

TEST_F(LyingPacking, NonsensePricesAreRefused) {
  const auto bound = [&](double price) {
    return bound_from_prices(made_.problem(), std::vector<double>(packing_.prices.size(), price));
  };
  EXPECT_THROW(bound(-1), InputError);
  EXPECT_THROW(bound(0), InputError);
  EXPECT_THROW(bound(std::numeric_limits<double>::quiet_NaN()), InputError);
}

// Any prices bound the optimum.
TEST(Certificate, AnyPricesBoundTheOptimum) {
  for (std::uint64_t seed = 1; seed <= draws(50); ++seed) {
    for (const ModelKind model : testing::kAllModels) {
      const RandomProblem made =
          random_problem({.hosts = 8, .relays = 2, .extra_links = 10}, model, seed);
      SCOPED_TRACE(made.name);
      const double rate = pack_arborescences(made.problem()).rate;
      std::mt19937_64 random(seed);
      std::vector<double> prices(static_cast<std::size_t>(made.occupation.rows()));
      for (double& price : prices) price = static_cast<double>(random() % 1000);
      EXPECT_GE(bound_from_prices(made.problem(), prices), rate * (1 - 1e-9));
    }
  }
}

}  // namespace
}  // namespace espalier::lp::certificate_test
