#include "lp/single/root_cuts.hpp"

#include <algorithm>

namespace espalier::lp {

namespace {
constexpr double kViolation = 1e-4;
constexpr double kNothing = 1e-9;
}  // namespace

std::vector<RootCuts::Cut> RootCuts::violated(std::span<const double> x, DeadlineWatch& watch) {
  std::vector<Cut> cuts;
  std::vector<char> covered(arcs_.node_count(), 0);
  list_support(x);
  for (const std::uint32_t sink : hosts_) {
    if (sink == root_ || covered[sink] != 0) continue;
    for (const std::uint32_t arc : support_) {
      forward_[arc] = x[arc];
      backward_[arc] = 0;
    }
    double flow = 0;
    double more = 1;
    while (flow < 1 - kViolation && more > 0) {
      watch.require(4 * support_.size());
      more = augment(sink, 1 - flow);
      flow += more;
    }
    if (flow >= 1 - kViolation) continue;
    for (const std::uint32_t node : hosts_) {
      if (reached_[node] == 0) covered[node] = 1;
    }
    cuts.push_back(cut_of_unreached());
  }
  return cuts;
}

RootCuts::Cut RootCuts::cut_of_unreached() const {
  Cut into;
  Cut inside;
  inside.inside = true;
  for (const std::uint32_t node : hosts_) {
    if (reached_[node] != 0) continue;
    ++inside.hosts;
    for (const std::uint32_t arc : arcs_.into(node)) {
      (reached_[arcs_.tail(arc)] != 0 ? into : inside).arcs.push_back(arc);
    }
  }
  into.hosts = inside.hosts;
  return into.arcs.size() <= inside.arcs.size() ? into : inside;
}

void RootCuts::list_support(std::span<const double> x) {
  forward_.resize(x.size());
  backward_.resize(x.size());
  support_.clear();
  first_at_.assign(arcs_.node_count() + 1, 0);
  for (std::uint32_t arc = 0; arc < x.size(); ++arc) {
    if (x[arc] <= kNothing) continue;
    support_.push_back(arc);
    ++first_at_[arcs_.tail(arc)];
    ++first_at_[arcs_.head(arc)];
  }
  for (std::size_t node = 1; node < first_at_.size(); ++node) {
    first_at_[node] += first_at_[node - 1];
  }
  at_.resize(2 * support_.size());
  for (const std::uint32_t arc : support_) {
    at_[--first_at_[arcs_.tail(arc)]] = arc;
    at_[--first_at_[arcs_.head(arc)]] = arc;
  }
}

// Sends up to `most` along a shortest augmenting path; 0: there is none.
double RootCuts::augment(std::uint32_t sink, double most) {
  search(sink);
  if (reached_[sink] == 0) return 0;
  const auto start_of = [&](std::uint32_t arc, std::uint32_t end) {
    return arcs_.head(arc) == end ? arcs_.tail(arc) : arcs_.head(arc);
  };
  for (std::uint32_t at = sink; at != root_; at = start_of(by_[at], at)) {
    most = std::min(most, residual(by_[at], at));
  }
  for (std::uint32_t at = sink; at != root_; at = start_of(by_[at], at)) {
    residual(by_[at], at) -= most;
    residual(by_[at], start_of(by_[at], at)) += most;
  }
  return most;
}

void RootCuts::search(std::uint32_t sink) {
  reached_.assign(arcs_.node_count(), 0);
  by_.assign(arcs_.node_count(), 0);
  order_.assign(1, root_);
  reached_[root_] = 1;
  for (std::size_t i = 0; i < order_.size() && reached_[sink] == 0; ++i) {
    const std::uint32_t node = order_[i];
    for (std::uint32_t k = first_at_[node]; k < first_at_[node + 1]; ++k) {
      const std::uint32_t arc = at_[k];
      const std::uint32_t other = arcs_.tail(arc) == node ? arcs_.head(arc) : arcs_.tail(arc);
      if (reached_[other] != 0 || residual(arc, other) <= kNothing) continue;
      reached_[other] = 1;
      by_[other] = arc;
      order_.push_back(other);
    }
  }
}

}  // namespace espalier::lp
