// How often a value is measured, and which of its runs counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::runtime::probe {

enum class Statistics : std::uint8_t {
  kLeast,   // of three runs, because disturbances only make them slower
  kSteady,  // of as many as the rule of SteadyRuns takes; also the least of the runs it keeps
};
inline constexpr std::string_view kStatistics[] = {"least", "steady"};

// The values measured so far and, by kSteady, how much their runs differ.
class Repeats {
 public:
  explicit Repeats(Statistics statistics = Statistics::kLeast) : statistics_(statistics) {}

  // Repeats `run`, which measures all of the named values, and returns them.
  std::vector<double> measure(const std::vector<std::string>& names,
                              const std::function<std::vector<double>()>& run);
  double measure(const std::string& name, const std::function<double()>& run);

  struct Deviation {
    std::string name;     // "round trip of 1 KiB from rank 0 to rank 1"
    double relative = 0;  // standard deviation as a share of the mean
    bool is_steady = false;
  };
  [[nodiscard]] Statistics statistics() const { return statistics_; }
  // Of each value; empty by kLeast.
  [[nodiscard]] const std::vector<Deviation>& deviations() const { return deviations_; }

 private:
  Statistics statistics_;
  std::vector<Deviation> deviations_{};
};

}  // namespace espalier::runtime::probe
