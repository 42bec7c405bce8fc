// A pull in one process, over a network that does its worst (tests/engine/pull/pull_world.hpp): it
// tries to refute the argument at the head of engine/pull/puller.hpp. ESPALIER_ADVERSARY_RUNS sets
// the number of runs, ESPALIER_ADVERSARY_SEED the first seed.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/pull/puller.hpp"
#include "support/errors.hpp"
#include "tests/engine/pull/pull_world.hpp"
#include "tests/support/draws.hpp"

namespace espalier::testing::pull_test {
namespace {

namespace rule = engine::pull;

TEST(PullAdversary, CannotBreakThePull) {
  constexpr int kMostFaults = 5;
  const std::uint64_t first = from_environment("ESPALIER_ADVERSARY_SEED", 1);
  const std::uint64_t runs = from_environment("ESPALIER_ADVERSARY_RUNS", draws(600));
  std::uint64_t complete = 0;
  std::uint64_t stopped = 0;
  std::uint64_t with_deaths = 0;
  std::uint64_t partial = 0;
  int faults = 0;
  for (std::uint64_t seed = first; seed < first + runs && faults < kMostFaults; ++seed) {
    const pull::Course course = pull::run(seed);
    complete += course.is_complete ? 1 : 0;
    stopped += course.is_stopped ? 1 : 0;
    with_deaths += course.deaths > 0 ? 1 : 0;
    partial += course.source_died && !course.is_complete && course.segments > 0 ? 1 : 0;
    if (course.fault.empty()) continue;
    ++faults;
    ADD_FAILURE() << course.fault << "\n"
                  << course.shape << "\nrepeat it: ESPALIER_ADVERSARY_RUNS=1 "
                  << "ESPALIER_ADVERSARY_SEED=" << seed;
  }
  if (faults != 0 || runs < 150) return;
  // Every kind of course occurs.
  EXPECT_GT(complete, runs / 2);
  EXPECT_GT(stopped, runs / 50);
  EXPECT_GT(with_deaths, runs / 20);
  EXPECT_GT(partial, runs / 200);
}

rule::Job job_of_three() {
  return {.ranks = 3, .rank = 1, .message = {0, {1000, 100}}};
}

TEST(PulledMessage, CutsEachBlockIntoSegmentsOfItsOwn) {
  const std::vector<rule::PulledMessage::Block> blocks{{2, 250}, {0, 0}, {1, 100}, {2, 1}};
  const rule::PulledMessage message(blocks, 100);
  EXPECT_EQ(message.bytes(), 351U);
  EXPECT_EQ(message.segments(), 5U);
  EXPECT_FALSE(message.source().has_value());
  std::vector<std::size_t> origins;
  std::uint64_t end = 0;
  message.for_each_segment([&](std::uint64_t segment, std::size_t origin) {
    origins.push_back(origin);
    EXPECT_EQ(message.offset(segment), end);
    end += message.length(segment);
  });
  EXPECT_EQ(end, 351U);
  EXPECT_EQ(origins, (std::vector<std::size_t>{2, 2, 2, 1, 2}));
  EXPECT_EQ(message.place_of(2).length, 50U);
  EXPECT_EQ(message.place_of(4).block, 3U);
  EXPECT_EQ(message.place_of(4).offset, 0U);
  const std::vector<rule::PulledMessage::Block> at_one{{1, 0}, {3, 20}, {3, 20}};
  EXPECT_EQ(rule::PulledMessage(at_one, 7).source(), 3U);
  EXPECT_EQ(rule::PulledMessage(4, {0, 10}).source(), 4U);
  EXPECT_EQ(rule::PulledMessage(4, {0, 10}).segments(), 0U);
}

TEST(Puller, AsksTheSourceFirstWhichAloneHasAnything) {
  rule::Puller puller(job_of_three());
  const auto requests = puller.choose(1);
  ASSERT_EQ(requests.size(), 1U);  // until its rate is known
  EXPECT_EQ(requests[0].source, 0U);
  EXPECT_TRUE(puller.has_news_for(0, 1));
  EXPECT_EQ(puller.take_news_for(0, 1).requests.size(), 1U);
  EXPECT_TRUE(puller.has_news_for(2, 1));
  EXPECT_TRUE(puller.take_news_for(2, 1).requests.empty());
  EXPECT_EQ(puller.take_news_for(2, 1).news.size(), 0U);
}

// Three ranks; the other receiver wants nine of ten segments.
TEST(Puller, AsksForTheRarest) {
  for (std::uint32_t rare = 0; rare < 10; ++rare) {
    rule::Job job = job_of_three();
    job.seed = rare + 1;
    rule::Puller puller(job);
    rule::Bulletin wants;
    for (std::uint32_t i = 0; i < 10; ++i) {
      if (i != rare) wants.news.push_back({rule::News::kWant, i});
    }
    puller.hear(2, wants, 1);
    const auto requests = puller.choose(1);
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].segment, rare);
  }
}

TEST(Puller, MeasuresARateWithoutTheRoundTrip) {
  rule::Puller puller(job_of_three());
  const auto requests = puller.choose(1);
  ASSERT_EQ(requests.size(), 1U);
  const rule::Rule defaults;
  ASSERT_TRUE(puller.arrived(0, requests[0].segment, 1 + 2 * defaults.latency_s + 0.5));
  EXPECT_NEAR(puller.rate_from(0), 200, 1e-6);
}

// Ranks 1 and 2 share a host.
TEST(Puller, AsksNobodyOutsideForWhatARankOfItsHostHasOrWants) {
  rule::Job job = job_of_three();
  job.host_of = {0, 1, 1};
  rule::Puller puller(job);
  rule::Bulletin news;
  for (std::uint32_t i = 0; i < 10; ++i) {
    if (i != 6) news.news.push_back({i < 3 ? rule::News::kHave : rule::News::kWant, i});
  }
  puller.hear(2, news, 1);
  for (int turn = 0; turn < 4; ++turn) {
    const double now = 2 + turn;
    const auto requests = puller.choose(now);
    ASSERT_FALSE(requests.empty());
    const std::vector<rule::Puller::Request> asked(requests.begin(), requests.end());
    for (const auto& [source, segment] : asked) {
      EXPECT_EQ(source, segment < 3 ? 2U : 0U);
      EXPECT_TRUE(segment < 3 || segment == 6);
      EXPECT_TRUE(puller.arrived(source, segment, now + 0.5));
    }
    if (puller.segments_of(1) == 4) break;
  }
  EXPECT_EQ(puller.segments_of(1), 4U);
  EXPECT_TRUE(puller.choose(9).empty());  // the mate wants the rest
  rule::Bulletin dropped;
  dropped.news.push_back({rule::News::kUnwant, 8});
  puller.hear(2, dropped, 10);
  const auto requests = puller.choose(11);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].segment, 8U);
}

// A far cluster of ranks 1 and 2, whose round trip is short.
TEST(Puller, AsksADistantSourceForNothingThatANearRankWants) {
  rule::Puller puller(job_of_three());
  const auto echo_after = [&](std::size_t from, double round_trip_s, double now) {
    rule::Bulletin bulletin{.sent_s = now, .echo_s = now - round_trip_s};
    puller.hear(from, bulletin, now);
  };
  ASSERT_EQ(puller.choose(1).size(), 1U);
  echo_after(0, 0.1, 1.1);
  echo_after(2, 0.001, 1.1);
  rule::Bulletin wants;
  for (std::uint32_t i = 0; i < 10; ++i) {
    if (!puller.is_asked(i)) wants.news.push_back({rule::News::kWant, i});
  }
  puller.hear(2, wants, 1.1);
  EXPECT_TRUE(puller.choose(1.2).empty());
}

TEST(Puller, IgnoresWhatIsNotOutstanding) {
  rule::Puller puller(job_of_three());
  EXPECT_FALSE(puller.arrived(0, 3, 1));
  EXPECT_FALSE(puller.has(3));
}

TEST(Puller, AsksOthersWhenASourceHasDied) {
  rule::Puller puller(job_of_three());
  const std::uint32_t segment = puller.choose(1)[0].segment;
  rule::Bulletin has;
  has.news.push_back({rule::News::kHave, segment});
  puller.hear(2, has, 1);
  puller.died(0);
  const auto requests = puller.choose(1);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].source, 2U);
  EXPECT_EQ(requests[0].segment, segment);
}

TEST(Puller, RefusesBulletinsThatBreakTheProtocol) {
  rule::Puller puller(job_of_three());
  rule::Bulletin beyond;
  beyond.news.push_back({rule::News::kHave, 10});
  EXPECT_THROW(puller.hear(2, beyond, 1), std::logic_error);
  rule::Bulletin asks;
  asks.requests.push_back(0);
  EXPECT_THROW(puller.hear(2, asks, 1), std::logic_error);  // this rank has nothing
  rule::Bulletin last;
  last.is_last = true;
  puller.hear(2, last, 1);
  EXPECT_THROW(puller.hear(2, {}, 1), std::logic_error);
}

TEST(Puller, RefusesTooManySegments) {
  rule::Job job = job_of_three();
  job.message = {0, {rule::kMostSegments + 1, 1}};
  EXPECT_THROW(rule::Puller{job}, InputError);
}

TEST(Bulletin, IsTheSameAfterItsBytes) {
  rule::Bulletin bulletin{.sent_s = 1.5, .echo_s = 2.5, .best_out = 3e9, .from_reader = 4e7};
  bulletin.dead = 0x123456789abcdef0;
  bulletin.is_stopped = true;
  bulletin.is_last = true;
  bulletin.requests = {7, 0};
  bulletin.news = {{rule::News::kWant, 7}, {rule::News::kUnwant, rule::kMostSegments - 1}};
  const auto bytes = rule::to_bytes(bulletin);
  EXPECT_EQ(rule::bulletin_from_bytes(bytes.data(), bytes.size()), bulletin);
}

TEST(Bulletin, RefusesBytesOfSomethingElse) {
  const auto bytes = rule::to_bytes({});
  EXPECT_THROW(rule::bulletin_from_bytes(bytes.data(), bytes.size() - 1), std::invalid_argument);
  rule::Bulletin one;
  one.requests = {1};
  auto cut = rule::to_bytes(one);
  cut.resize(cut.size() - 4);
  EXPECT_THROW(rule::bulletin_from_bytes(cut.data(), cut.size()), std::invalid_argument);
}

}  // namespace
}  // namespace espalier::testing::pull_test
