#include "planner/schedule/make_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "lp/graph/open_shop.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using Seconds2d = std::vector<std::vector<double>>;

// Chooses the number of whole segments of each tree in a period. The trees of an allreduce are of
// two kinds, each of which carries the whole message.
class SegmentChooser {
 public:
  SegmentChooser(const Plan& plan, const Seconds2d& edge_seconds) {
    const std::size_t ports = 2 * plan.nodes.size();
    for (const DirectedTree& of : trees_in_order(plan)) {
      const std::vector<double>& seconds = edge_seconds[rates_.size()];
      rates_.push_back(of.tree->rate.value);
      std::vector<double>& load = loads_.emplace_back(ports, 0.0);
      for (std::size_t e = 0; e < of.tree->edges.size(); ++e) {
        load[of.sender(of.tree->edges[e])] += seconds[e];
        load[plan.nodes.size() + of.receiver(of.tree->edges[e])] += seconds[e];
      }
    }
    const std::size_t up = plan.reduce_trees.size();
    for (const Kind kind : {Kind{0, up}, Kind{up, rates_.size()}}) {
      if (kind.first < kind.last) kinds_.push_back(kind);
    }
  }

  // Tries 1, 2, 3, ... segments in total, divided in proportion to the rates, rounded to the
  // nearest and rounded down. Rounding down loses less than a segment per tree, and equalising the
  // kinds no more than the kind with more trees lost, so trees / loss segments always suffice.
  [[nodiscard]] std::vector<std::uint64_t> choose(double loss, const Deadline& deadline) const {
    Trial rated(*this);
    for (std::size_t k = 0; k < rates_.size(); ++k) rated.set(k, rates_[k]);
    const double wanted = (1 - loss) * rated.throughput();
    constexpr std::array kRoundings{0.5, 1e-9};
    std::array<Trial, kRoundings.size()> trials{Trial(*this), Trial(*this)};
    DeadlineWatch watch(deadline);
    for (double segments = 1;; ++segments) {
      watch.require(kRoundings.size() * rates_.size() * loads_.front().size());
      for (std::size_t r = 0; r < kRoundings.size(); ++r) {
        const std::vector<double> whole = rounded(segments, kRoundings[r]);
        for (std::size_t k = 0; k < rates_.size(); ++k) trials[r].set(k, whole[k]);
        if (trials[r].throughput() >= wanted) return trials[r].counts();
      }
    }
  }

 private:
  // The trees [first, last).
  struct Kind {
    std::size_t first;
    std::size_t last;
  };

  [[nodiscard]] static double sum(const std::vector<double>& amounts, const Kind& kind) {
    const auto at = [&](std::size_t tree) {
      return amounts.begin() + static_cast<std::ptrdiff_t>(tree);
    };
    return std::accumulate(at(kind.first), at(kind.last), 0.0);
  }

  // Whole segments of each tree, as many of each kind.
  [[nodiscard]] std::vector<double> rounded(double segments, double rounding) const {
    std::vector<double> fair(rates_.size());
    std::vector<double> whole(rates_.size());
    double least = std::numeric_limits<double>::infinity();
    for (const Kind& kind : kinds_) {
      const double total = sum(rates_, kind);
      for (std::size_t k = kind.first; k < kind.last; ++k) {
        fair[k] = rates_[k] / total * segments;
        whole[k] = std::floor(fair[k] + rounding);
      }
      least = std::min(least, sum(whole, kind));
    }
    for (const Kind& kind : kinds_) {
      for (double more = sum(whole, kind) - least; more > 0; --more) {
        std::size_t first = kind.first;  // the tree that has most of what is not its share
        for (std::size_t k = kind.first; k < kind.last; ++k) {
          const bool is_left = whole[k] > 0;
          if (is_left && (whole[first] == 0 || whole[k] - fair[k] > whole[first] - fair[first])) {
            first = k;
          }
        }
        --whole[first];
      }
    }
    return whole;
  }

  // The amount of each tree, and the resulting load of every port.
  class Trial {
   public:
    explicit Trial(const SegmentChooser& chooser)
        : loads_(&chooser.loads_),
          kind_(chooser.kinds_.front()),
          amounts_(loads_->size(), 0.0),
          load_(loads_->front().size()) {}

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
      const double amount = sum(amounts_, kind_);
      return amount > 0 ? amount / *std::max_element(load_.begin(), load_.end()) : 0;
    }
    [[nodiscard]] std::vector<std::uint64_t> counts() const {
      std::vector<std::uint64_t> counts;
      for (const double amount : amounts_) counts.push_back(static_cast<std::uint64_t>(amount));
      return counts;
    }

   private:
    const Seconds2d* loads_;
    Kind kind_;  // any: all carry the same
    std::vector<double> amounts_;
    std::vector<double> load_;
  };

  std::vector<double> rates_;
  std::vector<Kind> kinds_;
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
  const std::vector<DirectedTree> trees = trees_in_order(plan);
  for (std::size_t k = 0; k < segments.size(); ++k) {
    if (segments[k] == 0) continue;
    const double bytes = static_cast<double>(segments[k]) * static_cast<double>(plan.segment.value);
    const std::vector<PlanEdge>& edges = trees[k].tree->edges;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      work.jobs.push_back(
          {trees[k].sender(edges[e]), trees[k].receiver(edges[e]), bytes * edge_seconds[k][e]});
      work.sends.push_back(
          {static_cast<std::uint32_t>(k), edges[e].parent, edges[e].child, {}, {}, bytes});
    }
  }
  return work;
}

}  // namespace

void require_schedulable(const platforms::Platform& platform, platforms::Model model) {
  if (model != platforms::Model::kOnePort) {
    throw InputError(fmt::format("a schedule needs the model {}, not {}",
                                 platforms::name_of(platforms::Model::kOnePort),
                                 platforms::name_of(model)));
  }
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

std::vector<std::vector<double>> edge_seconds_per_byte(const platforms::Platform& platform,
                                                       const Plan& plan) {
  const platforms::OccupationOptions options{plan.segment, plan.latency_occupies};
  Seconds2d seconds;
  for (const DirectedTree& of : trees_in_order(plan)) {
    const std::size_t k = seconds.size();
    seconds.emplace_back();
    for (const PlanEdge& edge : of.tree->edges) {
      const std::uint32_t from = of.sender(edge);
      const std::uint32_t to = of.receiver(edge);
      const auto arc = platform.find_arc(platform.hosts()[from], platform.hosts()[to]);
      if (!arc || of.tree->via.contains({edge.parent, edge.child})) {
        throw InputError(fmt::format(
            "a schedule needs direct links; tree {} goes from {} to {} through other nodes", k,
            in_quotes(plan.nodes[from]), in_quotes(plan.nodes[to])));
      }
      seconds.back().push_back(platforms::arc_seconds_per_byte(platform.arc(*arc), options));
    }
  }
  return seconds;
}

PlanSchedule make_schedule(const platforms::Platform& platform, platforms::Model model,
                           const Plan& plan, const ScheduleOptions& options) {
  constexpr double kLeastLoss = 1e-4;
  if (!(options.loss >= kLeastLoss && options.loss < 1)) {
    throw std::invalid_argument("a schedule's loss is at least 1e-4 and below 1");
  }
  require_schedulable(platform, model);
  const Seconds2d edge_seconds = edge_seconds_per_byte(platform, plan);
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
  const std::uint64_t segments = segments_in_period(plan, schedule);
  schedule.period = {shop.length};
  schedule.throughput = {static_cast<double>(segments) * static_cast<double>(plan.segment.value) /
                         shop.length};
  return schedule;
}

}  // namespace espalier::planner
