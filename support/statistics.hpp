// Mean, deviation, minimum and quartiles of a sample; runs repeated until they agree.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace espalier {

struct Spread {
  std::size_t count = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();  // NaN for an empty sample
  double deviation =
      std::numeric_limits<double>::quiet_NaN();             // of the sample (n - 1); NaN below 2
  double least = std::numeric_limits<double>::quiet_NaN();  // NaN for an empty sample
};

// sample: finite. Sums in the given order, so that the same sample gives the same bits.
Spread spread_of(std::span<const double> sample);

// The quartiles of a sample. A quartile between two values is interpolated linearly
// (Hyndman and Fan's definition 7, which R, NumPy and spreadsheets use,
// doi:10.1080/00031305.1996.10473566).
struct Quartiles {
  double least = std::numeric_limits<double>::quiet_NaN();  // all NaN for an empty sample
  double lower = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  double greatest = std::numeric_limits<double>::quiet_NaN();
};

// sample: finite, in any order.
Quartiles quartiles_of(std::vector<double> sample);
// 0 for an empty sample.
double median_of(std::vector<double> sample);

// Repeats a measurement until its runs agree, by the rule of CM, section 6.1 (J. Pjesivac-Grbovic
// et al., Performance analysis of MPI collective operations, doi:10.1007/s10586-007-0012-0): 10 to
// 20 runs without the greatest of them, whose standard deviation is below 5 % of their mean.
//
//   SteadyRuns runs;
//   while (runs.needs_more()) runs.add(seconds_of_a_run());
//   use(runs.result().kept.least);
struct SteadyRule {
  std::size_t fewest = 10;  // runs of an attempt, with the greatest; at least 3
  std::size_t most = 20;    // at least `fewest`; then the next attempt begins without any run
  std::size_t attempts = 3;
  double deviation = 0.05;  // below this share of the mean
};

class SteadyRuns {
 public:
  struct Result {
    Spread kept;           // of the best attempt, without its greatest run
    std::size_t runs = 0;  // of all attempts, with the greatest of each
    bool is_steady = false;
    // The deviation as a share of the mean; 0 if all runs are equal.
    [[nodiscard]] double relative_deviation() const;
  };

  explicit SteadyRuns(const SteadyRule& rule = {}) : rule_(rule) {}
  [[nodiscard]] bool needs_more() const;
  // seconds: finite and at least 0. Ignored unless more are needed, so that several figures of the
  // same runs can be added until all are steady.
  void add(double seconds);
  // Of the runs until now. Precondition: needs_more() is false.
  [[nodiscard]] const Result& result() const { return result_; }

 private:
  SteadyRule rule_;
  std::vector<double> attempt_{};  // its runs
  std::size_t attempts_ = 0;       // that ended without being steady
  Result result_{};
};

}  // namespace espalier
