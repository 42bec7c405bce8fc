#include "simulate/transport/follow_schedule.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "planner/plan/schedule_periods.hpp"

namespace espalier::simulate {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

class Follower {
 public:
  Follower(const Task& task, const planner::PlanSchedule& schedule, double segment_bytes,
           const OnSend& on_send)
      : task_(task),
        schedule_(schedule),
        segment_bytes_(segment_bytes),
        on_send_(on_send),
        into_(task.flows.hosts() * task.flows.trees(), kNone),
        pieces_(task.flows.all().size()),
        delay_(task.flows.all().size(), 0) {
    const std::span<const Flow> flows = task.flows.all();
    for (std::uint32_t i = 0; i < flows.size(); ++i) into(flows[i].child, flows[i].tree) = i;
    for (const planner::ScheduledSend& send : schedule.sends) {
      pieces_[into(send.child, send.tree)].push_back(&send);
    }
    for (std::uint32_t tree = 0; tree < task.segments.size(); ++tree) {
      if (task.segments[tree] == 0) continue;
      batches_ = std::max(batches_, (task.segments[tree] - 1) / schedule.segments[tree] + 1);
      set_distances(tree);
    }
    delay_flows();
  }

  std::vector<double> run() {
    std::vector<double> done_s(task_.flows.hosts(), 0.0);
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
      const Flow& flow = task_.flows.all()[i];
      if (task_.segments[flow.tree] == 0) continue;
      const double sent_s = end_of_all(i);
      const std::uint32_t receiver = flow.up ? flow.parent : flow.child;
      if (flow.up) done_s[flow.child] = std::max(done_s[flow.child], sent_s);
      // In a reduce only the root has a result.
      if (flow.up && receiver != task_.source) continue;
      done_s[receiver] = std::max(done_s[receiver], sent_s + flow.latency_s);
    }
    if (on_send_) report_pieces();
    return done_s;
  }

 private:
  std::uint32_t& into(std::uint32_t host, std::uint32_t tree) {
    return into_[host * task_.flows.trees() + tree];
  }
  [[nodiscard]] double period_s() const { return schedule_.period.value; }

  // The periods after which what the flow carries in one may go on.
  [[nodiscard]] std::uint64_t periods_of(std::uint32_t flow) const {
    const Flow& of = task_.flows.all()[flow];
    return planner::periods_until({end_of(flow, whole_batch(of.tree)) + of.latency_s},
                                  {period_s()});
  }

  // Sets each flow's delay to the number of periods by which it carries a batch later than the
  // flows at the root, or earlier if data goes to the root.
  void set_distances(std::uint32_t tree) {
    struct Visit {
      std::uint32_t host;
      std::uint64_t distance;  // of the flows below it whose data goes away from the root
    };
    std::vector<Visit> visits{{task_.source, 0}};
    while (!visits.empty()) {
      const Visit visit = visits.back();
      visits.pop_back();
      const auto [first, last] = task_.flows.below(visit.host, tree);
      for (std::uint32_t i = first; i < last; ++i) {
        const Flow& flow = task_.flows.all()[i];
        const bool is_later = flow.up && visit.host != task_.source;
        delay_[i] = visit.distance + (is_later ? periods_of(i) : 0);
        visits.push_back({flow.child, delay_[i] + (flow.up ? 0 : periods_of(i))});
      }
    }
  }

  // All flows to the root carry a batch in the same period, and those away from it when it has
  // arrived completely.
  void delay_flows() {
    std::uint64_t arrives = 0;
    std::uint64_t lasts = 0;
    for (std::uint32_t i = 0; i < delay_.size(); ++i) {
      const Flow& flow = task_.flows.all()[i];
      if (!flow.up || task_.segments[flow.tree] == 0) continue;
      arrives = std::max(arrives, delay_[i]);
      if (flow.parent == task_.source) lasts = std::max(lasts, periods_of(i));
    }
    for (std::uint32_t i = 0; i < delay_.size(); ++i) {
      const Flow& flow = task_.flows.all()[i];
      if (task_.segments[flow.tree] == 0) continue;
      delay_[i] = flow.up ? arrives - delay_[i] : arrives + lasts + delay_[i];
    }
  }

  // --- bytes of one tree in a batch: a shorter segment counts by its share of a whole one's time
  // ---

  [[nodiscard]] double whole_batch(std::uint32_t tree) const {
    return static_cast<double>(schedule_.segments[tree]) * segment_bytes_;
  }
  [[nodiscard]] std::uint64_t segments_of_last(std::uint32_t tree) const {
    return task_.segments[tree] -
           std::min(task_.segments[tree], (batches_ - 1) * schedule_.segments[tree]);
  }
  [[nodiscard]] double last_batch(std::uint32_t flow) const {
    const std::uint32_t tree = task_.flows.all()[flow].tree;
    double segments = static_cast<double>(segments_of_last(tree));
    if (task_.ends_short[tree] != 0) {
      segments += task_.last.seconds(flow) / task_.full.seconds(flow) - 1;
    }
    return segments * segment_bytes_;
  }

  // The time in its period at which the flow has sent the first `bytes` of a batch.
  [[nodiscard]] double end_of(std::uint32_t flow, double bytes) const {
    double end = 0;
    for (const planner::ScheduledSend* piece : pieces_[flow]) {
      const double sent = std::min(bytes, piece->bytes);
      end = piece->start.value + piece->time.value * (sent / piece->bytes);
      bytes -= sent;
      if (bytes <= kRounding * segment_bytes_) break;
    }
    return end;
  }

  [[nodiscard]] double end_of_all(std::uint32_t flow) const {
    const std::uint32_t tree = task_.flows.all()[flow].tree;
    const bool in_last = segments_of_last(tree) > 0;
    const std::uint64_t period = delay_[flow] + batches_ - (in_last ? 1 : 2);
    return static_cast<double>(period) * period_s() +
           end_of(flow, in_last ? last_batch(flow) : whole_batch(tree));
  }

  // --- every piece, period by period ---

  void report_pieces() {
    const std::uint64_t periods = *std::ranges::max_element(delay_) + batches_;
    for (std::uint64_t period = 0; period < periods; ++period) {
      std::vector<double> sent(pieces_.size(), 0.0);
      for (const planner::ScheduledSend& send : schedule_.sends) {
        report_piece(send, period, sent[into(send.child, send.tree)]);
      }
    }
  }

  // sent: bytes of its batch that the flow has already sent.
  void report_piece(const planner::ScheduledSend& piece, std::uint64_t period, double& sent) {
    const std::uint32_t flow = into(piece.child, piece.tree);
    if (task_.segments[piece.tree] == 0 || period < delay_[flow]) return;
    const std::uint64_t batch = period - delay_[flow];
    if (batch >= batches_) return;
    const double due = batch + 1 < batches_ ? whole_batch(piece.tree) : last_batch(flow);
    const double bytes = std::min(piece.bytes, due - sent);
    if (bytes <= kRounding * segment_bytes_) return;
    const double seconds = piece.time.value * (bytes / piece.bytes);
    std::array<Holding, 2> held{};  // one-port without relays: an out-port and an in-port
    const std::span<const Holding> ports = task_.full.of(flow);
    for (std::size_t i = 0; i < held.size(); ++i) held[i] = {ports[i].resource, seconds};
    const auto segment = static_cast<std::uint64_t>(sent / segment_bytes_ + kRounding);
    on_send_({task_.flows.all()[flow].up ? Send::Kind::kUp : Send::Kind::kDown,
              task_.flows.number_in_plan(task_.flows.all()[flow]),
              piece.parent,
              piece.child,
              batch * schedule_.segments[piece.tree] + segment,
              {static_cast<double>(period) * period_s() + piece.start.value},
              held});
    sent += bytes;
  }

  static constexpr double kRounding = 1e-9;

  const Task& task_;
  const planner::PlanSchedule& schedule_;
  double segment_bytes_;
  const OnSend& on_send_;
  std::vector<std::uint32_t> into_;                                 // per host and tree: the flow
  std::vector<std::vector<const planner::ScheduledSend*>> pieces_;  // per flow, by start
  std::vector<std::uint64_t> delay_;  // per flow: the period of its first batch
  std::uint64_t batches_ = 0;
};

}  // namespace

BatchedAssignment assign_in_batches(std::span<const std::uint64_t> batch, std::uint64_t segments) {
  const std::uint64_t in_batch = std::accumulate(batch.begin(), batch.end(), std::uint64_t{0});
  if (in_batch == 0) throw std::invalid_argument("a period without segments");
  const std::uint64_t whole = (segments - 1) / in_batch;
  std::uint64_t left = segments - whole * in_batch;
  const double share = static_cast<double>(left) / static_cast<double>(in_batch);

  constexpr double kRounding = 1e-12;
  std::vector<std::uint64_t> last(batch.size());
  std::vector<double> remainder(batch.size());
  for (std::size_t k = 0; k < batch.size(); ++k) {
    const double fair = static_cast<double>(batch[k]) * share;
    last[k] =
        static_cast<std::uint64_t>(fair * (1 - kRounding));  // so that rounding never adds one
    remainder[k] = fair - static_cast<double>(last[k]);
  }
  left -= std::accumulate(last.begin(), last.end(), std::uint64_t{0});
  std::vector<std::uint32_t> order(batch.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return remainder[a] > remainder[b]; });
  for (std::size_t i = 0; left > 0; i = (i + 1) % order.size()) {
    if (last[order[i]] == batch[order[i]]) continue;
    ++last[order[i]];
    --left;
  }
  BatchedAssignment assignments{std::move(last), 0};
  for (std::uint32_t k = 0; k < batch.size(); ++k) {
    if (assignments.segments[k] > 0) assignments.last_tree = k;
    assignments.segments[k] += whole * batch[k];
  }
  return assignments;
}

std::vector<double> follow_schedule(const Task& task, const planner::PlanSchedule& schedule,
                                    double segment_bytes, const OnSend& on_send) {
  return Follower(task, schedule, segment_bytes, on_send).run();
}

}  // namespace espalier::simulate
