// What several threads use at the same time, compiled with the thread sanitizer, which ends the
// program with a status of its own if there is a race.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "cli/espalier_mpi/run/watchdog.hpp"
#include "runtime/files/temporary_names.hpp"

namespace {

// The names that the tests set are of this length, and of one letter.
constexpr std::size_t kNameLength = 100;
std::atomic<int> removed = 0;

}  // namespace

// In place of the system's: looks at the name as the kernel would.
extern "C" int unlink(const char* file) noexcept {
  EXPECT_EQ(std::strlen(file), kNameLength);
  EXPECT_EQ(std::string(kNameLength, file[0]), file);
  ++removed;
  return 0;
}

namespace espalier::threads_test {
namespace {

void set_and_forget_names(int times) {
  for (int i = 0; i < times; ++i) {
    runtime::TemporaryName name;
    name.set(std::string(kNameLength, static_cast<char>('a' + i % 26)));
    if (i % 3 == 0) name.set(std::string(kNameLength, 'z'));
    if (i % 2 == 0) name.forget();
  }
}

TEST(Threads, NamesAreRemovedWhileOthersAreSet) {
  std::atomic<bool> is_over = false;
  std::thread remover([&] {
    while (!is_over) runtime::remove_temporaries();
  });
  set_and_forget_names(30'000);
  is_over = true;
  remover.join();
  EXPECT_GT(removed, 0);
}

TEST(Threads, TheWatchdogIsToldWhatItsRankDoes) {
  cli::Watchdog watchdog("rank 0");
  watchdog.start(Seconds{30});
  for (int i = 0; i < 3'000; ++i) {
    watchdog.expect(std::string(kNameLength, 'a'), Seconds{1});
    if (i % 3 == 0) watchdog.pause();
    if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  watchdog.limit_exit(Seconds{30}, 1);
}

TEST(ThreadsDeathTest, TheWatchdogEndsARankThatChangesNames) {
  EXPECT_EXIT(
      {
        cli::Watchdog watchdog("rank 0");
        watchdog.start(Seconds{0.2});
        watchdog.expect("waiting");
        for (;;) set_and_forget_names(1'000);
      },
      ::testing::ExitedWithCode(4), "espalier-mpi: rank 0: no progress for 0.2 s, waiting");
}

}  // namespace
}  // namespace espalier::threads_test
