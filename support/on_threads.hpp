// Work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace espalier {

// How many threads do so many jobs; 0: one for each core.
inline std::size_t threads_for(std::uint64_t jobs) {
  return jobs > 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}

// Calls report(i, work(i)) for every i below `count`, on `jobs` threads (at least one), of which
// the caller's is one: one report at a time, in any order, from any thread. If a call throws, no
// further one is started, and the first exception is rethrown when all threads have ended.
template <class Work, class Report>
void on_threads(std::size_t count, std::size_t jobs, const Work& work, const Report& report) {
  std::atomic<std::size_t> next = 0;
  std::mutex reporting;
  std::exception_ptr fault;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      // Held from a report to the note of its exception, so that no other thread reports between.
      std::unique_lock lock(reporting, std::defer_lock);
      try {
        auto result = work(i);
        lock.lock();
        if (fault) return;
        report(i, std::move(result));
      } catch (...) {
        if (!lock) lock.lock();
        if (!fault) fault = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(jobs, count); ++i) threads.emplace_back(run);
    run();
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace espalier
