#include "lp/single/forced_arcs.hpp"

#include <algorithm>
#include <utility>

namespace espalier::lp {

namespace {
constexpr double kRounding = 1e-12;  // share of the capacity
}  // namespace

ForcedArcs::ForcedArcs(const HostArcs& arcs, std::uint32_t root, std::vector<char> excluded,
                       const Deadline& deadline)
    : arcs_(arcs),
      root_(root),
      excluded_(std::move(excluded)),
      watch_(deadline),
      members_(arcs.resource_count()) {
  for (std::uint32_t node = 0; node < arcs.node_count(); ++node) {
    if (node == root || !arcs.into(node).empty()) hosts_.push_back(node);
  }
  for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) {
    watch_.require(8);
    for (const auto& [resource, seconds] : arcs.uses(arc)) {
      members_[resource].push_back({arc, seconds});
    }
  }
  for (std::vector<Member>& members : members_) {
    watch_.require(16 * members.size());
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return a.seconds_per_byte > b.seconds_per_byte;
    });
  }
}

bool ForcedArcs::follow(std::span<const ArcDecision> decisions, double capacity) {
  begin(capacity);
  for (const ArcDecision& decision : decisions) {
    if (decision.state == ArcState::kIn) {
      put_in(decision.arc);
    } else {
      put_out(decision.arc);
    }
  }
  do {
    while (!fresh_.empty() && !contradiction_) {
      const std::uint32_t arc = fresh_.back();
      fresh_.pop_back();
      follow_arc_in(arc);
    }
    if (!contradiction_) put_out_cycles();
    watch_.require(8 * hosts_.size());
  } while (!fresh_.empty() && !contradiction_);
  return !contradiction_ && all_reached();
}

void ForcedArcs::begin(double capacity) {
  capacity_ = capacity;
  contradiction_ = false;
  states_.assign(arcs_.size(), ArcState::kFree);
  parent_arc_.assign(arcs_.node_count(), kNone);
  spare_.assign(arcs_.resource_count(), capacity);
  choices_.assign(arcs_.node_count(), 0);
  fresh_.clear();
  for (const std::uint32_t node : hosts_) choices_[node] = arcs_.into(node).size();
  for (const std::uint32_t arc : arcs_.into(root_)) put_out(arc);
  for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
    watch_.require(1);
    const bool excluded = !excluded_.empty() && excluded_[arc] != 0;
    if (excluded || arcs_.weight(arc) > capacity) put_out(arc);
  }
}

void ForcedArcs::put_out(std::uint32_t arc) {
  if (states_[arc] == ArcState::kOut) return;
  if (states_[arc] == ArcState::kIn) {
    contradiction_ = true;
    return;
  }
  states_[arc] = ArcState::kOut;
  const std::uint32_t node = arcs_.head(arc);
  if (node == root_) return;
  --choices_[node];
  if (choices_[node] == 0) contradiction_ = true;
  if (choices_[node] != 1 || parent_arc_[node] != kNone) return;
  for (const std::uint32_t in : arcs_.into(node)) {
    if (states_[in] == ArcState::kFree) return put_in(in);
  }
}

void ForcedArcs::put_in(std::uint32_t arc) {
  if (states_[arc] == ArcState::kIn) return;
  if (states_[arc] == ArcState::kOut) {
    contradiction_ = true;
    return;
  }
  states_[arc] = ArcState::kIn;
  parent_arc_[arcs_.head(arc)] = arc;
  for (const auto& [resource, seconds] : arcs_.uses(arc)) {
    spare_[resource] -= seconds;
    if (spare_[resource] < -kRounding * capacity_) contradiction_ = true;
  }
  fresh_.push_back(arc);
}

// A host has one parent, so other arcs into it are out; so are arcs that exceed a capacity with
// this one.
void ForcedArcs::follow_arc_in(std::uint32_t arc) {
  watch_.require(arcs_.into(arcs_.head(arc)).size());
  for (const std::uint32_t other : arcs_.into(arcs_.head(arc))) {
    if (other != arc) put_out(other);
  }
  for (const HostArcs::Use& use : arcs_.uses(arc)) {
    for (const Member& member : members_[use.resource]) {
      if (member.seconds_per_byte <= spare_[use.resource] + kRounding * capacity_) break;
      if (states_[member.arc] == ArcState::kFree) put_out(member.arc);
      if (contradiction_) return;
    }
  }
}

// Arcs from a host back to those above it.
void ForcedArcs::put_out_cycles() {
  for (const std::uint32_t node : hosts_) {
    std::size_t steps = 0;
    std::uint32_t above = node;
    while (above != root_ && parent_arc_[above] != kNone) {
      watch_.require(16);
      above = arcs_.tail(parent_arc_[above]);
      if (++steps > hosts_.size()) contradiction_ = true;
      const std::uint32_t back = above == root_ ? kNone : arcs_.find(node, above);
      if (back != kNone) put_out(back);
      if (contradiction_) return;
    }
  }
}

bool ForcedArcs::all_reached() const {
  std::vector<char> reached(arcs_.node_count(), 0);
  std::vector<std::uint32_t> order{root_};
  reached[root_] = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t arc : arcs_.out_of(order[i])) {
      if (states_[arc] == ArcState::kOut || reached[arcs_.head(arc)] != 0) continue;
      reached[arcs_.head(arc)] = 1;
      order.push_back(arcs_.head(arc));
    }
  }
  return order.size() == hosts_.size();
}

}  // namespace espalier::lp
