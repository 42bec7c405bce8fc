// Searches for the plan and the segment size with the least makespan for a message. Simulates the
// combinations that the pipeline formula cannot exclude.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "planner/plan/segment_grid.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/search/candidates.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/task.hpp"
#include "support/deadline.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

struct SegmentSearchOptions {
  Options run{};              // segment unset: all sizes; sends are in turns, without a schedule
  Bytes least_segment{1024};  // the smallest one to try
  // Once the best takes longer, the search ends.
  Seconds longest{std::numeric_limits<double>::infinity()};
  std::function<void(std::string_view)> on_progress{};  // may be empty
};

// A candidate with one segment size.
struct Trial {
  std::size_t candidate = 0;
  std::uint64_t segments = 0;
  Seconds makespan;        // and Candidate::crowded
  bool simulated = false;  // false: the makespan is the formula's lower bound
};

// The time of a message: simulated in full, or extrapolated from shorter ones.
struct Forecast {
  Seconds makespan;
  bool extrapolated = false;
  bool stopped = false;  // the makespan is a limit that the time exceeds
};

class SegmentSearch {
 public:
  // Keeps references to the platform and the deadline. message: at least 1 byte.
  SegmentSearch(const platforms::Platform& platform, platforms::Model model, bool latency_occupies,
                Bytes message, SegmentSearchOptions options, const Deadline& deadline);

  void add(Candidate candidate);
  [[nodiscard]] std::span<const Candidate> candidates() const { return candidates_; }
  // The size of all segments except the last, when the message is cut into `segments` equal ones.
  [[nodiscard]] Bytes segment_of(std::uint64_t segments) const;

  // The best trial of `which` (indices of candidates), by the search of docs/model.md, "The
  // search". When the deadline passes, returns the best so far, and complete() is false. closely:
  // false omits the refinement.
  Trial best_of(const std::vector<std::size_t>& which, bool closely = true);
  // The search extrapolates the times of long messages. This simulates the best trials with up to
  // `most_sends` sends, until the best of all has been simulated so or a limit on runs or time is
  // reached.
  Forecast run_in_full(Trial& best, std::uint64_t most_sends);
  // The most robust of all trials whose time is within a quarter of the least one: it minimizes the
  // sum of
  // - the longer of its times with sends in turns and with edges that share resources, and
  // - the overheads of all segments that its busiest host sends and receives.
  // Where overheads do not occupy ports, the margin is 1 %, or 2.5 % if those of `best` at its
  // busiest host exceed the makespan. overhead_of_links: of a segment; unset where they occupy
  // ports. Precondition: best_of was called. Simulates some trials with up to `most_sends` sends.
  Forecast most_robust(Trial& best, std::optional<Seconds> overhead_of_links,
                       std::uint64_t most_sends);
  // The trial's makespan alone.
  [[nodiscard]] Seconds in_turns(const Trial& trial) const {
    return {trial.makespan.value - candidates_[trial.candidate].crowded.value};
  }
  // The best trial of one candidate so far, simulated or not.
  [[nodiscard]] Trial best_so_far(std::size_t candidate) const;
  // The same among the simulated trials, if there are any.
  [[nodiscard]] Trial best_to_report(std::size_t candidate) const;
  // The best trial by the formula.
  [[nodiscard]] Trial best_by_formula(std::size_t candidate) const;

  // most_sends: of a run. The time of a message with more sends, and with more than 1,024 segments,
  // is extrapolated from that many segments and from half of them: once the pipelines are full,
  // each further segment takes the same time.
  [[nodiscard]] Forecast forecast(std::size_t candidate, std::uint64_t segments,
                                  std::uint64_t most_sends, Seconds longest = kUnlimited);

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::size_t simulations() const { return simulations_; }

 private:
  static constexpr Seconds kUnlimited{std::numeric_limits<double>::infinity()};
  struct Cell {
    double bound_s = 0;
    double least_s = 0;  // the bound, or how long a run lasted until it was stopped
    std::optional<double> simulated_s;
    std::optional<double> shared_s;  // simulated with edges that share
    bool in_full = false;            // or as far as run_in_full allows
    bool extrapolated = false;
    std::uint64_t handled = 0;  // segments at the host with the most sends and receives
    [[nodiscard]] double seconds() const { return simulated_s.value_or(least_s); }
  };
  // The matrix A for one segment size and for a shorter last segment, and the times to combine
  // them.
  struct Cut {
    std::uint64_t segments = 0;  // 0: none yet
    Bytes segment;
    Bytes rest;  // 0: the last one is a whole one
    platforms::Occupation full;
    platforms::Occupation last;
    Combining combining;

    // Of a message of `count` segments that ends as this one does.
    [[nodiscard]] planner::SegmentGrid grid_of(std::uint64_t count) const {
      const Bytes last_one = rest.value > 0 ? rest : segment;
      return {(count - 1) * segment.value + last_one.value, segment.value};
    }
  };

  [[nodiscard]] std::vector<std::uint64_t> first_counts() const;
  [[nodiscard]] std::uint64_t count_for(double segments) const;
  const Cut& cut(std::uint64_t segments);
  struct Prepared;
  // A run of the first `count` segments of the cut; infinity if it takes longer than `longest`.
  double seconds_of(std::size_t candidate, Prepared& run, std::uint64_t count, Sharing sharing,
                    Seconds longest);
  // How much longer the trial takes where edges share resources: of the whole message, or of as
  // many segments as take no more than some seconds to simulate.
  double slowdown_by_sharing(const Trial& trial);
  // Stores a forecast in the cell.
  Forecast simulate_cell(std::size_t candidate, std::uint64_t segments, std::uint64_t most_sends,
                         Seconds longest = kUnlimited);
  void evaluate(const std::vector<std::size_t>& which, std::uint64_t segments);
  void simulate_best_first(const std::vector<std::size_t>& which, Trial& best);
  void scan_around(Trial& best);
  [[nodiscard]] static double half_the_least_excess(const std::map<std::uint64_t, Cell>& cells);
  [[nodiscard]] Trial least_demanding(Seconds overhead, double factor, bool examined) const;
  [[nodiscard]] std::vector<std::uint64_t> counts_near(std::size_t candidate, double factor) const;

  const platforms::Platform& platform_;
  platforms::Model model_;
  bool latency_occupies_;
  Bytes message_;
  SegmentSearchOptions options_;
  const Deadline& deadline_;
  std::vector<Candidate> candidates_;
  std::vector<std::map<std::uint64_t, Cell>> cells_;  // per candidate, by segments
  std::vector<double> slowdown_;                      // per candidate: where edges share, at least
  Cut cut_;                                           // the one used last
  bool complete_ = true;
  std::size_t simulations_ = 0;
};

}  // namespace espalier::simulate
