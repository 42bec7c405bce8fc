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
  const auto stop = [&] {  // by whoever reports, within its catch
    if (!fault) fault = std::current_exception();
    next = count;
  };
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        auto result = work(i);
        const std::scoped_lock lock(reporting);
        if (fault) return;
        try {
          report(i, std::move(result));
        } catch (...) {
          stop();  // before another thread may report
        }
      } catch (...) {
        const std::scoped_lock lock(reporting);
        stop();
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
