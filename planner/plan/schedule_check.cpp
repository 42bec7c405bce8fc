#include "planner/plan/schedule_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "planner/plan/figures.hpp"
#include "support/errors.hpp"

namespace espalier::planner {
namespace {

class ScheduleCheck {
 public:
  ScheduleCheck(const Plan& plan, const std::string& file)
      : plan_(plan), schedule_(*plan.schedule), file_(file), trees_(trees_in_order(plan)) {
    for (const DirectedTree& of : trees_) {
      parent_of_.emplace_back(plan.nodes.size(), UINT32_MAX);
      for (const PlanEdge edge : of.tree->edges) parent_of_.back()[edge.child] = edge.parent;
    }
  }

  void run() const {
    figures();
    for (std::size_t i = 0; i < schedule_.sends.size(); ++i) {
      check_send(i);
      if (i > 0 && schedule_.sends[i].start < schedule_.sends[i - 1].start) {
        refuse_send(i, "it starts at {} s, before the send that is listed before it",
                    schedule_.sends[i].start.value);
      }
    }
    amounts();
  }

 private:
  template <typename... Values>
  [[noreturn]] void refuse(const std::string& key, fmt::format_string<Values...> reason,
                           Values&&... values) const {
    throw InputError(file_, "/schedule" + key,
                     fmt::format(reason, std::forward<Values>(values)...));
  }
  template <typename... Values>
  [[noreturn]] void refuse_send(std::size_t index, fmt::format_string<Values...> reason,
                                Values&&... values) const {
    refuse(fmt::format("/sends/{}", index), reason, std::forward<Values>(values)...);
  }

  [[nodiscard]] double bytes_of(std::uint64_t segments) const {
    return static_cast<double>(segments) * static_cast<double>(plan_.segment.value);
  }

  // The bytes per period of the trees of each kind.
  [[nodiscard]] std::pair<double, double> bytes_up_and_down() const {
    double up = 0;
    double down = 0;
    for (std::size_t k = 0; k < trees_.size(); ++k) {
      (trees_[k].up ? up : down) += bytes_of(schedule_.segments[k]);
    }
    return {up, down};
  }

  void figures() const {
    if (!finite_and_positive(schedule_.period.value)) {
      refuse("/period_s", "a period is finite and positive, not {}", schedule_.period.value);
    }
    if (schedule_.segments.size() != trees_.size()) {
      refuse("/slices", "{} counts for {} trees", schedule_.segments.size(), trees_.size());
    }
    const auto [up, down] = bytes_up_and_down();
    if (goes_both_ways(plan_.operation) && up != down) {
      refuse("/slices", "the reduce trees carry {} bytes per period, but the broadcast trees {}",
             up, down);
    }
    const double bytes = std::max(up, down);
    if (bytes == 0) refuse("/slices", "a period carries at least one segment");
    const double throughput = bytes / schedule_.period.value;
    if (!finite_and_positive(schedule_.throughput.value) ||
        differ(schedule_.throughput.value, throughput)) {
      refuse("/throughput_Bps", "the segments of a period carry {}, not {}", throughput,
             schedule_.throughput.value);
    }
  }

  void check_send(std::size_t i) const {
    const ScheduledSend& send = schedule_.sends[i];
    if (send.tree >= trees_.size()) refuse_send(i, "there is no tree {}", send.tree);
    const PlanEdge edge{send.parent, send.child};
    if (send.parent >= plan_.nodes.size() || send.child >= plan_.nodes.size() ||
        parent_of_[send.tree][send.child] != send.parent) {
      refuse_send(i, "tree {} has no edge {} -> {}", send.tree, trees_[send.tree].sender(edge),
                  trees_[send.tree].receiver(edge));
    }
    if (!(std::isfinite(send.start.value) && send.start.value >= 0)) {
      refuse_send(i, "a send starts at 0 or later, not at {}", send.start.value);
    }
    if (!finite_and_positive(send.time.value)) {
      refuse_send(i, "a send's time is finite and positive, not {}", send.time.value);
    }
    if (!finite_and_positive(send.bytes)) {
      refuse_send(i, "a send's bytes are finite and positive, not {}", send.bytes);
    }
    constexpr double kRounding = 1e-12;
    const double end = send.start.value + send.time.value;
    const double period = schedule_.period.value;
    if (end > period * (1 + kRounding)) {
      refuse_send(i, "it ends at {} s, after the period of {} s", end, period);
    }
  }

  // Every edge of a tree must carry exactly the tree's segments.
  void amounts() const {
    std::vector<std::vector<double>> carried(trees_.size());
    for (auto& tree : carried) tree.assign(plan_.nodes.size(), 0.0);
    for (const ScheduledSend& send : schedule_.sends) carried[send.tree][send.child] += send.bytes;
    for (std::size_t k = 0; k < trees_.size(); ++k) {
      const std::uint64_t count = schedule_.segments[k];
      for (const PlanEdge edge : trees_[k].tree->edges) {
        if (!differ(carried[k][edge.child], bytes_of(count))) continue;
        refuse("/sends", "edge {} -> {} of tree {} carries {} bytes per period, but its {} {} {}",
               trees_[k].sender(edge), trees_[k].receiver(edge), k, carried[k][edge.child],
               counted(count, "segment"), count == 1 ? "has" : "have", bytes_of(count));
      }
    }
  }

  const Plan& plan_;
  const PlanSchedule& schedule_;
  const std::string& file_;
  std::vector<DirectedTree> trees_;
  std::vector<std::vector<std::uint32_t>> parent_of_;  // by tree and child
};

}  // namespace

void check_schedule(const Plan& plan, const std::string& file) {
  if (!can_have_schedule(plan.operation) || !plan.has_one_root()) {
    throw InputError(file, "/schedule",
                     "only a broadcast, a reduce or an allreduce with one root has a schedule");
  }
  ScheduleCheck(plan, file).run();
}

}  // namespace espalier::planner
