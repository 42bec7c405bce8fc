#include "lp/packing/packing_master.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace espalier::lp {

namespace {

constexpr std::uint32_t kInactive = UINT32_MAX;
constexpr double kOverload = 1e-9;  // relative; must not be below GLPK's primal tolerance

std::uint64_t hash_of(const RoutedTree& tree) {
  std::uint64_t hash = 1469598103934665603ULL;
  const auto mix = [&hash](std::uint32_t value) { hash = (hash ^ value) * 1099511628211ULL; };
  for (const std::uint32_t arc : tree.arcs) mix(arc);
  for (const std::uint32_t end : tree.path_ends) mix(end);
  return hash;
}

RoutedTree joined(RoutedTree tree, const RoutedTree& more) {
  for (std::size_t edge = 0; edge < more.edge_count(); ++edge) tree.add_edge(more.path(edge));
  return tree;
}

}  // namespace

PackingMaster::PackingMaster(const SparseMatrix& occupation, double unit_rate,
                             std::uint32_t second_part)
    : occupation_(&occupation),
      unit_rate_(unit_rate),
      second_part_(second_part),
      row_of_(static_cast<std::size_t>(occupation.rows()), kInactive),
      load_(row_of_.size(), 0.0),
      prices_(row_of_.size(), 0.0),
      scratch_(row_of_.size(), 0.0) {
  if (!has_parts()) return;
  program_.add_row({0, 0});
  active_.push_back(kInactive);
}

bool PackingMaster::add_tree(RoutedTree tree) {
  if (!has_parts()) return add_column(std::move(tree), false);
  std::array<RoutedTree, 2> part;
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto path = tree.path(edge);
    part[path.front() < second_part_ ? 0 : 1].add_edge(path);
  }
  const bool first_is_new = add_column(std::move(part[0]), false);
  return add_column(std::move(part[1]), true) || first_is_new;
}

bool PackingMaster::add_column(RoutedTree tree, bool second) {
  const std::uint64_t hash = hash_of(tree);
  for (const Column& column : columns_) {
    if (column.hash == hash && column.tree == tree) return false;
  }
  const int* first = occupation_->outerIndexPtr();
  const int* row = occupation_->innerIndexPtr();
  const double* value = occupation_->valuePtr();
  touched_.clear();
  for (const std::uint32_t arc : tree.arcs) {
    for (int i = first[arc]; i < first[arc + 1]; ++i) {
      const auto resource = static_cast<std::uint32_t>(row[i]);
      if (scratch_[resource] == 0) touched_.push_back(resource);
      scratch_[resource] += value[i] * unit_rate_;
    }
  }
  std::sort(touched_.begin(), touched_.end());
  Column column{std::move(tree), {}, hash, solves_, second};
  column.load.reserve(touched_.size());
  std::uint32_t busiest = kInactive;
  for (const std::uint32_t resource : touched_) {
    column.load.push_back({resource, scratch_[resource]});
    if (busiest == kInactive || scratch_[resource] > scratch_[busiest]) busiest = resource;
  }
  for (const std::uint32_t resource : touched_) scratch_[resource] = 0;
  // Every column needs a row, or else the master would be unbounded.
  if (busiest != kInactive && row_of_[busiest] == kInactive) activate(busiest);

  constexpr std::uint32_t kBalance = 0;
  std::vector<Entry> entries;
  if (has_parts()) entries.push_back({kBalance, second ? -1.0 : 1.0});
  for (const Entry& entry : column.load) {
    if (row_of_[entry.index] != kInactive) entries.push_back({row_of_[entry.index], entry.value});
  }
  program_.add_column({0, kInfinity}, second ? 0.0 : 1.0, entries);
  columns_.push_back(std::move(column));
  return true;
}

void PackingMaster::activate(std::uint32_t resource) {
  std::vector<Entry> entries;
  for (std::uint32_t column = 0; column < columns_.size(); ++column) {
    const std::vector<Entry>& load = columns_[column].load;
    const auto at = std::lower_bound(load.begin(), load.end(), resource,
                                     [](const Entry& e, std::uint32_t r) { return e.index < r; });
    if (at != load.end() && at->index == resource) entries.push_back({column, at->value});
  }
  row_of_[resource] = program_.add_row({-kInfinity, 1.0}, entries);
  active_.push_back(resource);
}

LpStatus PackingMaster::solve(const Deadline& deadline) {
  SimplexOptions options;
  options.has_optimum = true;  // no tree is feasible, and every tree has a row
  LpStatus status = LpStatus::kOptimal;
  do {
    if (const auto left = deadline.left()) {
      options.time_limit = Seconds{std::max(left->value, 1e-3)};
    }
    status = program_.solve(options);
    ++solves_;
    if (status != LpStatus::kOptimal) return status;
    options.method = SimplexOptions::Method::kDual;
  } while (activate_overloaded());

  std::fill(prices_.begin(), prices_.end(), 0.0);
  for (std::uint32_t row = 0; row < active_.size(); ++row) {
    if (active_[row] == kInactive) continue;
    prices_[active_[row]] = std::max(0.0, program_.row_dual(row));
  }
  return status;
}

// Sets rates_, load_ and total_ from the program's solution; true: rows were added.
bool PackingMaster::activate_overloaded() {
  rates_.assign(columns_.size(), 0.0);
  std::fill(load_.begin(), load_.end(), 0.0);
  std::array<double, 2> sum{};  // of first parts (or whole trees) and of second parts
  for (std::uint32_t column = 0; column < columns_.size(); ++column) {
    const double rate = program_.value(column);
    if (program_.is_basic(column)) columns_[column].last_used = solves_;
    if (!(rate > 0)) continue;
    rates_[column] = rate;
    sum[columns_[column].second ? 1 : 0] += rate;
    for (const Entry& entry : columns_[column].load) load_[entry.index] += rate * entry.value;
  }
  double busiest = 0;
  bool added = false;
  for (std::uint32_t resource = 0; resource < load_.size(); ++resource) {
    busiest = std::max(busiest, load_[resource]);
    if (load_[resource] <= 1 + kOverload || row_of_[resource] != kInactive) continue;
    activate(resource);
    added = true;
  }
  total_ = has_parts() ? std::min(sum[0], sum[1]) : sum[0];
  if (busiest > 1) {
    for (double& rate : rates_) rate /= busiest;
    total_ /= busiest;
  }
  return added;
}

std::vector<RoutedTree> PackingMaster::whole_trees() const {
  std::vector<RoutedTree> whole;
  std::array<std::vector<const RoutedTree*>, 2> part;
  for (const Column& column : columns_) part[column.second ? 1 : 0].push_back(&column.tree);
  const std::size_t count = std::max(part[0].size(), part[1].size());
  for (std::size_t i = 0; i < count; ++i) {
    const RoutedTree& first = *part[0][i % part[0].size()];
    whole.push_back(has_parts() ? joined(first, *part[1][i % part[1].size()]) : first);
  }
  return whole;
}

std::vector<PackedTree> PackingMaster::packed() const {
  std::vector<PackedTree> trees;
  struct Share {
    std::uint32_t column;
    double rate;
  };
  std::array<std::vector<Share>, 2> part;
  for (std::uint32_t column = 0; column < rates_.size(); ++column) {
    if (rates_[column] > 0)
      part[columns_[column].second ? 1 : 0].push_back({column, rates_[column]});
  }
  if (!has_parts()) {
    for (const auto [column, rate] : part[0]) {
      trees.push_back({columns_[column].tree, rate * unit_rate_});
    }
    return trees;
  }
  // Any parts can be combined, so they are paired in order, as by the north-west corner rule of a
  // transport problem. Remainders from rounding are dropped.
  const double rounding = 1e-12 * total_;
  for (std::size_t i = 0, k = 0; i < part[0].size() && k < part[1].size();) {
    Share& first = part[0][i];
    Share& second = part[1][k];
    const double rate = std::min(first.rate, second.rate);
    if (rate > rounding) {
      trees.push_back(
          {joined(columns_[first.column].tree, columns_[second.column].tree), rate * unit_rate_});
    }
    first.rate -= rate;
    second.rate -= rate;
    if (first.rate <= rounding) ++i;
    if (second.rate <= rounding) ++k;
  }
  return trees;
}

void PackingMaster::forget(std::size_t keep, std::size_t timeout) {
  if (columns_.size() <= keep) return;
  std::vector<std::uint32_t> stale;
  for (std::uint32_t column = 0; column < columns_.size(); ++column) {
    if (columns_[column].last_used + timeout < solves_) stale.push_back(column);
  }
  if (stale.empty()) return;
  program_.remove_columns(stale);
  std::size_t kept = 0;
  std::size_t next_stale = 0;
  for (std::uint32_t column = 0; column < columns_.size(); ++column) {
    if (next_stale < stale.size() && stale[next_stale] == column) {
      ++next_stale;
      continue;
    }
    if (kept != column) columns_[kept] = std::move(columns_[column]);
    ++kept;
  }
  columns_.resize(kept);
}

}  // namespace espalier::lp
