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

constexpr double kLeast_s = 1e-3;

std::vector<std::pair<std::size_t, std::uint32_t>> due(Service& service,
                                                       std::optional<std::size_t> preferred = {}) {
  std::vector<std::pair<std::size_t, std::uint32_t>> all;
  for (const auto& [reader, segment] : service.take_due(preferred)) {
    all.emplace_back(reader, segment);
  }
  return all;
}

TEST(Service, ServesAllAtOnceInTheirOrder) {
  Service service(4, kLeast_s);
  service.ask(2, 7, 1);
  service.ask(1, 5, 1);
  service.ask(2, 3, 1);
  EXPECT_THAT(due(service), ElementsAre(Pair(1, 5), Pair(2, 7), Pair(2, 3)));
  EXPECT_THAT(due(service), IsEmpty());
}

TEST(Service, OthersWaitWhileSomethingIsOnTheWayToThePreferredOne) {
  Service service(4, kLeast_s);
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
    Service service(3, kLeast_s);
    service.ask(1, 5, 1);
    service.ask(2, 7, 1);
    EXPECT_THAT(due(service, 2), ElementsAre(Pair(2, 7)));
    if (dies) service.forget(2);
    EXPECT_THAT(due(service, dies ? std::optional<std::size_t>(2) : std::nullopt),
                ElementsAre(Pair(1, 5)));
  }
}

TEST(Service, NoRequestIsPassedOverForLong) {
  Service service(3, kLeast_s);
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

// Readers that share a link get their segments at the same time: a rate needs one of each.
TEST(Service, MeasuresWhatAllReadersGetTogether) {
  constexpr std::size_t kReaders = 20;
  Service service(kReaders + 1, kLeast_s);
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::size_t reader = 1; reader <= kReaders; ++reader) service.ask(reader, round, 1);
  }
  static_cast<void>(service.take_due({}));
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
