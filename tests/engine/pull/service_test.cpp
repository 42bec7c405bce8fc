#include "engine/pull/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace espalier::engine::pull::service_test {
namespace {

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
