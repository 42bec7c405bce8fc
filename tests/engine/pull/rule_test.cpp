// Each part of the rule by which a rank chooses what to ask of whom (engine/pull/choose.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/pull/puller.hpp"

namespace espalier::testing::rule_test {
namespace {

namespace pull = engine::pull;

constexpr std::uint64_t kSegment = 1000;

// Rank 1 of some ranks; rank 0 is the source. Its requests are answered as a test says.
class Asker {
 public:
  Asker(std::size_t ranks, std::uint64_t segments)
      : puller_({.ranks = ranks, .rank = 1, .message = {0, {segments * kSegment, kSegment}}}) {}

  [[nodiscard]] pull::Puller& puller() { return puller_; }
  double latency_s = pull::Rule{}.latency_s;  // one way
  // Rank `rank` has, or wants, the segments before `end`.
  void hear(std::size_t rank, pull::News kind, std::uint32_t end, double best_out = 0) {
    pull::Bulletin bulletin{.best_out = best_out};
    for (std::uint32_t i = 0; i < end; ++i) bulletin.news.push_back({kind, i});
    puller_.hear(rank, bulletin, now_s_);
  }
  // Asks, and answers what was asked of the ranks from which segments shall come at these rates (in
  // bytes/s; by rank), which takes no time for the others. Ranks with a rate of 0 do not answer.
  void measure(const std::vector<double>& rates) {
    const auto chosen = puller_.choose(now_s_);
    const std::vector<pull::Puller::Request> requests(chosen.begin(), chosen.end());
    for (const auto& [source, segment] : requests) {
      if (rates[source] == 0) continue;
      const double took_s = 2 * latency_s + kSegment / rates[source];
      EXPECT_TRUE(puller_.arrived(source, segment, now_s_ + took_s));
      end_s_ = std::max(end_s_, now_s_ + took_s);
    }
  }
  // How many segments are asked of each rank now.
  std::vector<std::size_t> asks() {
    now_s_ = end_s_ + 1e-9;
    std::vector<std::size_t> counts(8);
    for (const auto& request : puller_.choose(now_s_)) ++counts[request.source];
    return counts;
  }

 private:
  pull::Puller puller_;
  double now_s_ = 1;
  double end_s_ = 1;
};

TEST(PullRule, TriesTwoUnknownSourcesAtATime) {
  Asker asker(6, 100);
  for (const std::size_t rank : {2U, 3U, 4U, 5U}) asker.hear(rank, pull::News::kHave, 100);
  const auto asked = asker.asks();
  std::size_t total = 0;
  for (const std::size_t count : asked) {
    EXPECT_LE(count, 1U);
    total += count;
  }
  EXPECT_EQ(total, 2U);
}

// 1 MB/s over 2 · 0.2 ms + 0.1 ms is half a segment, 10 MB/s are five.
TEST(PullRule, KeepsARoundTripInFlight) {
  for (const auto& [rate, window] :
       {std::pair{1e6, 2U}, std::pair{1e7, 7U}, std::pair{1e12, 128U}}) {
    Asker asker(2, 1000);
    asker.measure({rate, 0});
    EXPECT_EQ(asker.asks()[0], window) << rate;
  }
}

// One source takes a second for a segment, the other a millisecond.
TEST(PullRule, DoesNotLeaveTheLastSegmentsToASlowSource) {
  Asker few(3, 20);
  few.hear(2, pull::News::kHave, 20);
  few.measure({1e6, 0, 1e3});
  const auto asked = few.asks();
  EXPECT_GT(asked[0], 0U);
  EXPECT_EQ(asked[2], 0U);
  // The slow one is of use where the message takes a hundred times as long.
  Asker many(3, 100'000);
  many.hear(2, pull::News::kHave, 100'000);
  many.measure({1e6, 0, 1e3});
  EXPECT_GT(many.asks()[2], 0U);
}

// Rank 2 is far: it serves another rank a hundred times better. Rank 3 is near, and will have the
// segments of rank 2 anyway.
TEST(PullRule, FetchesFromTheFarSideOnlyWhatNobodyNearHasOrWants) {
  for (const double best_out : {1e5, 1e3}) {
    Asker asker(4, 100'000);
    asker.hear(2, pull::News::kHave, 100, best_out);
    asker.hear(3, pull::News::kHave, 50);
    for (int turn = 0; turn < 3; ++turn) asker.measure({0, 0, 1e3, 1e5});
    ASSERT_GT(asker.puller().rate_from(2), 0);
    ASSERT_GT(asker.puller().rate_from(3), 0);
    asker.hear(3, pull::News::kWant, 100);
    const auto asked = asker.asks();
    if (best_out > 3 * 1e3) {
      EXPECT_EQ(asked[2], 0U);
    } else {
      EXPECT_GT(asked[2], 0U);
    }
  }
}

TEST(PullRule, KeepsToTheLimitOfAllOutstanding) {
  pull::Puller puller(
      {.ranks = 4, .rank = 1, .message = {0, {100 * kSegment, kSegment}}, .most_outstanding = 1});
  pull::Bulletin all;
  for (std::uint32_t i = 0; i < 100; ++i) all.news.push_back({pull::News::kHave, i});
  puller.hear(2, all, 1);
  puller.hear(3, all, 1);
  EXPECT_EQ(puller.choose(1).size(), 1U);
  EXPECT_EQ(puller.choose(2).size(), 0U);
}

// The shortest round trip counts, whatever a message waited for.
TEST(PullRule, LearnsTheRoundTripFromBulletins) {
  Asker asker(2, 1000);
  asker.puller().hear(0, {.sent_s = 70, .echo_s = 0.5}, 0.9);
  asker.puller().hear(0, {.sent_s = 71, .echo_s = 0.92}, 0.93);
  asker.latency_s = 0.005;
  asker.measure({1e6, 0});
  // 1 MB/s over 10 ms + 0.1 ms: 10.1 segments, and what the ways took does not count.
  EXPECT_EQ(asker.asks()[0], 12U);
}

// A segment that takes less than the round trip shows that this was too long.
TEST(PullRule, LearnsTheRoundTripFromSegments) {
  Asker asker(2, 1000);
  asker.puller().hear(0, {.sent_s = 70, .echo_s = 0.5}, 0.9);
  asker.latency_s = 1e-4;
  asker.measure({1e6, 0});
  EXPECT_NEAR(asker.puller().rate_from(0), 1e6, 1e6);
}

// A source that has nothing to tell answers a first request nevertheless: windows need the round
// trip. It answers once.
TEST(PullRule, EchoesTheFirstRequest) {
  pull::Puller source({.ranks = 3, .rank = 0, .message = {0, {100 * kSegment, kSegment}}});
  EXPECT_FALSE(source.has_news_for(1, 1));
  source.hear(1, {.sent_s = 7, .requests = {3}}, 1.5);
  ASSERT_TRUE(source.has_news_for(1, 1.5));
  EXPECT_FALSE(source.has_news_for(2, 1.5));
  EXPECT_EQ(source.take_news_for(1, 1.75).echo_s, 7.25);
  source.hear(1, {.sent_s = 8, .requests = {4}}, 2);
  EXPECT_FALSE(source.has_news_for(1, 2));
}

}  // namespace
}  // namespace espalier::testing::rule_test
