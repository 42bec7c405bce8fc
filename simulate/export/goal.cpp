#include "simulate/export/goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

constexpr std::uint64_t kMostIn32Bits = std::numeric_limits<std::uint32_t>::max() - 1;

struct TimeUnit {
  std::string_view name;
  double seconds;
};

// LogGOPSim's parameters are whole numbers of at most 31 bits, of any unit: the finest in which all
// of them fit.
TimeUnit unit_for(const GoalOptions& options) {
  constexpr std::array<TimeUnit, 3> kUnits{{{"fs", 1e-15}, {"ps", 1e-12}, {"ns", 1e-9}}};
  if (!options.loggp) return kUnits.back();
  const double longest = std::max({options.loggp->latency.value, options.loggp->overhead.value,
                                   options.loggp->gap.value, options.loggp->gap_per_byte_s});
  for (const TimeUnit& unit : kUnits) {
    if (longest / unit.seconds < std::numeric_limits<std::int32_t>::max()) return unit;
  }
  return kUnits.back();
}

std::string parameters_text(const GoalOptions& options, const TimeUnit& unit) {
  if (!options.loggp) return {};
  const auto in_units = [&](double seconds) { return std::round(seconds / unit.seconds); };
  const LogGPView& loggp = *options.loggp;
  return fmt::format("// LogGOPSim -L {:.0f} -o {:.0f} -g {:.0f} -G {:.0f} -O 0 -S 2147483647\n",
                     in_units(loggp.latency.value), in_units(loggp.overhead.value),
                     in_units(loggp.gap.value), in_units(loggp.gap_per_byte_s));
}

// The operations of every rank, as text.
class Ranks {
 public:
  Ranks(const Transfers& transfers, const GoalOptions& options, double unit_s)
      : transfers_(transfers), texts_(transfers.ranks) {
    if (options.compute) per_byte_ = 1 / options.compute->value / unit_s;
  }

  void add(std::size_t index) {
    const Transfer& transfer = transfers_.all[index];
    const std::uint64_t tag = transfers_.tag_of(transfer);
    const auto sender = std::back_inserter(texts_[transfer.from]);
    fmt::format_to(sender, "s{}: send {}b to {} tag {}\n", index, transfer.bytes, transfer.to, tag);
    for (const std::size_t earlier : transfer.after) {
      fmt::format_to(sender, "s{} requires {}{}\n", index, arrival_of(earlier), earlier);
    }
    const auto order = std::pair(transfer.from, transfer.after.empty() ? kOwn : transfer.tree);
    const auto [last, is_first] = last_send_.try_emplace(order, index);
    if (!is_first) {
      fmt::format_to(sender, "s{} irequires s{}\n", index, last->second);
      last->second = index;
    }
    const auto receiver = std::back_inserter(texts_[transfer.to]);
    fmt::format_to(receiver, "r{}: recv {}b from {} tag {}\n", index, transfer.bytes, transfer.from,
                   tag);
    if (arrival_of(index) == 'r') return;
    fmt::format_to(receiver, "c{0}: calc {1:.0f}\nc{0} requires r{0}\n", index,
                   std::ceil(static_cast<double>(transfer.bytes) * per_byte_));
  }

  [[nodiscard]] const std::string& text(std::size_t rank) const { return texts_[rank]; }

 private:
  static constexpr std::uint32_t kOwn = UINT32_MAX;

  // What ends a transfer: its receive, or its addition.
  [[nodiscard]] char arrival_of(std::size_t index) const {
    return per_byte_ > 0 && transfers_.all[index].combines ? 'c' : 'r';
  }

  const Transfers& transfers_;
  double per_byte_ = 0;  // units of time to add one; 0: additions are left out
  std::vector<std::string> texts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> last_send_;  // rank, tree
};

void require_fits(const Transfers& transfers) {
  if (transfers.segment.value > kMostIn32Bits) {
    throw InputError({}, "--segment",
                     fmt::format("{}, but messages of GOAL have at most 4 GiB; give a smaller one",
                                 format_size(transfers.segment)));
  }
}

}  // namespace

std::string goal_schedule(const planner::Plan& plan, const Transfers& transfers,
                          const GoalOptions& options) {
  require_fits(transfers);
  const TimeUnit unit = unit_for(options);
  Ranks ranks(transfers, options, unit.seconds);
  for (std::size_t i = 0; i < transfers.all.size(); ++i) ranks.add(i);
  std::string text =
      fmt::format("// espalier: {}; times in {}\n{}num_ranks {}\n", title_of(plan, transfers),
                  unit.name, parameters_text(options, unit), transfers.ranks);
  for (std::size_t rank = 0; rank < transfers.ranks; ++rank) {
    text += fmt::format("\n// {}\nrank {} {{\n", printable(plan.nodes[rank]), rank);
    text += ranks.text(rank);
    text += "}\n";
  }
  return text;
}

}  // namespace espalier::simulate
