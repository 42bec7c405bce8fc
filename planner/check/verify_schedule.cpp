#include "planner/check/verify_schedule.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "planner/schedule/make_schedule.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

constexpr std::size_t kNoSend = SIZE_MAX;

class ScheduleVerifier {
 public:
  ScheduleVerifier(const Plan& plan, const std::vector<std::vector<double>>& edge_seconds,
                   double tolerance)
      : plan_(plan),
        tolerance_(tolerance),
        last_out_(plan.nodes.size(), kNoSend),
        last_in_(plan.nodes.size(), kNoSend),
        trees_(trees_in_order(plan)) {
    for (std::size_t k = 0; k < trees_.size(); ++k) {
      const std::vector<PlanEdge>& edges = trees_[k].tree->edges;
      seconds_into_.emplace_back(plan.nodes.size(), 0.0);
      for (std::size_t e = 0; e < edges.size(); ++e) {
        seconds_into_[k][edges[e].child] = edge_seconds[k][e];
      }
    }
  }

  std::vector<std::string> run() {
    constexpr std::size_t kMostFaults = 10;
    for (std::size_t i = 0; i < sends().size() && faults_.size() < kMostFaults; ++i) {
      check_time(i);
      take_port(last_out_[sender(i)], i, "sends to", &ScheduleVerifier::sender,
                &ScheduleVerifier::receiver);
      take_port(last_in_[receiver(i)], i, "receives from", &ScheduleVerifier::receiver,
                &ScheduleVerifier::sender);
    }
    if (faults_.size() > kMostFaults) faults_.resize(kMostFaults);
    return std::move(faults_);
  }

 private:
  [[nodiscard]] const std::vector<ScheduledSend>& sends() const { return plan_.schedule->sends; }
  [[nodiscard]] std::uint32_t sender(std::size_t send) const {
    return trees_[sends()[send].tree].sender({sends()[send].parent, sends()[send].child});
  }
  [[nodiscard]] std::uint32_t receiver(std::size_t send) const {
    return trees_[sends()[send].tree].receiver({sends()[send].parent, sends()[send].child});
  }
  static double end_of(const ScheduledSend& send) { return send.start.value + send.time.value; }

  void add_fault(std::size_t send, const std::string& reason) {
    faults_.push_back(fmt::format("/schedule/sends/{}: {}", send, reason));
  }

  void check_time(std::size_t index) {
    const ScheduledSend& send = sends()[index];
    const double needed = send.bytes * seconds_into_[send.tree][send.child];
    if (needed <= send.time.value * (1 + tolerance_)) return;
    add_fault(index, fmt::format("{} bytes from '{}' to '{}' take {:.9g} s, not {:.9g} s",
                                 send.bytes, plan_.nodes[sender(index)],
                                 plan_.nodes[receiver(index)], needed, send.time.value));
  }

  // Sends are in the order of their starts, so only the one that occupies the port longest can
  // conflict.
  using End = std::uint32_t (ScheduleVerifier::*)(std::size_t) const;
  void take_port(std::size_t& last, std::size_t index, std::string_view does, End host, End peer) {
    constexpr double kRounding = 1e-12;
    const ScheduledSend& send = sends()[index];
    if (last != kNoSend) {
      const ScheduledSend& earlier = sends()[last];
      if (send.start.value < end_of(earlier) - kRounding * plan_.schedule->period.value) {
        add_fault(index,
                  fmt::format("at {:.9g} s '{}' still {} '{}', until {:.9g} s (/schedule/sends/{})",
                              send.start.value, plan_.nodes[(this->*host)(index)], does,
                              plan_.nodes[(this->*peer)(last)], end_of(earlier), last));
      }
      if (end_of(earlier) > end_of(send)) return;
    }
    last = index;
  }

  const Plan& plan_;
  double tolerance_;
  std::vector<std::vector<double>> seconds_into_;  // [tree][child]: seconds per byte
  std::vector<std::size_t> last_out_;  // by host: the send that occupies its port longest so far
  std::vector<std::size_t> last_in_;
  std::vector<DirectedTree> trees_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> faults_of_schedule(const platforms::Platform& platform,
                                            platforms::Model model, const Plan& plan,
                                            double tolerance) {
  try {
    require_schedulable(platform, model);
    return ScheduleVerifier(plan, edge_seconds_per_byte(platform, plan), tolerance).run();
  } catch (const InputError& error) {
    return {std::string("/schedule: ") + error.what()};
  }
}

}  // namespace espalier::planner
