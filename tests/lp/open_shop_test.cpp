#include "lp/graph/open_shop.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/draws.hpp"

namespace espalier::lp::open_shop_test {
namespace {

using namespace espalier::testing;

struct Shop {
  std::uint32_t lefts = 0;
  std::uint32_t rights = 0;
  std::vector<OpenShopJob> jobs;

  [[nodiscard]] OpenShopSchedule schedule() const {
    return schedule_open_shop(jobs, lefts, rights);
  }
};

double largest_degree(const Shop& shop) {
  std::vector<double> left(shop.lefts, 0.0);
  std::vector<double> right(shop.rights, 0.0);
  double largest = 0;
  for (const OpenShopJob& job : shop.jobs) {
    largest = std::max({largest, left[job.left] += job.seconds, right[job.right] += job.seconds});
  }
  return largest;
}

// No two pieces of a node overlap: checks all pieces in the order of time.
void expect_no_overlap(const Shop& shop, const OpenShopSchedule& schedule) {
  std::vector<double> left_free(shop.lefts, 0.0);
  std::vector<double> right_free(shop.rights, 0.0);
  for (const OpenShopPiece& piece : schedule.pieces) {
    const OpenShopJob& job = shop.jobs[piece.job];
    EXPECT_GE(piece.start, left_free[job.left]) << "left " << job.left;
    EXPECT_GE(piece.start, right_free[job.right]) << "right " << job.right;
    left_free[job.left] = right_free[job.right] = piece.start + piece.seconds;
  }
}

std::size_t moments(const OpenShopSchedule& schedule) {
  std::set<double> times{0, schedule.length};
  for (const OpenShopPiece& piece : schedule.pieces) {
    times.insert(piece.start);
    times.insert(piece.start + piece.seconds);
  }
  return times.size();
}

void check(const Shop& shop) {
  const OpenShopSchedule schedule = shop.schedule();
  const double degree = largest_degree(shop);
  EXPECT_NEAR(schedule.length, degree, 1e-12 * degree);
  EXPECT_TRUE(std::is_sorted(
      schedule.pieces.begin(), schedule.pieces.end(),
      [](const OpenShopPiece& a, const OpenShopPiece& b) { return a.start < b.start; }));
  std::vector<double> done(shop.jobs.size(), 0.0);
  for (const OpenShopPiece& piece : schedule.pieces) {
    EXPECT_GT(piece.seconds, 0);
    EXPECT_GE(piece.start, 0);
    EXPECT_LE(piece.start + piece.seconds, schedule.length);
    done[piece.job] += piece.seconds;
  }
  for (std::size_t j = 0; j < shop.jobs.size(); ++j) {
    EXPECT_GE(done[j], shop.jobs[j].seconds) << "job " << j;
    EXPECT_LE(done[j] - shop.jobs[j].seconds, 0x1p-49 * schedule.length) << "job " << j;
  }
  expect_no_overlap(shop, schedule);
  EXPECT_LE(moments(schedule), shop.jobs.size() + shop.lefts + shop.rights + 1);
}

// --- by hand

//   l0 --1-- r0       all at l0: one after another
//   l0 --2-- r1
//   l0 --3-- r2
TEST(OpenShop, AStarIsASequence) {
  const Shop star{1, 3, {{0, 0, 1}, {0, 1, 2}, {0, 2, 3}}};
  check(star);
  const OpenShopSchedule schedule = star.schedule();
  EXPECT_EQ(schedule.length, 6);
  EXPECT_EQ(schedule.pieces.size(), 3);
}

// Hosts a, b, c; a sends 2 s to b and 1 s to c, b sends 1 s to c, c sends 1 s to b. The in-port of
// b and the out-port of a are critical all the time: a->b and (a->c, c->b) share the 3 s, and b->c
// runs during a->b.
TEST(OpenShop, ATriangleOfHosts) {
  const Shop triangle{3, 3, {{0, 1, 2}, {0, 2, 1}, {1, 2, 1}, {2, 1, 1}}};
  check(triangle);
  EXPECT_EQ(triangle.schedule().length, 3);
}

// Three jobs of 2 s among 3 x 3 nodes, 2 s each at every node in pairs: a Latin square of order 3.
TEST(OpenShop, EqualJobsAreALatinSquare) {
  Shop square{3, 3, {}};
  for (std::uint32_t i = 0; i < 9; ++i) square.jobs.push_back({i / 3, i % 3, 2});
  check(square);
  const OpenShopSchedule schedule = square.schedule();
  EXPECT_EQ(schedule.length, 6);
  EXPECT_EQ(schedule.pieces.size(), 9) << "no job needs to be interrupted";
}

// No node can be idle: r0 and l0 have 2 s of work in 2 s, and l1 is busy with both right nodes.
// Without preemption it takes 2 s as well, but in one order only:
//   l0 - r0 1 s, l0 - r1 1 s, l1 - r0 1 s, l1 - r1 1 s
TEST(OpenShop, TightSquare) {
  const Shop square{2, 2, {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}}};
  check(square);
  EXPECT_EQ(square.schedule().length, 2);
}

TEST(OpenShop, ParallelJobsRunOneAfterAnother) {
  const Shop shop{1, 1, {{0, 0, 0.5}, {0, 0, 0.25}, {0, 0, 0.25}}};
  check(shop);
  const OpenShopSchedule schedule = shop.schedule();
  ASSERT_EQ(schedule.pieces.size(), 3);
  EXPECT_EQ(schedule.pieces[1].job, 1);
  EXPECT_EQ(schedule.pieces[1].start, 0.5);
  EXPECT_EQ(schedule.pieces[1].seconds, 0.25);
}

TEST(OpenShop, JobsOfNoTimeHaveNoPiece) {
  EXPECT_EQ(schedule_open_shop({}, 0, 0).length, 0);
  EXPECT_EQ(schedule_open_shop({}, 2, 3).pieces.size(), 0);
  const Shop shop{2, 2, {{0, 0, 0}, {1, 1, 1}, {0, 1, 0}}};
  check(shop);
  EXPECT_EQ(shop.schedule().pieces.size(), 1);
}

TEST(OpenShop, RefusesInvalidJobs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const double huge = std::numeric_limits<double>::max();
  for (const Shop& shop :
       {Shop{1, 1, {{1, 0, 1}}}, Shop{1, 1, {{0, 1, 1}}}, Shop{1, 1, {{0, 0, -1}}},
        Shop{1, 1, {{0, 0, nan}}}, Shop{1, 1, {{0, 0, infinity}}},
        Shop{1, 1, {{0, 0, huge}, {0, 0, huge}}}}) {
    EXPECT_THROW((void)shop.schedule(), std::invalid_argument);
  }
}

// --- properties over random shops

enum class Spread { kWhole, kUniform, kDecades };

double random_seconds(std::mt19937_64& random, Spread spread) {
  const double share = static_cast<double>(random() >> 11) * 0x1p-53;
  if (spread == Spread::kUniform) return share;
  if (spread == Spread::kDecades) return std::pow(10.0, 14 * share - 9);
  return 1 + std::floor(3 * share);
}

Shop random_shop(std::mt19937_64& random, std::uint32_t most_nodes, std::size_t most_jobs,
                 Spread spread) {
  std::uniform_int_distribution<std::uint32_t> nodes(1, most_nodes);
  Shop shop{nodes(random), nodes(random), {}};
  const std::size_t jobs = random() % (most_jobs + 1);
  for (std::size_t j = 0; j < jobs; ++j) {
    shop.jobs.push_back({static_cast<std::uint32_t>(random() % shop.lefts),
                         static_cast<std::uint32_t>(random() % shop.rights),
                         random_seconds(random, spread)});
  }
  return shop;
}

class RandomShops : public ::testing::TestWithParam<Spread> {};

TEST_P(RandomShops, TakeAsLongAsTheBusiestNodeAndNoLonger) {
  for (std::uint64_t seed = 1; seed <= draws(400); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    check(random_shop(random, 1 + static_cast<std::uint32_t>(seed % 20), seed, GetParam()));
  }
}

// Sums of permutations: every node is critical all the time.
TEST_P(RandomShops, WhereEveryNodeIsCritical) {
  for (std::uint64_t seed = 1; seed <= draws(60); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    const auto nodes = static_cast<std::uint32_t>(2 + seed % 15);
    Shop shop{nodes, nodes, {}};
    std::vector<std::uint32_t> rights(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i) rights[i] = i;
    for (int permutation = 0; permutation < 6; ++permutation) {
      std::shuffle(rights.begin(), rights.end(), random);
      const double seconds = random_seconds(random, GetParam());
      for (std::uint32_t left = 0; left < nodes; ++left) {
        shop.jobs.push_back({left, rights[left], seconds});
      }
    }
    check(shop);
  }
}

TEST_P(RandomShops, TheSameShopGivesTheSameSchedule) {
  std::mt19937_64 random(5);
  const Shop shop = random_shop(random, 30, 400, GetParam());
  const OpenShopSchedule one = shop.schedule();
  const OpenShopSchedule two = shop.schedule();
  ASSERT_EQ(one.pieces.size(), two.pieces.size());
  for (std::size_t i = 0; i < one.pieces.size(); ++i) {
    EXPECT_EQ(one.pieces[i].job, two.pieces[i].job);
    EXPECT_EQ(one.pieces[i].start, two.pieces[i].start);
    EXPECT_EQ(one.pieces[i].seconds, two.pieces[i].seconds);
  }
}

INSTANTIATE_TEST_SUITE_P(Spreads, RandomShops,
                         ::testing::Values(Spread::kWhole, Spread::kUniform, Spread::kDecades),
                         [](const auto& test) {
                           switch (test.param) {
                             case Spread::kWhole:
                               return std::string("WholeSeconds");
                             case Spread::kUniform:
                               return std::string("Uniform");
                             case Spread::kDecades:
                               return std::string("FourteenDecades");
                           }
                           return std::string();
                         });

}  // namespace
}  // namespace espalier::lp::open_shop_test
