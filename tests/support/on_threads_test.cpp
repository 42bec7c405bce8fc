#include "support/on_threads.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace espalier {
namespace {

TEST(OnThreads, ReportsEachOnce) {
  for (const std::size_t jobs : {0U, 1U, 4U}) {
    std::vector<int> reported(100);
    on_threads(
        reported.size(), jobs, [](std::size_t i) { return i; },
        [&](std::size_t i, std::size_t result) {
          EXPECT_EQ(result, i);
          ++reported[i];
        });
    EXPECT_EQ(reported, std::vector<int>(100, 1)) << jobs;
  }
}

TEST(OnThreads, NothingIsReportedAfterAnException) {
  for (int run = 0; run < 20; ++run) {
    int reports = 0;
    const auto report = [&](std::size_t, int) {
      ++reports;
      // The other threads come to wait for their turn.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      throw std::runtime_error("first");
    };
    EXPECT_THROW(on_threads(
                     100, 4, [](std::size_t) { return 0; }, report),
                 std::runtime_error);
    EXPECT_EQ(reports, 1) << "run " << run;
  }
}

TEST(OnThreads, AnExceptionOfTheWorkStopsTheRest) {
  std::size_t reports = 0;
  const auto work = [](std::size_t i) {
    if (i == 10) throw std::runtime_error("no result");
    return i;
  };
  EXPECT_THROW(on_threads(1000, 1, work, [&](std::size_t, std::size_t) { ++reports; }),
               std::runtime_error);
  EXPECT_EQ(reports, 10U);
}

}  // namespace
}  // namespace espalier
