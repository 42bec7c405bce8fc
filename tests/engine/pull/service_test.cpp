#include "engine/pull/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace espalier::engine::pull::service_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr double kSegment = 10;  // bytes
constexpr double kLeast_s = 1e-3;
constexpr double kLong_s = 1e9;  // no limit

std::vector<std::pair<std::size_t, std::uint32_t>> due(Service& service,
                                                       std::optional<std::size_t> preferred = {},
                                                       double most_s = kLong_s) {
  std::vector<std::pair<std::size_t, std::uint32_t>> all;
  for (const auto& [reader, segment] : service.take_due(preferred, most_s)) {
    all.emplace_back(reader, segment);
  }
  return all;
}

TEST(Service, ServesAllAtOnceInTheirOrder) {
  Service service(4, kSegment, kLeast_s);
  service.ask(2, 7, 1);
  service.ask(1, 5, 1);
  service.ask(2, 3, 1);
  EXPECT_THAT(due(service), ElementsAre(Pair(1, 5), Pair(2, 7), Pair(2, 3)));
  EXPECT_THAT(due(service), IsEmpty());
}

TEST(Service, OthersWaitWhileSomethingIsOnTheWayToThePreferredOne) {
  Service service(4, kSegment, kLeast_s);
  service.ask(1, 5, 1);
  service.ask(2, 7, 1);
  service.ask(2, 8, 1);
  EXPECT_THAT(due(service, 2), ElementsAre(Pair(2, 7), Pair(2, 8)));
  service.note_arrival(2, 7, 100, 2);
  EXPECT_THAT(due(service, 2), IsEmpty());
  service.note_arrival(2, 9, 100, 2);  // from elsewhere
  EXPECT_THAT(due(service, 2), IsEmpty());
  service.note_arrival(2, 8, 100, 2);
  EXPECT_THAT(due(service, 2), ElementsAre(Pair(1, 5)));
}

TEST(Service, NobodyWaitsForADeadRankOrForOneThatIsPreferredNoMore) {
  for (const bool dies : {true, false}) {
    Service service(3, kSegment, kLeast_s);
    service.ask(1, 5, 1);
    service.ask(2, 7, 1);
    EXPECT_THAT(due(service, 2), ElementsAre(Pair(2, 7)));
    if (dies) service.forget(2);
    EXPECT_THAT(due(service, dies ? std::optional<std::size_t>(2) : std::nullopt),
                ElementsAre(Pair(1, 5)));
  }
}

TEST(Service, NoRequestIsPassedOverForLong) {
  Service service(3, kSegment, kLeast_s);
  service.ask(1, 0, 1);
  service.ask(1, 1, 1);
  std::vector<std::uint32_t> after;  // how many segments each had to wait for
  for (std::uint32_t sent = 0; sent < 3 * Service::kMostPassedOver; ++sent) {
    service.ask(2, sent, 1);
    for (const auto& [reader, segment] : due(service, 2)) {
      if (reader == 1) after.push_back(sent + 1);
    }
  }
  EXPECT_THAT(after, ElementsAre(Service::kMostPassedOver, 2 * Service::kMostPassedOver));
}

// 16 segments in 4 s: in 0.75 s there would be three.
TEST(Service, WhereItIsSlowFewSegmentsAreOnTheWay) {
  constexpr double kMost_s = 0.75;
  Service service(4, kSegment, kLeast_s);
  for (std::uint32_t segment = 0; segment < 16; ++segment) service.ask(1, segment, 1);
  EXPECT_EQ(due(service, {}, kMost_s).size(), 16U);  // nothing is measured
  for (std::uint32_t segment = 0; segment < 16; ++segment) {
    service.note_arrival(1, segment, kSegment, 5);
  }
  EXPECT_EQ(service.rate(), 40);
  for (std::uint32_t segment = 20; segment < 24; ++segment) {
    for (const std::size_t reader : {1U, 2U}) service.ask(reader, segment, 6);
  }
  EXPECT_THAT(due(service, {}, kMost_s), ElementsAre(Pair(2, 20), Pair(1, 20), Pair(2, 21)));
  EXPECT_THAT(due(service, {}, kMost_s), IsEmpty());
  service.note_arrival(2, 20, kSegment, 7);
  EXPECT_THAT(due(service, {}, kMost_s), ElementsAre(Pair(1, 21)));
  service.forget(1);
  EXPECT_THAT(due(service, {}, kMost_s), ElementsAre(Pair(2, 22), Pair(2, 23)));
  service.ask(3, 20, 8);
  EXPECT_THAT(due(service, {}, kMost_s), IsEmpty());
  EXPECT_THAT(due(service, {}, 8 * kMost_s), ElementsAre(Pair(3, 20)));  // fast enough
}

// How many segments are sent at once, round by round, if those of a round arrive `took_s(count)`
// after it. Two are asked for in each of the first eight rounds, 1,000 in the ninth.
template <class Took>
std::vector<std::size_t> sent_at_once(const Took& took_s) {
  Service service(2, kSegment, kLeast_s);
  std::vector<std::size_t> counts;
  std::uint32_t asked = 0;
  double now = 1;
  for (int round = 0; round < 60; ++round) {
    for (const std::uint32_t end = asked + (round < 8 ? 2 : round == 8 ? 1000 : 0); asked < end;) {
      service.ask(1, asked++, now);
    }
    const auto sent = due(service, {}, 0.5);
    now += took_s(sent.size());
    for (const auto& [reader, segment] : sent) {
      service.note_arrival(reader, segment, kSegment, now);
    }
    counts.push_back(sent.size());
  }
  return counts;
}

// Two segments a second, however many are on the way.
TEST(Service, OverAThinUplinkMoreAreOnTheWayOnlyToTry) {
  const auto counts =
      sent_at_once([](std::size_t count) { return 0.5 * static_cast<double>(count); });
  EXPECT_EQ(std::ranges::max(counts), 4U);
  EXPECT_GT(std::ranges::count(counts, 2U), 3 * std::ranges::count(counts, 4U));
}

// They arrive after a second: not the uplink is thin, but the way back is long.
TEST(Service, MoreAreOnTheWayWhereReadersThenGetMore) {
  const auto counts = sent_at_once([](std::size_t) { return 1.0; });
  EXPECT_THAT(std::span(counts).first(16), Each(2U));
  EXPECT_GT(std::ranges::max(counts), 100U);
}

// Readers that share a link get their segments at the same time: a rate needs one of each.
TEST(Service, MeasuresWhatAllReadersGetTogether) {
  constexpr std::size_t kReaders = 20;
  Service service(kReaders + 1, kSegment, kLeast_s);
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::size_t reader = 1; reader <= kReaders; ++reader) service.ask(reader, round, 1);
  }
  static_cast<void>(service.take_due({}, kLong_s));
  EXPECT_EQ(service.rate(), 0);
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::size_t reader = 1; reader <= kReaders; ++reader) {
      service.note_arrival(reader, round, 10, 2 + round);
    }
  }
  EXPECT_NEAR(service.rate(), 10 * kReaders, 20);
  service.note_arrival(1, 0, 10, 2);  // a second time
  EXPECT_NEAR(service.rate(), 10 * kReaders, 20);
}

}  // namespace
}  // namespace espalier::engine::pull::service_test
