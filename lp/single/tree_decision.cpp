#include "lp/single/tree_decision.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

namespace espalier::lp {

namespace {
constexpr double kIntegral = 1e-6;
constexpr double kCoverViolation = 1e-3;  // of covers
constexpr double kLoadRounding = 1e-9;    // of the capacity
}  // namespace

TreeDecision::TreeDecision(const HostArcs& arcs, std::uint32_t root, ForcedArcs& rules,
                           double capacity, const Deadline& deadline)
    : arcs_(arcs),
      rules_(rules),
      capacity_(capacity),
      watch_(deadline),
      root_cuts_(arcs, root, rules.hosts()),
      column_of_(arcs.size(), kNone),
      x_(arcs.size(), 0.0) {
  if (rules.follow({}, capacity)) build(root);
}

void TreeDecision::build(std::uint32_t root) {
  for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
    if (rules_.states()[arc] == ArcState::kOut) continue;
    watch_.require(64);
    column_of_[arc] = lp_.add_column({0, 1}, 0);
    in_play_.push_back(arc);
  }
  fixed_.assign(in_play_.size(), ArcState::kFree);
  z_ = lp_.add_column({0, 1}, 1);
  std::vector<Entry> entries;
  for (const std::uint32_t node : rules_.hosts()) {
    if (node == root) continue;
    entries.clear();
    for (const std::uint32_t arc : arcs_.into(node)) {
      if (column_of_[arc] != kNone) entries.push_back({column_of_[arc], 1});
    }
    lp_.add_row({1, 1}, entries);
  }
  for (const std::vector<ForcedArcs::Member>& members : rules_.members()) {
    entries.clear();
    watch_.require(8 * members.size());
    for (const auto& [arc, seconds] : members) {
      if (column_of_[arc] != kNone) entries.push_back({column_of_[arc], seconds / capacity_});
    }
    if (entries.empty()) continue;
    entries.push_back({z_, -1});
    lp_.add_row({-kInfinity, 0}, entries);
  }
  first_cut_ = lp_.row_count();
}

Verdict TreeDecision::run(const Limits& limits) {
  if (in_play_.empty()) return Verdict::kNoTree;
  bool trouble = false;
  std::priority_queue<Branch> open;
  open.push({0, 0, {}});
  std::size_t number = 0;
  while (!open.empty()) {
    Branch branch = open.top();
    open.pop();
    // Dives into the child branch while the basis still fits, until it is exhausted.
    while (true) {
      ++branches_;
      const Relaxation relaxation = relax(branch.decisions, limits);
      if (relaxation == Relaxation::kTree) return Verdict::kFound;
      if (relaxation == Relaxation::kWorkLimit) return Verdict::kUnknown;
      if (relaxation == Relaxation::kTimeLimit) return Verdict::kTimeLimit;
      trouble = trouble || relaxation == Relaxation::kTrouble;
      if (relaxation != Relaxation::kFractional) break;
      const std::uint32_t arc = branching_arc();
      Branch other{lp_.value(z_), ++number, branch.decisions};
      other.decisions.push_back({arc, ArcState::kOut});
      open.push(std::move(other));
      branch.decisions.push_back({arc, ArcState::kIn});
    }
  }
  return trouble ? Verdict::kUnknown : Verdict::kNoTree;
}

TreeDecision::Relaxation TreeDecision::relax(const std::vector<ArcDecision>& decisions,
                                             const Limits& limits) {
  if (!rules_.follow(decisions, capacity_)) return Relaxation::kEmpty;
  drop_slack_rows();
  fix_columns();
  SimplexOptions simplex;
  simplex.method = SimplexOptions::Method::kDual;
  do {
    simplex.time_limit = limits.time_left();
    if (work_ > limits.work) return Relaxation::kWorkLimit;
    if (simplex.time_limit && simplex.time_limit->value <= 0) return Relaxation::kTimeLimit;
    const double pivots_left = (limits.work - work_) / lp_.row_count();
    simplex.iteration_limit = static_cast<int>(std::min(1e9, pivots_left)) + 1;
    const LpStatus status = lp_.solve(simplex);
    work_ += static_cast<double>(lp_.pivots()) * lp_.row_count();
    if (status == LpStatus::kInfeasible) return Relaxation::kEmpty;
    if (status == LpStatus::kLimit) {
      return work_ > limits.work ? Relaxation::kWorkLimit : Relaxation::kTimeLimit;
    }
    if (status != LpStatus::kOptimal) return Relaxation::kTrouble;
    for (std::uint32_t column = 0; column < in_play_.size(); ++column) {
      x_[in_play_[column]] = std::max(0.0, lp_.value(column));
    }
  } while (add_covers() || add_cuts());
  if (branching_arc() != kNone) return Relaxation::kFractional;
  tree_.clear();
  for (const std::uint32_t arc : in_play_) {
    if (x_[arc] > 0.5) tree_.push_back(arc);
  }
  return Relaxation::kTree;
}

void TreeDecision::fix_columns() {
  for (std::uint32_t column = 0; column < in_play_.size(); ++column) {
    const ArcState state = rules_.states()[in_play_[column]];
    if (state == fixed_[column]) continue;
    lp_.set_column_bounds(
        column, {state == ArcState::kIn ? 1.0 : 0.0, state == ArcState::kOut ? 0.0 : 1.0});
    fixed_[column] = state;
  }
}

bool TreeDecision::add_covers() {
  const std::uint32_t rows = lp_.row_count();
  std::vector<ForcedArcs::Member> members;
  for (const std::vector<ForcedArcs::Member>& all : rules_.members()) {
    members.clear();
    for (const ForcedArcs::Member& member : all) {
      if (column_of_[member.arc] != kNone) members.push_back(member);
    }
    if (members.size() < 2) continue;
    add_cover(members);
    add_clique(members);
  }
  return lp_.row_count() > rows;
}

// Of the heaviest i arcs, at most as many can be in as the lightest of them that fit jointly.
void TreeDecision::add_cover(const std::vector<ForcedArcs::Member>& members) {
  double most_violated = kCoverViolation;
  std::size_t arcs = 0;
  std::size_t fit = 0;
  double in = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    in += x_[members[i].arc];
    double load = 0;
    std::size_t count = 0;
    watch_.require(members.size());
    for (std::size_t j = i + 1; j-- > 0; ++count) {
      load += members[j].seconds_per_byte;
      if (load > capacity_ * (1 + kLoadRounding)) break;
    }
    const double violation = in - static_cast<double>(count);
    if (count > i || violation <= most_violated) continue;
    most_violated = violation;
    arcs = i + 1;
    fit = count;
  }
  if (arcs == 0) return;
  std::vector<std::uint32_t> row;
  for (std::size_t i = 0; i < arcs; ++i) row.push_back(members[i].arc);
  add_row({-kInfinity, static_cast<double>(fit)}, row);
}

// Arcs of which no two fit jointly: the heaviest, and one lighter arc.
void TreeDecision::add_clique(const std::vector<ForcedArcs::Member>& members) {
  const auto clash = [&](std::size_t a, std::size_t b) {
    return members[a].seconds_per_byte + members[b].seconds_per_byte >
           capacity_ * (1 + kLoadRounding);
  };
  double most_violated = kCoverViolation;
  std::size_t light = 0;
  std::size_t heavy = 0;
  for (std::size_t i = 1; i < members.size(); ++i) {
    double in = x_[members[i].arc];
    std::size_t n = 0;
    for (; n < i && clash(n, i) && (n == 0 || clash(n, n - 1)); ++n) in += x_[members[n].arc];
    if (n == 0 || in - 1 <= most_violated) continue;
    most_violated = in - 1;
    light = i;
    heavy = n;
  }
  if (heavy == 0) return;
  std::vector<std::uint32_t> row{members[light].arc};
  for (std::size_t i = 0; i < heavy; ++i) row.push_back(members[i].arc);
  add_row({-kInfinity, 1}, row);
}

bool TreeDecision::add_cuts() {
  const auto cuts = root_cuts_.violated(x_, watch_);
  for (const RootCuts::Cut& cut : cuts) {
    const Bounds bounds =
        cut.inside ? Bounds{-kInfinity, static_cast<double>(cut.hosts) - 1} : Bounds{1, kInfinity};
    add_row(bounds, cut.arcs);
  }
  return !cuts.empty();
}

void TreeDecision::add_row(Bounds bounds, const std::vector<std::uint32_t>& arcs) {
  std::vector<Entry> entries;
  entries.reserve(arcs.size());
  for (const std::uint32_t arc : arcs) {
    if (column_of_[arc] != kNone) entries.push_back({column_of_[arc], 1});
  }
  lp_.add_row(bounds, entries);
}

// Drops covers and cuts that do not limit the last relaxation, once there are many. Those needed
// again are found again.
void TreeDecision::drop_slack_rows() {
  constexpr std::uint32_t kMany = 2;  // times the number of permanent rows
  if (lp_.row_count() <= (1 + kMany) * first_cut_) return;
  std::vector<std::uint32_t> slack;
  for (std::uint32_t row = first_cut_; row < lp_.row_count(); ++row) {
    if (lp_.is_row_basic(row)) slack.push_back(row);
  }
  lp_.remove_rows(slack);
}

// The most fractional arc; of equals, the heavier. kNone: all arcs are integral.
std::uint32_t TreeDecision::branching_arc() const {
  std::uint32_t best = kNone;
  double best_score = kIntegral;
  for (const std::uint32_t arc : in_play_) {
    const double score = std::min(x_[arc], 1 - x_[arc]);
    if (score <= best_score) continue;
    best_score = score;
    best = arc;
  }
  return best;
}

}  // namespace espalier::lp
