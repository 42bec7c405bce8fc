#include "planner/solve/ring_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace espalier::planner {

namespace {

constexpr std::uint32_t kNoHost = UINT32_MAX;
constexpr std::size_t kLongestStretch = 3;
// Arcs of each host that moves try to bring into the ring.
constexpr std::size_t kNearest = 10;
// A stall: as many rounds as an instance of some hundred hosts needs.
constexpr std::size_t kMostSearchRounds = 50;
// So few hosts that each can be a start.
constexpr std::size_t kFewStarts = 16;

class RingSearch {
 public:
  RingSearch(const lp::HostArcs& arcs, std::span<const platforms::NodeId> hosts, bool reversed,
             const Deadline& deadline)
      : arcs_(arcs),
        reversed_(reversed),
        deadline_(deadline),
        load_(arcs.resource_count() + 1, 0.0),
        change_(load_.size(), 0.0),
        is_changed_(load_.size(), 0),
        place_(arcs.node_count(), kNoHost) {
    for (const platforms::NodeId host : hosts) {
      hosts_.push_back(static_cast<std::uint32_t>(index_of(host)));
    }
    list_nearest();
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> best;
    double least = INFINITY;
    const std::size_t starts = hosts_.size() <= kFewStarts ? hosts_.size() : 1;
    for (std::size_t start = 0; start < starts; ++start) {
      begin_with_nearest_neighbours(hosts_[start]);
      for (std::size_t round = 0; round < kMostSearchRounds && improve(); ++round) {
      }
      const double most = std::ranges::max(load_);
      if (most >= least) continue;
      least = most;
      best = order_;
    }
    std::rotate(best.begin(), std::ranges::find(best, hosts_.front()), best.end());
    return best;
  }

 private:
  [[nodiscard]] std::uint32_t arc(std::uint32_t from, std::uint32_t to) const {
    return reversed_ ? arcs_.find(to, from) : arcs_.find(from, to);
  }
  // Of the arcs by which a host may send on, and where one of them leads.
  [[nodiscard]] std::span<const std::uint32_t> onward(std::uint32_t host) const {
    return reversed_ ? arcs_.into(host) : arcs_.out_of(host);
  }
  [[nodiscard]] std::uint32_t end_of(std::uint32_t onward) const {
    return reversed_ ? arcs_.tail(onward) : arcs_.head(onward);
  }
  // A pair without an arc has a resource of its own, which outweighs all others.
  [[nodiscard]] std::uint32_t missing() const {
    return static_cast<std::uint32_t>(arcs_.resource_count());
  }

  // Per host, the fastest of its arcs, out and in. Sets the scale of loads, too.
  void list_nearest() {
    std::vector<std::pair<double, std::uint32_t>> reached;
    nearest_.resize(arcs_.node_count());
    for (const std::uint32_t host : hosts_) {
      reached.clear();
      for (const std::uint32_t each : onward(host)) {
        reached.emplace_back(arcs_.weight(each), end_of(each));
        scale_ = std::max(scale_, reached.back().first);
      }
      const std::size_t most = std::min(kNearest, reached.size());
      std::ranges::partial_sort(reached, reached.begin() + static_cast<std::ptrdiff_t>(most));
      for (std::size_t i = 0; i < most; ++i) nearest_[host].push_back(reached[i].second);
    }
  }

  void begin_with_nearest_neighbours(std::uint32_t start) {
    order_.clear();
    std::ranges::fill(load_, 0.0);
    std::vector<char> is_passed(arcs_.node_count(), 0);
    std::size_t next_host = 0;
    for (std::uint32_t at = start; order_.size() < hosts_.size();) {
      place_[at] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(at);
      is_passed[at] = 1;
      std::pair<double, std::uint32_t> best{INFINITY, kNoHost};
      for (const std::uint32_t each : onward(at)) {
        const std::uint32_t to = end_of(each);
        if (is_passed[to] == 0) best = std::min(best, {arcs_.weight(each), to});
      }
      while (next_host < hosts_.size() && is_passed[hosts_[next_host]] != 0) ++next_host;
      at = best.second != kNoHost ? best.second : hosts_[std::min(next_host, hosts_.size() - 1)];
    }
    for (std::size_t i = 0; i < order_.size(); ++i) add(order_[i], at(i + 1), 1);
    apply();
  }

  [[nodiscard]] std::uint32_t at(std::size_t place) const { return order_[place % order_.size()]; }

  // Notes that the ring gains (1) or loses (-1) a pair of neighbours.
  void add(std::uint32_t from, std::uint32_t to, double sign) {
    const auto note = [&](std::uint32_t resource, double seconds) {
      if (is_changed_[resource] == 0) changed_.push_back(resource);
      is_changed_[resource] = 1;
      change_[resource] += sign * seconds;
    };
    const std::uint32_t found = arc(from, to);
    if (found == kNoHost) return note(missing(), 1e3 * scale_);
    for (const lp::HostArcs::Use& use : arcs_.uses(found)) note(use.resource, use.seconds_per_byte);
  }
  // A power so high that the busiest resources decide; the slowest arc alone is 1.
  [[nodiscard]] double cost(double load) const {
    const double square = load * load / (scale_ * scale_);
    const double eighth = square * square * square * square;
    return eighth * eighth;
  }
  // What the noted changes cost; negative where they gain.
  [[nodiscard]] double cost_of_change() const {
    double sum = 0;
    double before = 0;
    for (const std::uint32_t resource : changed_) {
      const double old = cost(load_[resource]);
      before += old;
      sum += cost(std::max(0.0, load_[resource] + change_[resource])) - old;
    }
    return std::abs(sum) < 1e-9 * before ? 0 : sum;
  }
  void apply() {
    for (const std::uint32_t resource : changed_) {
      load_[resource] = std::max(0.0, load_[resource] + change_[resource]);
    }
    forget();
  }
  void forget() {
    for (const std::uint32_t resource : changed_) change_[resource] = is_changed_[resource] = 0;
    changed_.clear();
  }

  // Moves stretches wherever that makes the ring better. Whether any did.
  bool improve() {
    bool any = false;
    for (const std::uint32_t host : hosts_) {
      if (deadline_.passed()) return false;
      for (const std::uint32_t next : nearest_[host]) {
        for (std::size_t length = 1; length <= kLongestStretch; ++length) {
          // The stretch that `next` begins, after the host; and that the host ends, before `next`.
          any = move(place_[next], length, host) || any;
          const std::size_t first = place_[host] + order_.size() + 1 - length;
          any = move(first % order_.size(), length, at(place_[next] + order_.size() - 1)) || any;
        }
      }
    }
    return any;
  }

  // Takes `length` hosts from place `first` on out of the ring and puts them after `behind`, if
  // that is better.
  bool move(std::size_t first, std::size_t length, std::uint32_t behind) {
    const std::size_t hosts = order_.size();
    if (hosts < length + 2) return false;
    const std::size_t from_first = (place_[behind] + hosts - first) % hosts;
    if (from_first < length || from_first == hosts - 1) return false;  // within it, or already so
    const std::uint32_t before = at(first + hosts - 1);
    const std::uint32_t after = at(first + length);
    const std::uint32_t begin = at(first);
    const std::uint32_t end = at(first + length - 1);
    const std::uint32_t following = at(place_[behind] + 1);
    add(before, begin, -1);
    add(end, after, -1);
    add(behind, following, -1);
    add(before, after, 1);
    add(behind, begin, 1);
    add(end, following, 1);
    if (cost_of_change() >= 0) {
      forget();
      return false;
    }
    apply();
    // The hosts between move forwards by the stretch's length.
    std::vector<std::uint32_t> stretch;
    for (std::size_t i = 0; i < length; ++i) stretch.push_back(at(first + i));
    for (std::size_t i = length; i <= from_first; ++i) put(first + i - length, at(first + i));
    for (std::size_t i = 0; i < length; ++i) put(first + from_first + 1 - length + i, stretch[i]);
    return true;
  }
  void put(std::size_t place, std::uint32_t host) {
    place_[host] = static_cast<std::uint32_t>(place % order_.size());
    order_[place_[host]] = host;
  }

  const lp::HostArcs& arcs_;
  std::vector<std::uint32_t> hosts_;
  bool reversed_;
  const Deadline& deadline_;
  double scale_ = 1e-300;
  std::vector<double> load_;      // per resource; the last: pairs without an arc
  std::vector<double> change_;    // per resource
  std::vector<char> is_changed_;  // per resource: it is in changed_
  std::vector<std::uint32_t> changed_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> place_;  // per node, in order_
  std::vector<std::vector<std::uint32_t>> nearest_;
};

}  // namespace

std::vector<std::uint32_t> ring_order(const lp::HostArcs& arcs,
                                      std::span<const platforms::NodeId> hosts, bool reversed,
                                      const Deadline& deadline) {
  return RingSearch(arcs, hosts, reversed, deadline).run();
}

}  // namespace espalier::planner
