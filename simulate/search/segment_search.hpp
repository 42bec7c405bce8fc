// Which plan, in segments of which size, has a message everywhere first: a search that simulates
// what the pipeline's formula cannot rule out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "planner/problem/deadline.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/model/sharing.hpp"
#include "simulate/search/candidates.hpp"
#include "simulate/transport/task.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

struct SegmentSearchOptions {
  std::optional<Bytes> segment;  // the only one
  Bytes least_segment{1024};     // no smaller ones are tried
  // As in simulate::Options.
  std::uint64_t window = planner::kSendsInFlight;
  std::uint64_t receives = planner::kReceivesInFlight;
  std::optional<BytesPerSecond> compute{};
  std::function<void(std::string_view)> on_progress{};  // may be empty
};

// A candidate in segments of one size.
struct Trial {
  std::size_t candidate = 0;
  std::uint64_t segments = 0;
  Seconds makespan;
  bool simulated = false;  // false: the makespan is at least this, by the formula
};

// How long a message takes: run in full, or told from shorter ones.
struct Forecast {
  Seconds makespan;
  bool extrapolated = false;
};

class SegmentSearch {
 public:
  // Keeps references to the platform and the deadline. message: at least 1 byte.
  SegmentSearch(const platforms::Platform& platform, platforms::Model model, bool latency_occupies,
                Bytes message, SegmentSearchOptions options, const planner::Deadline& deadline);

  void add(Candidate candidate);
  [[nodiscard]] std::span<const Candidate> candidates() const { return candidates_; }
  // The size of all segments but the last, when the message is cut into `segments` alike.
  [[nodiscard]] Bytes segment_of(std::uint64_t segments) const;

  // The best of `which` (indices of candidates): numbers of segments a factor apart, those first
  // that the formula likes best, none that it proves to be no better than the best so far; then
  // ever closer around the best of each candidate that is within a tenth of the best of all. When
  // the deadline passes, the best so far, and complete() is false. closely: false leaves it at the
  // numbers a factor apart.
  Trial best_of(const std::vector<std::size_t>& which, bool closely = true);
  // While searching, long messages are told from shorter ones. This runs what seems best with up to
  // so many sends until the best of all has been, or a number of runs or the deadline is reached.
  Forecast run_in_full(Trial& best, std::uint64_t most_sends);
  // Of all trials that take at most 1 % more than the least, the one for which what it takes, in
  // turns or where edges share what they need, whichever is longer, and what its busiest host takes
  // for all segments that it sends and receives, one after the other, add up to least. 2.5 % more
  // where that host would take longer for the segments of `best` than the message takes. overhead:
  // of a segment. Needs a best_of before it; runs some in full, with up to so many sends each.
  Forecast most_robust(Trial& best, Seconds overhead, std::uint64_t most_sends);
  // The best trial of one candidate so far, simulated or not.
  [[nodiscard]] Trial best_so_far(std::size_t candidate) const;
  // The same, of those that were simulated where any were.
  [[nodiscard]] Trial best_to_tell(std::size_t candidate) const;
  // The number of segments that the formula likes best, of those that were looked at.
  [[nodiscard]] Trial best_by_formula(std::size_t candidate) const;

  // most_sends: of a run; a message that takes more is told from its first half and its whole of
  // that many, for what is added once the pipelines are full goes at a steady pace.
  [[nodiscard]] Forecast forecast(std::size_t candidate, std::uint64_t segments,
                                  std::uint64_t most_sends, Sharing sharing = Sharing::kTurns);

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::size_t simulations() const { return simulations_; }

 private:
  struct Cell {
    double bound_s = 0;
    std::optional<double> simulated_s;
    std::optional<double> shared_s;  // simulated with edges that share
    bool in_full = false;            // or as far as run_in_full goes
    bool extrapolated = false;
    std::uint64_t handled = 0;  // segments that the host with the most sends and receives
    [[nodiscard]] double seconds() const { return simulated_s.value_or(bound_s); }
  };
  // A for segments of one size, and for the message's last one where that is shorter; and how long
  // they take to be combined.
  struct Cut {
    std::uint64_t segments = 0;  // 0: none yet
    Bytes segment;
    Bytes rest;  // 0: the last one is as long as the others
    platforms::Occupation full;
    platforms::Occupation last;
    Combining combining;
  };

  [[nodiscard]] std::vector<std::uint64_t> first_counts() const;
  [[nodiscard]] std::uint64_t count_for(double segments) const;
  const Cut& cut(std::uint64_t segments);
  // A forecast that the cell keeps.
  Forecast simulate_cell(std::size_t candidate, std::uint64_t segments, std::uint64_t most_sends);
  void look_at(const std::vector<std::size_t>& which, std::uint64_t segments);
  void simulate_best_first(const std::vector<std::size_t>& which, Trial& best);
  void scan_around(Trial& best);
  [[nodiscard]] Trial least_asking(Seconds overhead, double factor, bool looked) const;
  [[nodiscard]] std::vector<std::uint64_t> counts_near(std::size_t candidate, double factor) const;

  const platforms::Platform& platform_;
  platforms::Model model_;
  bool latency_occupies_;
  Bytes message_;
  SegmentSearchOptions options_;
  const planner::Deadline& deadline_;
  std::vector<Candidate> candidates_;
  std::vector<std::map<std::uint64_t, Cell>> cells_;  // of each candidate, by segments
  Cut cut_;                                           // the one used last
  bool complete_ = true;
  std::size_t simulations_ = 0;
};

}  // namespace espalier::simulate
