#include "planner/schedule/make_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "lp/graph/open_shop.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using Seconds2d = std::vector<std::vector<double>>;

// Chooses the number of whole segments of each tree in a period.
class SegmentChooser {
 public:
  SegmentChooser(const Plan& plan, const Seconds2d& edge_seconds) {
    const std::size_t ports = 2 * plan.nodes.size();
    for (std::size_t k = 0; k < plan.broadcast_trees.size(); ++k) {
      const PlanTree& tree = plan.broadcast_trees[k];
      rates_.push_back(tree.rate.value);
      loads_.emplace_back(ports, 0.0);
      for (std::size_t e = 0; e < tree.edges.size(); ++e) {
        loads_[k][tree.edges[e].parent] += edge_seconds[k][e];
        loads_[k][plan.nodes.size() + tree.edges[e].child] += edge_seconds[k][e];
      }
    }
  }

  // Tries 1, 2, 3, ... segments in total, divided in proportion to the rates, rounded to the
  // nearest and rounded down. Rounding down loses less than a segment per tree, so trees / loss
  // segments always suffice.
  [[nodiscard]] std::vector<std::uint64_t> choose(double loss, const Deadline& deadline) const {
    const double total = std::accumulate(rates_.begin(), rates_.end(), 0.0);
    Trial rated(*this);
    for (std::size_t k = 0; k < rates_.size(); ++k) rated.set(k, rates_[k]);
    const double wanted = (1 - loss) * rated.throughput();
    constexpr std::array kRoundings{0.5, 1e-9};
    std::array<Trial, kRoundings.size()> trials{Trial(*this), Trial(*this)};
    DeadlineWatch watch(deadline);
    for (double segments = 1;; ++segments) {
      watch.require(kRoundings.size() * rates_.size() * loads_.front().size());
      for (std::size_t r = 0; r < kRoundings.size(); ++r) {
        for (std::size_t k = 0; k < rates_.size(); ++k) {
          trials[r].set(k, std::floor(rates_[k] / total * segments + kRoundings[r]));
        }
        if (trials[r].throughput() >= wanted) return trials[r].counts();
      }
    }
  }

 private:
  // The amount of each tree, and the resulting load of every port.
  class Trial {
   public:
    explicit Trial(const SegmentChooser& chooser)
        : loads_(&chooser.loads_), amounts_(loads_->size(), 0.0), load_(loads_->front().size()) {}

    void set(std::size_t tree, double amount) {
      const double more = amount - amounts_[tree];
      if (more == 0) return;
      amounts_[tree] = amount;
      const std::vector<double>& per_byte = (*loads_)[tree];
      for (std::size_t port = 0; port < load_.size(); ++port) {
        load_[port] += more * per_byte[port];
      }
    }
    [[nodiscard]] double throughput() const {
      const double amount = std::accumulate(amounts_.begin(), amounts_.end(), 0.0);
      return amount > 0 ? amount / *std::max_element(load_.begin(), load_.end()) : 0;
    }
    [[nodiscard]] std::vector<std::uint64_t> counts() const {
      std::vector<std::uint64_t> counts;
      for (const double amount : amounts_) counts.push_back(static_cast<std::uint64_t>(amount));
      return counts;
    }

   private:
    const Seconds2d* loads_;
    std::vector<double> amounts_;
    std::vector<double> load_;
  };

  std::vector<double> rates_;
  Seconds2d loads_;  // [tree][port]: seconds per byte; out-ports, then in-ports
};

// The work of a period: a job for each edge of each tree that has segments.
struct Work {
  std::vector<lp::OpenShopJob> jobs;
  std::vector<ScheduledSend> sends;  // of each job: its edge, and all its bytes
};

Work work_of(const Plan& plan, const Seconds2d& edge_seconds,
             const std::vector<std::uint64_t>& segments) {
  Work work;
  for (std::size_t k = 0; k < segments.size(); ++k) {
    if (segments[k] == 0) continue;
    const double bytes = static_cast<double>(segments[k]) * static_cast<double>(plan.segment.value);
    const PlanTree& tree = plan.broadcast_trees[k];
    for (std::size_t e = 0; e < tree.edges.size(); ++e) {
      const auto [parent, child] = tree.edges[e];
      work.jobs.push_back({parent, child, bytes * edge_seconds[k][e]});
      work.sends.push_back({static_cast<std::uint32_t>(k), parent, child, {}, {}, bytes});
    }
  }
  return work;
}

}  // namespace

void require_schedulable(const Instance& instance) {
  if (instance.model() != platforms::Model::kOnePort) {
    throw InputError(fmt::format("a schedule needs the model {}, not {}",
                                 platforms::name_of(platforms::Model::kOnePort),
                                 platforms::name_of(instance.model())));
  }
  const platforms::Platform& platform = instance.platform();
  if (platform.hosts().size() != platform.nodes().size()) {
    throw InputError(fmt::format("a schedule needs a platform without relays; {} has {}",
                                 in_quotes(platform.name()),
                                 platform.nodes().size() - platform.hosts().size()));
  }
  if (!platform.shared_links().empty()) {
    throw InputError(fmt::format("a schedule needs a platform without shared links; {} has {}",
                                 in_quotes(platform.name()), platform.shared_links().size()));
  }
}

std::vector<std::vector<double>> edge_seconds_per_byte(const Instance& instance, const Plan& plan) {
  const platforms::Platform& platform = instance.platform();
  const platforms::OccupationOptions options{plan.segment, plan.latency_occupies};
  Seconds2d seconds;
  for (std::size_t k = 0; k < plan.broadcast_trees.size(); ++k) {
    const PlanTree& tree = plan.broadcast_trees[k];
    seconds.emplace_back();
    for (const auto [parent, child] : tree.edges) {
      const auto arc = platform.find_arc(platform.hosts()[parent], platform.hosts()[child]);
      if (!arc || tree.via.contains({parent, child})) {
        throw InputError(fmt::format(
            "a schedule needs direct links; tree {} goes from {} to {} through other nodes", k,
            in_quotes(plan.nodes[parent]), in_quotes(plan.nodes[child])));
      }
      seconds.back().push_back(platforms::arc_seconds_per_byte(platform.arc(*arc), options));
    }
  }
  return seconds;
}

PlanSchedule make_schedule(const Instance& instance, const Plan& plan,
                           const ScheduleOptions& options) {
  constexpr double kLeastLoss = 1e-4;
  if (!(options.loss >= kLeastLoss && options.loss < 1)) {
    throw std::invalid_argument("a schedule's loss is at least 1e-4 and below 1");
  }
  require_schedulable(instance);
  const Seconds2d edge_seconds = edge_seconds_per_byte(instance, plan);
  PlanSchedule schedule;
  schedule.segments = SegmentChooser(plan, edge_seconds).choose(options.loss, options.deadline);
  const Work work = work_of(plan, edge_seconds, schedule.segments);
  const auto hosts = static_cast<std::uint32_t>(plan.nodes.size());
  const lp::OpenShopSchedule shop =
      lp::schedule_open_shop(work.jobs, hosts, hosts, options.deadline);

  // A job's pieces are whole ticks and last slightly longer than the job: bytes are divided by
  // their share of the time.
  std::vector<double> job_seconds(work.jobs.size(), 0.0);
  for (const lp::OpenShopPiece& piece : shop.pieces) job_seconds[piece.job] += piece.seconds;
  for (const lp::OpenShopPiece& piece : shop.pieces) {
    ScheduledSend send = work.sends[piece.job];
    send.start = {piece.start};
    send.time = {piece.seconds};
    send.bytes *= piece.seconds / job_seconds[piece.job];
    schedule.sends.push_back(send);
  }
  const std::uint64_t segments =
      std::accumulate(schedule.segments.begin(), schedule.segments.end(), std::uint64_t{0});
  schedule.period = {shop.length};
  schedule.throughput = {static_cast<double>(segments) * static_cast<double>(plan.segment.value) /
                         shop.length};
  return schedule;
}

}  // namespace espalier::planner
