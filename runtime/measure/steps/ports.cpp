#include "runtime/measure/steps/ports.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "runtime/measure/steps/tournament.hpp"

namespace espalier::runtime::probe {
namespace {

// A fan has this many of the rank's fastest and this many of its slowest arcs.
constexpr std::size_t kFastest = 4;
constexpr std::size_t kSlowest = 3;
constexpr std::size_t kLeastCluster = 4;  // for fans within it
constexpr std::size_t kMostSampled = 4;   // ranks with fans that leave their clusters
constexpr std::size_t kMostInCircle = 8;

std::vector<Flow> fan(const ArcRates& rates, std::size_t rank, bool out) {
  std::vector<Flow> flows;
  for (std::size_t other = 0; other < rates.ranks(); ++other) {
    if (other != rank) flows.push_back(out ? Flow{rank, other} : Flow{other, rank});
  }
  std::stable_sort(flows.begin(), flows.end(), [&](const Flow& a, const Flow& b) {
    return rates.rate_bps(a) > rates.rate_bps(b);
  });
  if (flows.size() > kFastest + kSlowest) {
    flows.erase(flows.begin() + kFastest, flows.end() - kSlowest);
  }
  std::sort(flows.begin(), flows.end());
  return flows;
}

// The rank's fastest arc to one rank, and from another one if there is one.
std::vector<Flow> both_ways(const ArcRates& rates, std::size_t rank) {
  Flow out{rank, rank};
  Flow in{rank, rank};
  for (std::size_t other = 0; other < rates.ranks(); ++other) {
    const Flow arc{rank, other};
    if (other != rank && (out.to == rank || rates.rate_bps(arc) > rates.rate_bps(out))) out = arc;
  }
  for (std::size_t other = 0; other < rates.ranks(); ++other) {
    const Flow arc{other, rank};
    if (other == rank || (other == out.to && rates.ranks() > 2)) continue;
    if (in.from == rank || rates.rate_bps(arc) > rates.rate_bps(in)) in = arc;
  }
  return {out, in};
}

void add_steps_of(const ArcRates& rates, std::size_t rank, std::vector<Step>& steps) {
  if (rates.ranks() > 2) {
    steps.push_back({Purpose::kFanOut, {fan(rates, rank, true)}});
    steps.push_back({Purpose::kFanIn, {fan(rates, rank, false)}});
  }
  steps.push_back({Purpose::kBothWays, {both_ways(rates, rank)}});
}

// The members in an order in which neighbours are fast and slow in turn.
std::vector<std::size_t> mixed(const ArcRates& rates, std::vector<std::size_t> members) {
  std::ranges::stable_sort(members, std::greater<>(), [&](std::size_t rank) {
    return std::max(rates.sends_bps(rank), rates.receives_bps(rank));
  });
  std::vector<std::size_t> order;
  const std::size_t half = (members.size() + 1) / 2;
  for (std::size_t i = 0; i < half; ++i) {
    order.push_back(members[i]);
    if (half + i < members.size()) order.push_back(members[half + i]);
  }
  return order;
}

// Disjoint fans from members of a circle to those after them, for members that have had none;
// removes these from `waiting` (places in the circle).
std::vector<std::vector<Flow>> disjoint_fans(const std::vector<std::size_t>& circle,
                                             std::vector<std::size_t>& waiting) {
  const std::size_t width = std::min(kFastest + kSlowest, circle.size() - 1);
  std::vector<bool> is_busy(circle.size());
  std::vector<std::vector<Flow>> fans;
  std::vector<std::size_t> left;
  for (const std::size_t hub : waiting) {
    std::vector<std::size_t> others;
    for (std::size_t step = 1; step < circle.size() && others.size() < width; ++step) {
      const std::size_t place = (hub + step) % circle.size();
      if (!is_busy[place]) others.push_back(place);
    }
    if (is_busy[hub] || others.size() < width) {
      left.push_back(hub);
      continue;
    }
    is_busy[hub] = true;
    fans.emplace_back();
    for (const std::size_t place : others) {
      is_busy[place] = true;
      fans.back().push_back({circle[hub], circle[place]});
    }
    std::ranges::sort(fans.back());
  }
  waiting = std::move(left);
  return fans;
}

// The fans of all members of all circles, in both directions.
void add_fans_within(const std::vector<std::vector<std::size_t>>& circles,
                     std::vector<Step>& steps) {
  std::vector<std::vector<std::size_t>> waiting;
  for (const auto& circle : circles) {
    waiting.emplace_back();
    for (std::size_t place = 0; place < circle.size(); ++place) waiting.back().push_back(place);
  }
  while (true) {
    Step out{Purpose::kFanOut, {}};
    for (std::size_t i = 0; i < circles.size(); ++i) {
      for (auto& fan : disjoint_fans(circles[i], waiting[i])) {
        out.experiments.push_back(std::move(fan));
      }
    }
    if (out.experiments.empty()) return;
    Step in{Purpose::kFanIn, {}};
    for (const auto& fan : out.experiments) in.experiments.push_back(reversed(fan));
    steps.push_back(std::move(out));
    steps.push_back(std::move(in));
  }
}

// Arcs of members that have not been measured with a partner fast enough for them.
class FullRates {
 public:
  // out: the members send, otherwise they receive.
  FullRates(const ArcRates& rates, const std::vector<std::size_t>& members, bool out,
            std::vector<bool>& is_busy)
      : rates_(&rates), members_(members), out_(out), is_busy_(&is_busy) {
    std::ranges::stable_sort(members_, {}, [this](std::size_t rank) { return offers(rank); });
  }

  void add_to(Step& step) {
    for (const std::size_t rank : members_) {
      if ((*is_busy_)[rank] || was_measured_enough(rank)) continue;
      const auto partner = std::ranges::find_if(members_, [&](std::size_t other) {
        return other != rank && !(*is_busy_)[other] && is_enough(other, rank);
      });
      if (partner == members_.end()) continue;
      (*is_busy_)[rank] = (*is_busy_)[*partner] = true;
      step.experiments.push_back({arc(rank, *partner)});
    }
  }

 private:
  [[nodiscard]] double wants(std::size_t rank) const {
    return out_ ? rates_->fans_out_bps(rank) : rates_->fans_in_bps(rank);
  }
  [[nodiscard]] double offers(std::size_t rank) const {
    return out_ ? rates_->fans_in_bps(rank) : rates_->fans_out_bps(rank);
  }
  [[nodiscard]] Flow arc(std::size_t rank, std::size_t partner) const {
    return out_ ? Flow{rank, partner} : Flow{partner, rank};
  }
  // Whether the partner is as fast as the rank, or as any.
  [[nodiscard]] bool is_enough(std::size_t partner, std::size_t rank) const {
    const std::size_t fastest =
        members_.back() == rank ? members_[members_.size() - 2] : members_.back();
    return offers(partner) >= (1 - rates_->tolerance()) * std::min(wants(rank), offers(fastest));
  }
  [[nodiscard]] bool was_measured_enough(std::size_t rank) const {
    const double most = out_ ? rates_->sends_bps(rank) : rates_->receives_bps(rank);
    if (most >= (1 - rates_->tolerance()) * wants(rank)) return true;
    return std::ranges::any_of(members_, [&](std::size_t other) {
      return other != rank && rates_->was_measured(arc(rank, other)) && is_enough(other, rank);
    });
  }

  const ArcRates* rates_;
  std::vector<std::size_t> members_;  // by what they offer, ascending
  bool out_;
  std::vector<bool>* is_busy_;
};

}  // namespace

std::vector<Step> port_steps(const ArcRates& rates) {
  std::vector<Step> steps;
  for (std::size_t rank = 0; rank < rates.ranks(); ++rank) add_steps_of(rates, rank, steps);
  return steps;
}

std::size_t count_port_steps(std::size_t ranks) {
  std::vector<std::size_t> circle(ranks);
  std::iota(circle.begin(), circle.end(), std::size_t{0});
  std::vector<Step> fans;
  add_fans_within({circle}, fans);
  return fans.size() + 1;
}

std::vector<Step> port_steps_within(const ArcRates& rates, const Clusters& clusters) {
  std::vector<Step> steps;
  std::vector<std::vector<std::size_t>> circles;
  Step both{Purpose::kBothWays, {}};
  for (const auto& members : clusters.members) {
    if (members.size() < kLeastCluster) continue;
    circles.push_back(mixed(rates, members));
    if (circles.size() > kMostSampled) continue;
    std::vector<std::size_t> some = circles.back();
    some.resize(std::min(some.size(), kMostInCircle));
    both.experiments.push_back(circle_of(some));
  }
  add_fans_within(circles, steps);
  if (!both.experiments.empty()) steps.push_back(std::move(both));
  return steps;
}

std::vector<Step> port_steps_between(const ArcRates& rates, const Clusters& clusters) {
  std::vector<Step> steps;
  if (clusters.count() == 1) return steps;
  std::vector<std::vector<std::size_t>> circles;
  for (const auto& members : clusters.members) {
    if (members.size() >= kLeastCluster) circles.push_back(mixed(rates, members));
  }
  const std::size_t sampled = std::min(kMostSampled, circles.size());
  for (std::size_t i = 0; i < sampled; ++i) {
    const auto& circle = circles[i * circles.size() / sampled];
    for (std::size_t j = 0; j < std::min(kMostSampled / sampled, circle.size()); ++j) {
      add_steps_of(rates, circle[j], steps);
    }
  }
  for (const auto& members : clusters.members) {
    if (members.size() >= kLeastCluster) continue;
    for (const std::size_t rank : members) add_steps_of(rates, rank, steps);
  }
  return steps;
}

Step arcs_of_full_rate(const ArcRates& rates, const Clusters& clusters) {
  Step step{Purpose::kAlone, {}};
  std::vector<bool> is_busy(rates.ranks());
  for (const auto& members : clusters.members) {
    if (members.size() < kLeastCluster) continue;
    for (const bool out : {true, false}) {
      FullRates(rates, members, out, is_busy).add_to(step);
    }
  }
  return step;
}

}  // namespace espalier::runtime::probe
