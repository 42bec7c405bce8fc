#include "lp/graph/open_shop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "lp/graph/digraph.hpp"

namespace espalier::lp {

namespace {

using Ticks = std::int64_t;

// A power of two with the largest degree between 2^49 and 2^50 of it: ticks, and their sums, stay
// below 2^53 and are exact as doubles.
double tick_for(std::span<const OpenShopJob> jobs, std::uint32_t left_count,
                std::uint32_t right_count) {
  std::vector<double> degree(std::size_t{left_count} + right_count, 0.0);
  for (const OpenShopJob& job : jobs) {
    if (job.left >= left_count || job.right >= right_count) {
      throw std::invalid_argument("open shop: a job's node is out of range");
    }
    if (!(job.seconds >= 0) || !std::isfinite(job.seconds)) {
      throw std::invalid_argument("open shop: a job's seconds must be finite and not negative");
    }
    degree[job.left] += job.seconds;
    degree[std::size_t{left_count} + job.right] += job.seconds;
  }
  const double largest = degree.empty() ? 0 : *std::max_element(degree.begin(), degree.end());
  if (!std::isfinite(largest)) throw std::invalid_argument("open shop: the jobs' seconds overflow");
  constexpr int kBits = 50;
  return std::max(std::ldexp(1.0, std::ilogb(std::max(largest, 1e-300)) - kBits + 1),
                  std::numeric_limits<double>::denorm_min());
}

class OpenShop {
 public:
  // Precondition: the checks of tick_for.
  OpenShop(std::span<const OpenShopJob> jobs, std::uint32_t left_count, std::uint32_t right_count,
           double tick)
      : tick_(tick),
        left_count_(left_count),
        job_ticks_(jobs.size()),
        last_piece_(jobs.size(), kNone),
        load_(std::size_t{left_count} + right_count, 0),
        mate_(load_.size(), kNone),
        pairs_of_(load_.size()),
        seen_(load_.size(), 0),
        reached_by_(load_.size(), kNone) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      job_ticks_[i] = static_cast<Ticks>(std::ceil(jobs[i].seconds / tick));
    }
    make_pairs(jobs);
    if (!load_.empty()) rest_ = *std::max_element(load_.begin(), load_.end());
  }

  OpenShopSchedule run(const Deadline& deadline) {
    DeadlineWatch watch(deadline);
    OpenShopSchedule schedule;
    schedule.length = static_cast<double>(rest_) * tick_;
    while (rest_ > 0) {
      watch.require(load_.size() + pairs_.size());
      for (std::uint32_t node = 0; node < load_.size(); ++node) {
        if (mate_[node] == kNone && critical(node)) cover(node);
      }
      match_idle_nodes();
      advance(longest_step());
    }
    schedule.pieces.reserve(pieces_.size());
    for (const Piece& piece : pieces_) {
      schedule.pieces.push_back({piece.job, static_cast<double>(piece.start) * tick_,
                                 static_cast<double>(piece.ticks) * tick_});
    }
    std::sort(schedule.pieces.begin(), schedule.pieces.end(),
              [](const OpenShopPiece& a, const OpenShopPiece& b) {
                return std::tie(a.start, a.job) < std::tie(b.start, b.job);
              });
    return schedule;
  }

 private:
  struct Pair {
    std::array<std::uint32_t, 2> ends;  // left, right
    Ticks ticks;                        // remaining work of its jobs
    std::size_t next_job;               // into jobs_by_pair_
  };
  struct Piece {
    std::uint32_t job;
    Ticks start;
    Ticks ticks;
  };

  void make_pairs(std::span<const OpenShopJob> jobs) {
    jobs_by_pair_.resize(jobs.size());
    std::iota(jobs_by_pair_.begin(), jobs_by_pair_.end(), 0U);
    std::erase_if(jobs_by_pair_, [&](std::uint32_t job) { return job_ticks_[job] == 0; });
    std::sort(jobs_by_pair_.begin(), jobs_by_pair_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(jobs[a].left, jobs[a].right, a) < std::tie(jobs[b].left, jobs[b].right, b);
    });
    for (std::size_t i = 0; i < jobs_by_pair_.size(); ++i) {
      const std::uint32_t job = jobs_by_pair_[i];
      const std::array ends{jobs[job].left, left_count_ + jobs[job].right};
      if (pairs_.empty() || pairs_.back().ends != ends) {
        for (const std::uint32_t node : ends) {
          pairs_of_[node].push_back(static_cast<std::uint32_t>(pairs_.size()));
        }
        pairs_.push_back({ends, 0, i});
      }
      pairs_.back().ticks += job_ticks_[job];
      for (const std::uint32_t node : ends) load_[node] += job_ticks_[job];
    }
  }

  [[nodiscard]] bool critical(std::uint32_t node) const { return load_[node] == rest_; }
  [[nodiscard]] std::uint32_t other_end(std::uint32_t pair, std::uint32_t node) const {
    const auto& ends = pairs_[pair].ends;
    return ends[0] == node ? ends[1] : ends[0];
  }

  // Finds a partner for a critical node by the shortest alternating path. The path ends at an idle
  // node of the other side, or takes the partner of a non-critical node of this side, which can
  // wait. A path exists: there is a matching that covers all critical nodes, and its symmetric
  // difference with the present one contains such a path (Mendelsohn and Dulmage).
  void cover(std::uint32_t root) {
    ++stamp_;
    frontier_.assign(1, root);
    for (std::size_t i = 0; i < frontier_.size(); ++i) {
      const std::uint32_t node = frontier_[i];
      forget_finished_pairs(node);
      for (const std::uint32_t pair : pairs_of_[node]) {
        const std::uint32_t partner = other_end(pair, node);
        if (seen_[partner] == stamp_) continue;
        seen_[partner] = stamp_;
        reached_by_[partner] = pair;
        if (mate_[partner] == kNone) return flip_path(root, partner);
        const std::uint32_t candidate = other_end(mate_[partner], partner);
        if (!critical(candidate)) {
          mate_[candidate] = kNone;
          return flip_path(root, partner);
        }
        frontier_.push_back(candidate);
      }
    }
    throw std::logic_error("open shop: no matching covers the critical nodes");
  }

  void flip_path(std::uint32_t root, std::uint32_t partner) {
    while (true) {
      const std::uint32_t pair = reached_by_[partner];
      const std::uint32_t node = other_end(pair, partner);
      const std::uint32_t former = mate_[node];
      mate_[node] = mate_[partner] = pair;
      if (node == root) return;
      partner = other_end(former, node);
    }
  }

  // Matches more idle pairs: work done early makes fewer nodes critical later. No running job is
  // interrupted for it.
  void match_idle_nodes() {
    for (std::uint32_t left = 0; left < left_count_; ++left) {
      if (mate_[left] != kNone || load_[left] == 0) continue;
      forget_finished_pairs(left);
      std::uint32_t chosen = kNone;
      Ticks largest = 0;
      for (const std::uint32_t pair : pairs_of_[left]) {
        const std::uint32_t right = pairs_[pair].ends[1];
        if (mate_[right] != kNone || load_[right] <= largest) continue;
        largest = load_[right];
        chosen = pair;
      }
      if (chosen != kNone) mate_[left] = mate_[pairs_[chosen].ends[1]] = chosen;
    }
  }

  void forget_finished_pairs(std::uint32_t node) {
    std::erase_if(pairs_of_[node], [&](std::uint32_t pair) { return pairs_[pair].ticks == 0; });
  }

  // The time until a pair is done or an idle node becomes critical.
  [[nodiscard]] Ticks longest_step() const {
    Ticks step = rest_;
    for (std::uint32_t node = 0; node < mate_.size(); ++node) {
      step = std::min(step, mate_[node] == kNone ? rest_ - load_[node] : pairs_[mate_[node]].ticks);
    }
    return step;
  }

  void advance(Ticks step) {
    for (std::uint32_t left = 0; left < left_count_; ++left) {
      const std::uint32_t index = mate_[left];
      if (index == kNone) continue;
      Pair& pair = pairs_[index];
      work_on(pair, step);
      for (const std::uint32_t node : pair.ends) {
        load_[node] -= step;
        if (pair.ticks == 0) mate_[node] = kNone;
      }
    }
    now_ += step;
    rest_ -= step;
  }

  void work_on(Pair& pair, Ticks step) {
    pair.ticks -= step;
    for (Ticks start = now_; step > 0;) {
      const std::uint32_t job = jobs_by_pair_[pair.next_job];
      const Ticks share = std::min(step, job_ticks_[job]);
      add_piece(job, start, share);
      start += share;
      step -= share;
      job_ticks_[job] -= share;
      if (job_ticks_[job] == 0) ++pair.next_job;
    }
  }

  void add_piece(std::uint32_t job, Ticks start, Ticks ticks) {
    const std::uint32_t last = last_piece_[job];
    if (last != kNone && pieces_[last].start + pieces_[last].ticks == start) {
      pieces_[last].ticks += ticks;
      return;
    }
    last_piece_[job] = static_cast<std::uint32_t>(pieces_.size());
    pieces_.push_back({job, start, ticks});
  }

  double tick_;
  std::uint32_t left_count_;
  std::vector<Ticks> job_ticks_;  // remaining
  std::vector<std::uint32_t> last_piece_;
  std::vector<std::uint32_t> jobs_by_pair_;
  std::vector<Pair> pairs_;

  // By node, the left nodes first.
  std::vector<Ticks> load_;                           // remaining
  std::vector<std::uint32_t> mate_;                   // the pair that it works on
  std::vector<std::vector<std::uint32_t>> pairs_of_;  // pairs with remaining work, and some without
  std::vector<std::uint64_t> seen_;
  std::vector<std::uint32_t> reached_by_;

  std::uint64_t stamp_ = 0;
  std::vector<std::uint32_t> frontier_;
  Ticks now_ = 0;
  Ticks rest_ = 0;  // remaining time
  std::vector<Piece> pieces_;
};

}  // namespace

OpenShopSchedule schedule_open_shop(std::span<const OpenShopJob> jobs, std::uint32_t left_count,
                                    std::uint32_t right_count, const Deadline& deadline) {
  const double tick = tick_for(jobs, left_count, right_count);
  return OpenShop(jobs, left_count, right_count, tick).run(deadline);
}

}  // namespace espalier::lp
