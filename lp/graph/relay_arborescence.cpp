#include "lp/graph/relay_arborescence.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace espalier::lp {

namespace {
constexpr double kUnreached = std::numeric_limits<double>::infinity();

std::uint32_t hosts_before(const Digraph& graph, std::uint32_t node) {
  std::uint32_t hosts = 0;
  for (std::uint32_t other = 0; other < node; ++other) hosts += graph.relay(other) ? 0 : 1;
  return hosts;
}
}  // namespace

// Among equal ones the nearest to a host goes first, so that a search does not wander.
bool RelayArborescence::Waiting::operator>(const Waiting& other) const {
  if (cost != other.cost) return cost > other.cost;
  if (near != other.near) return near > other.near;
  if (reached != other.reached) return reached > other.reached;
  return position > other.position;
}

RelayArborescence::RelayArborescence(const Digraph& graph, std::uint32_t root,
                                     const Deadline& deadline)
    : Contraction(graph.host_count(), hosts_before(graph, root)),
      graph_(&graph),
      watch_(deadline),
      number_(graph.node_count, kNone) {
  for (std::uint32_t node = 0; node < graph.node_count; ++node) {
    if (graph.relay(node)) continue;
    number_[node] = static_cast<std::uint32_t>(host_.size());
    host_.push_back(node);
  }
  list_arcs();
  waiting_.resize(host_.size());
  relays_of_.resize(host_.size());
  set_.resize(host_.size());
  shift_.resize(host_.size());
  set_of_component_.resize(2 * host_.size() + 1);
}

void RelayArborescence::list_arcs() {
  const std::uint32_t nodes = graph_->node_count;
  const std::uint32_t root_node = host_[root()];
  first_in_.assign(nodes + 1, 0);
  first_out_.assign(nodes + 1, 0);
  const auto is_in = [&](std::uint32_t arc) { return graph_->head[arc] != root_node; };
  const auto is_out = [&](std::uint32_t arc) { return graph_->relay(graph_->head[arc]); };
  const auto arcs = static_cast<std::uint32_t>(graph_->arc_count());
  watch_.require(arcs);
  for (std::uint32_t arc = 0; arc < arcs; ++arc) {
    if (is_in(arc)) ++first_in_[graph_->head[arc] + 1];
    if (is_out(arc)) ++first_out_[graph_->tail[arc] + 1];
  }
  std::partial_sum(first_in_.begin(), first_in_.end(), first_in_.begin());
  std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
  in_arcs_.resize(first_in_.back());
  out_.resize(first_out_.back());
  end_in_.assign(first_in_.begin(), first_in_.end() - 1);
  std::vector<std::uint32_t> end_out(first_out_.begin(), first_out_.end() - 1);
  for (std::uint32_t arc = 0; arc < arcs; ++arc) {
    if (is_in(arc)) in_arcs_[end_in_[graph_->head[arc]]++].arc = arc;
    if (is_out(arc)) out_[end_out[graph_->tail[arc]]++] = arc;
  }
}

bool RelayArborescence::contract(std::span<const double> arc_cost) {
  arc_cost_ = arc_cost;
  find_nearest_hosts();
  sort_in_arcs();
  reached_.clear();
  choices_.clear();
  reached_by_.clear();
  for (std::uint32_t host = 0; host < host_.size(); ++host) {
    set_[host] = host;
    shift_[host] = 0;
    set_of_component_[host] = host;
    relays_of_[host].clear();
    waiting_[host].clear();
  }
  std::fill(set_of_component_.begin() + static_cast<std::ptrdiff_t>(host_.size()),
            set_of_component_.end(), kNone);
  return contract_all();
}

RoutedTree RelayArborescence::chosen_paths() const {
  RoutedTree tree;
  std::vector<std::uint32_t> path;
  for (std::uint32_t host = 0; host < host_.size(); ++host) {
    if (host == root()) continue;
    const Choice& choice = choices_[chosen(host)];
    path.assign(1, choice.arc);
    for (std::uint32_t at = choice.reached; reached_[at].arc != kNone; at = reached_[at].next) {
      path.push_back(reached_[at].arc);
    }
    tree.add_edge(path);
  }
  return tree;
}

std::optional<RoutedTree> RelayArborescence::solve(std::span<const double> arc_cost) {
  total_cost_ = 0;
  if (!contract(arc_cost)) return std::nullopt;
  expand();
  RoutedTree tree = chosen_paths();
  for (const std::uint32_t arc : tree.arcs) total_cost_ += arc_cost[arc];
  return tree;
}

bool RelayArborescence::solve_from_each(std::span<const double> arc_cost,
                                        std::vector<double>& from_each) {
  if (!contract(arc_cost)) return false;
  std::vector<double> of_host;
  costs_from_each(of_host);
  from_each.assign(graph_->node_count, 0.0);
  for (std::uint32_t host = 0; host < host_.size(); ++host) from_each[host_[host]] = of_host[host];
  return true;
}

RoutedTree RelayArborescence::tree_from(std::uint32_t root_arc) {
  const std::uint32_t host = number_[graph_->head[root_arc]];
  const auto itself = std::ranges::find_if(reached_, [host](const Reached& reached) {
    return reached.host == host && reached.arc == kNone;
  });
  choices_.push_back({root_arc, static_cast<std::uint32_t>(itself - reached_.begin())});
  expand_from(static_cast<std::uint32_t>(choices_.size() - 1));
  RoutedTree tree = chosen_paths();
  choices_.pop_back();
  return tree;
}

void RelayArborescence::find_nearest_hosts() {
  near_.assign(graph_->node_count, kUnreached);
  std::vector<std::pair<double, std::uint32_t>> frontier;
  for (const std::uint32_t node : host_) {
    near_[node] = 0;
    frontier.emplace_back(0.0, node);
  }
  watch_.require(graph_->node_count + graph_->arc_count());
  while (!frontier.empty()) {
    std::pop_heap(frontier.begin(), frontier.end(), std::greater<>());
    const auto [distance, node] = frontier.back();
    frontier.pop_back();
    if (distance > near_[node]) continue;
    for (std::uint32_t i = first_out_[node]; i < first_out_[node + 1]; ++i) {
      const std::uint32_t head = graph_->head[out_[i]];
      const double candidate = distance + arc_cost_[out_[i]];
      if (candidate >= near_[head]) continue;
      near_[head] = candidate;
      frontier.emplace_back(candidate, head);
      std::push_heap(frontier.begin(), frontier.end(), std::greater<>());
    }
  }
}

void RelayArborescence::sort_in_arcs() {
  watch_.require(4 * in_arcs_.size());
  const auto cheaper = [](const InArc& a, const InArc& b) {
    return a.order < b.order || (a.order == b.order && a.arc < b.arc);
  };
  for (std::uint32_t node = 0; node < graph_->node_count; ++node) {
    const auto first = in_arcs_.begin() + first_in_[node];
    auto last = in_arcs_.begin() + first_in_[node + 1];
    for (auto in = first; in != last; ++in) {
      in->order = arc_cost_[in->arc] + near_[graph_->tail[in->arc]];
    }
    std::sort(first, last, cheaper);
    while (last != first && (last - 1)->order == kUnreached) --last;
    end_in_[node] = static_cast<std::uint32_t>(last - in_arcs_.begin());
  }
}

void RelayArborescence::wait_for(std::uint32_t reached, std::uint32_t position) {
  const Reached& at = reached_[reached];
  if (position >= end_in_[at.node]) return;
  const InArc& arc = in_arcs_[position];
  std::vector<Waiting>& heap = waiting_[at.host];
  heap.push_back({at.distance + arc.order, near_[graph_->tail[arc.arc]], reached, position});
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

std::uint32_t RelayArborescence::top_tail(std::uint32_t host) const {
  return number_[graph_->tail[in_arcs_[waiting_[host].front().position].arc]];
}

bool RelayArborescence::choose(std::uint32_t host) {
  reached_.push_back({host_[host], host, kNone, kNone, 0});
  wait_for(static_cast<std::uint32_t>(reached_.size() - 1), first_in_[host_[host]]);
  bool more = !waiting_[host].empty();
  while (more && (top_tail(host) == kNone || top_tail(host) == host)) more = drop_top(host, host);
  return more;
}

std::uint32_t RelayArborescence::take_top(std::uint32_t host) {
  const Waiting& top = waiting_[host].front();
  choices_.push_back({in_arcs_[top.position].arc, top.reached});
  return static_cast<std::uint32_t>(choices_.size() - 1);
}

// All that a component has reached costs no more than what it chose last, and all that its hosts'
// searches still find costs no less: what is reached again is of no use, and of two searches that
// stand at the same relay the cheaper one goes on.
bool RelayArborescence::drop_top(std::uint32_t host, std::uint32_t component) {
  watch_.require(16);
  std::vector<Waiting>& heap = waiting_[host];
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  const Waiting top = heap.back();
  heap.pop_back();
  const std::uint32_t set = set_of_component_[component];
  const Reached from = reached_[top.reached];
  if (from.arc != kNone && reached_by_.at(set, from.node) != top.reached) return !heap.empty();
  const std::uint32_t arc = in_arcs_[top.position].arc;
  const std::uint32_t tail = graph_->tail[arc];
  if (number_[tail] == kNone) {
    std::uint32_t& known = reached_by_.at(set, tail);
    if (known == kNone) {
      known = static_cast<std::uint32_t>(reached_.size());
      relays_of_[set].push_back(tail);
      reached_.push_back({tail, host, arc, top.reached, from.distance + arc_cost_[arc]});
      wait_for(known, first_in_[tail]);
    }
  }
  wait_for(top.reached, top.position + 1);
  return !heap.empty();
}

void RelayArborescence::absorb(std::uint32_t component, std::uint32_t member, double shift) {
  const std::uint32_t set = set_of_component_[member];
  shift_[set] += shift;
  std::uint32_t& whole = set_of_component_[component];
  if (whole == kNone) {
    whole = set;
    return;
  }
  const bool larger = relays_of_[set].size() > relays_of_[whole].size();
  const std::uint32_t into = larger ? set : whole;
  merge_sets(into, larger ? whole : set);
  whole = into;
}

void RelayArborescence::merge_sets(std::uint32_t into, std::uint32_t from) {
  watch_.require(4 * relays_of_[from].size() + 1);
  for (const std::uint32_t relay : relays_of_[from]) {
    const std::uint32_t mine = reached_by_.at(from, relay);
    std::uint32_t& theirs = reached_by_.at(into, relay);
    if (theirs == kNone) {
      theirs = mine;
      relays_of_[into].push_back(relay);
    } else if (cost_from(mine) < cost_from(theirs)) {
      theirs = mine;
    }
  }
  relays_of_[from].clear();
  set_[from] = into;
  shift_[from] -= shift_[into];
}

// What a path through a relay costs its component, up to the relay's own search.
double RelayArborescence::cost_from(std::uint32_t reached) {
  double cost = reached_[reached].distance;
  std::uint32_t host = reached_[reached].host;
  for (; set_[host] != host; host = set_[host]) {  // path halving
    const std::uint32_t up = set_[host];
    if (set_[up] != up) {
      shift_[host] += shift_[up];
      set_[host] = set_[up];
    }
    cost += shift_[host];
  }
  return cost + shift_[host];
}

void PairTable::clear() {
  std::ranges::fill(slots_, kFree);
  used_ = 0;
}

std::uint32_t& PairTable::at(std::uint32_t first, std::uint32_t second) {
  const std::uint64_t key = std::uint64_t{first} << 32U | second;
  if (2 * used_ >= slots_.size()) grow();
  Slot& slot = slot_of(key);
  if (slot.key == kFree.key) {
    slot = {key, kNone};
    ++used_;
  }
  return slot.value;
}

PairTable::Slot& PairTable::slot_of(std::uint64_t key) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = (key * 0x9E3779B97F4A7C15ULL >> 20U) & mask;
  while (slots_[at].key != key && slots_[at].key != kFree.key) at = (at + 1) & mask;
  return slots_[at];
}

void PairTable::grow() {
  constexpr std::size_t kFirst = 1024;
  std::vector<Slot> before(std::max(kFirst, 2 * slots_.size()), kFree);
  before.swap(slots_);
  for (const Slot& slot : before) {
    if (slot.key != kFree.key) slot_of(slot.key) = slot;
  }
}

}  // namespace espalier::lp
