#include "planner/plan/segment_assignment.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace espalier::planner {
namespace {

// Rounding a share to a period of P segments overloads no resource by more than trees / (2 P) of
// its capacity: 0.1 % for up to sixteen trees.
constexpr std::size_t kPeriod = 16384;
constexpr std::size_t kPeriodPerTree = 16;

// Adds 1 to the `missing` entries with the largest remainders.
template <class Whole>
void distribute(std::vector<Whole>& whole, const std::vector<double>& remainders, double missing) {
  std::vector<std::size_t> by_remainder(whole.size());
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::stable_sort(by_remainder.begin(), by_remainder.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; missing >= 1 && i < by_remainder.size(); ++i, missing -= 1) {
    ++whole[by_remainder[i]];
  }
}

// Whole weights in proportion to the rates, by largest remainder, at least 1 each.
std::vector<std::uint32_t> weights_from(std::span<const double> rates) {
  if (rates.size() == 1) return {1};
  // A multiple of the number of trees, so that equal rates give equal weights.
  const std::size_t per_tree = std::max(kPeriod / rates.size() + 1, kPeriodPerTree);
  const double period = static_cast<double>(per_tree * rates.size());
  // Rates are scaled by the largest first, because the sum of large rates may overflow.
  const double largest = *std::max_element(rates.begin(), rates.end());
  double sum = 0;
  for (const double rate : rates) sum += rate / largest;

  std::vector<std::uint32_t> weights(rates.size());
  std::vector<double> remainders(rates.size());
  double missing = period;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double share = rates[i] / largest / sum * period;
    const double whole = std::max(1.0, std::floor(share));
    weights[i] = static_cast<std::uint32_t>(whole);
    remainders[i] = share - whole;
    missing -= whole;
  }
  distribute(weights, remainders, missing);
  // Weights raised to 1 may have made the sum exceed the period; the period is then that sum.
  return weights;
}

std::vector<std::uint32_t> reduced(std::vector<std::uint32_t> weights) {
  std::uint32_t divisor = 0;
  for (const std::uint32_t weight : weights) divisor = std::gcd(divisor, weight);
  for (std::uint32_t& weight : weights) weight /= divisor;
  return weights;
}

// Divides `segments` into whole shares, as nearly in proportion to `wanted` as possible; negative
// values count as zero.
std::vector<std::uint64_t> apportioned(std::uint64_t segments, std::vector<double> wanted) {
  for (double& want : wanted) want = std::max(0.0, want);
  double sum = std::accumulate(wanted.begin(), wanted.end(), 0.0);
  if (sum == 0) sum = wanted.front() = 1;
  std::vector<std::uint64_t> shares;
  std::vector<double> remainders;
  auto missing = static_cast<double>(segments);
  for (const double want : wanted) {
    const double share = want / sum * static_cast<double>(segments);
    const double whole = std::floor(share);
    shares.push_back(static_cast<std::uint64_t>(whole));
    remainders.push_back(share - whole);
    missing -= whole;
  }
  distribute(shares, remainders, missing);
  return shares;
}

struct Job {
  std::uint64_t time;  // first slot that it may take, or the slot before which it must be done
  std::uint32_t tree;
  bool operator>(const Job& other) const {
    return time != other.time ? time > other.time : tree > other.tree;
  }
};
using JobsByTime = std::priority_queue<Job, std::vector<Job>, std::greater<>>;

std::vector<std::uint32_t> assignments(std::span<const std::uint32_t> weights) {
  const std::uint64_t period = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::vector<std::uint32_t> tree_of_slot;
  tree_of_slot.reserve(period);
  std::vector<std::uint64_t> taken(weights.size(), 0);
  JobsByTime waiting;  // by release
  JobsByTime ready;    // by deadline
  for (std::uint32_t tree = 0; tree < weights.size(); ++tree) {
    if (weights[tree] > 0) waiting.push({0, tree});
  }
  for (std::uint64_t slot = 0; slot < period; ++slot) {
    while (!waiting.empty() && waiting.top().time <= slot) {
      const std::uint32_t tree = waiting.top().tree;
      waiting.pop();
      const std::uint64_t deadline =
          ((taken[tree] + 1) * period + weights[tree] - 1) / weights[tree];
      ready.push({deadline, tree});
    }
    const std::uint32_t tree = ready.top().tree;
    ready.pop();
    tree_of_slot.push_back(tree);
    if (++taken[tree] < weights[tree]) waiting.push({taken[tree] * period / weights[tree], tree});
  }
  return tree_of_slot;
}

}  // namespace

SegmentAssignment::SegmentAssignment(std::span<const double> rates, std::span<const double> lags_s)
    : SegmentAssignment(weights_from(rates)) {
  if (lags_s.empty() || std::ranges::max(lags_s) == std::ranges::min(lags_s)) return;
  rates_.assign(rates.begin(), rates.end());
  lags_s_.assign(lags_s.begin(), lags_s.end());
}

SegmentAssignment SegmentAssignment::of_counts(std::span<const std::uint64_t> counts) {
  return SegmentAssignment(std::vector<std::uint32_t>(counts.begin(), counts.end()));
}

SegmentAssignment::Period::Period(std::vector<std::uint32_t> of_trees)
    : weights(reduced(std::move(of_trees))), tree_of_slot(assignments(weights)) {
  first_slot.resize(weights.size());
  std::exclusive_scan(weights.begin(), weights.end(), first_slot.begin(), std::size_t{0});
  slots.resize(tree_of_slot.size());
  std::vector<std::size_t> next = first_slot;
  for (std::uint32_t slot = 0; slot < tree_of_slot.size(); ++slot) {
    slots[next[tree_of_slot[slot]]++] = slot;
  }
}

std::uint64_t SegmentAssignment::count(std::size_t tree, std::uint64_t segments) const {
  if (segments > end_.first) {
    const std::vector<std::uint64_t>& own = end_.segments[tree];
    return end_.before[tree] +
           static_cast<std::uint64_t>(std::ranges::lower_bound(own, segments) - own.begin());
  }
  const std::span<const std::uint32_t> slots = slots_of(tree);
  const std::size_t period = period_->tree_of_slot.size();
  const auto begun = std::lower_bound(slots.begin(), slots.end(), segments % period);
  return segments / period * slots.size() + static_cast<std::uint64_t>(begun - slots.begin());
}

// The duration after which the trees have carried that much. Uses only the trees whose lag is below
// it, in order of their lags.
double SegmentAssignment::duration_s(double message_bytes) const {
  std::vector<std::size_t> by_lag(rates_.size());
  std::iota(by_lag.begin(), by_lag.end(), std::size_t{0});
  std::stable_sort(by_lag.begin(), by_lag.end(),
                   [&](std::size_t a, std::size_t b) { return lags_s_[a] < lags_s_[b]; });
  double rate = 0;
  double carried = message_bytes;  // plus rate * lag of each tree used
  double duration = 0;
  for (const std::size_t tree : by_lag) {
    if (rate > 0 && duration <= lags_s_[tree]) break;
    rate += rates_[tree];
    carried += rates_[tree] * lags_s_[tree];
    duration = carried / rate;
  }
  return duration;
}

// An end has a table of its segments. Where lags are so long that even more segments belong to it,
// trees keep their shares until the message ends.
constexpr std::uint64_t kLongestEnd = 1'000'000;

void SegmentAssignment::end_at(std::uint64_t message_segments, Bytes segment) {
  const std::uint64_t segments = std::max<std::uint64_t>(message_segments, 1);
  if (lags_s_.empty() || (end_.message == segments && end_.segment == segment)) return;
  end_ = {};
  const auto segment_bytes = static_cast<double>(segment.value);
  const double duration = duration_s(static_cast<double>(segments) * segment_bytes);
  const double all_run = std::max(0.0, duration - std::ranges::max(lags_s_));
  const double rate = std::accumulate(rates_.begin(), rates_.end(), 0.0);
  const auto first = static_cast<std::uint64_t>(
      std::min(all_run * rate / segment_bytes, static_cast<double>(segments)));

  if (segments - first > kLongestEnd) {
    end_.message = segments;
    end_.segment = segment;
    return;
  }
  End end{first, {}, {}, std::vector<std::vector<std::uint64_t>>(trees()), segments, segment};
  std::vector<double> wanted(trees());
  for (std::size_t tree = 0; tree < trees(); ++tree) {
    end.before.push_back(count(tree, first));
    wanted[tree] = rates_[tree] * (duration - lags_s_[tree]) / segment_bytes -
                   static_cast<double>(end.before[tree]);
  }
  const std::vector<std::uint64_t> shares = apportioned(segments - first, wanted);

  struct Turn {
    double time_s;
    std::uint32_t tree;
  };
  std::vector<Turn> turns;
  for (std::uint32_t tree = 0; tree < trees(); ++tree) {
    const double runs = std::max(0.0, duration - lags_s_[tree] - all_run);
    for (std::uint64_t nth = 0; nth < shares[tree]; ++nth) {
      const double turn = (static_cast<double>(nth) + 0.5) / static_cast<double>(shares[tree]);
      turns.push_back({turn * runs, tree});
    }
  }
  std::ranges::stable_sort(turns, {}, &Turn::time_s);
  for (const Turn& turn : turns) {
    end.segments[turn.tree].push_back(first + end.tree_of.size());
    end.tree_of.push_back(turn.tree);
  }
  end_ = std::move(end);
}

SegmentAssignment assignment_for(std::span<const PlanTree> trees) {
  std::vector<double> rates;
  rates.reserve(trees.size());
  for (const PlanTree& tree : trees) rates.push_back(tree.rate.value);
  return SegmentAssignment(rates);
}

SegmentAssignment assignment_with_lags(const PlanTrees& block) {
  std::vector<double> rates;
  std::vector<double> lags_s;
  for (const PlanTree& tree : *block.trees) {
    rates.push_back(tree.rate.value);
    lags_s.push_back(latency_of(tree, block.root).value);
  }
  return SegmentAssignment(rates, lags_s);
}

std::vector<SegmentAssignment> assignments_of(const Plan& plan) {
  const std::vector<PlanTrees> blocks = blocks_of(plan);
  const bool in_sequence = has_sequence(blocks);
  std::vector<SegmentAssignment> assignments;
  for (const PlanTrees& block : blocks) {
    assignments.push_back(in_sequence ? assignment_for(*block.trees) : assignment_with_lags(block));
  }
  return assignments;
}

std::vector<SegmentAssignment> assignments_by_schedule(const Plan& plan) {
  std::vector<SegmentAssignment> assignments;
  std::span<const std::uint64_t> counts = plan.schedule->segments;
  for (const PlanTrees& block : blocks_of(plan)) {
    assignments.push_back(SegmentAssignment::of_counts(counts.first(block.trees->size())));
    counts = counts.subspan(block.trees->size());
  }
  return assignments;
}

}  // namespace espalier::planner
