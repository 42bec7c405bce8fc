#include "lp/packing/packing_master.hpp"

#include <algorithm>
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

}  // namespace

PackingMaster::PackingMaster(const PackingProblem& problem, double unit_rate)
    : occupation_(&problem.occupation),
      unit_rate_(unit_rate),
      part_arcs_(problem.part_arcs),
      root_arcs_(problem.root_arcs),
      parts_(part_count(problem)),
      roots_(std::max<std::uint32_t>(root_arcs_, 1)),
      row_of_(static_cast<std::size_t>(occupation_->rows()), kInactive),
      load_(row_of_.size(), 0.0),
      prices_(row_of_.size(), 0.0),
      scratch_(row_of_.size(), 0.0) {
  for (std::uint32_t row = 0; row < roots_ * (parts_ - 1); ++row) {
    program_.add_row({0, 0});
    active_.push_back(kInactive);
  }
}

// Row root * (parts - 1) + k - 1 balances the first part and that of number k.
std::vector<Entry> PackingMaster::balance_of(std::uint32_t root, std::uint32_t part) const {
  const std::uint32_t first = root * (parts_ - 1);
  if (part > 0) return {{first + part - 1, -1.0}};
  std::vector<Entry> entries;
  for (std::uint32_t other = 1; other < parts_; ++other)
    entries.push_back({first + other - 1, 1.0});
  return entries;
}

bool PackingMaster::add_tree(RoutedTree tree) {
  if (!has_parts()) return add_column(std::move(tree), 0);
  std::vector<RoutedTree> parts(parts_);
  for (std::size_t edge = 0; edge < tree.edge_count(); ++edge) {
    const auto path = tree.path(edge);
    RoutedTree& part = parts[path.front() / part_arcs_];
    part.add_edge(path);
    if (!tree.amounts.empty()) part.amounts.push_back(tree.amounts[edge]);
  }
  bool any_is_new = false;
  for (std::uint32_t part = 0; part < parts_; ++part) {
    any_is_new = add_column(std::move(parts[part]), part) || any_is_new;
  }
  return any_is_new;
}

bool PackingMaster::add_column(RoutedTree tree, std::uint32_t part) {
  const std::uint64_t hash = hash_of(tree);
  for (const Column& column : columns_) {
    if (column.hash == hash && column.tree == tree) return false;
  }
  const int* first = occupation_->outerIndexPtr();
  const int* row = occupation_->innerIndexPtr();
  const double* value = occupation_->valuePtr();
  touched_.clear();
  for (std::size_t at = 0; at < tree.arcs.size(); ++at) {
    const std::uint32_t arc = tree.arcs[at];
    for (int i = first[arc]; i < first[arc + 1]; ++i) {
      const auto resource = static_cast<std::uint32_t>(row[i]);
      if (scratch_[resource] == 0) touched_.push_back(resource);
      scratch_[resource] += value[i] * tree.amount(at) * unit_rate_;
    }
  }
  std::sort(touched_.begin(), touched_.end());
  const std::uint32_t root = free_root_of(tree, part_arcs_, root_arcs_);
  Column column{std::move(tree), {}, hash, solves_, part, root};
  column.load.reserve(touched_.size());
  std::uint32_t busiest = kInactive;
  for (const std::uint32_t resource : touched_) {
    column.load.push_back({resource, scratch_[resource]});
    if (busiest == kInactive || scratch_[resource] > scratch_[busiest]) busiest = resource;
  }
  for (const std::uint32_t resource : touched_) scratch_[resource] = 0;
  // Every column needs a row, or else the master would be unbounded.
  if (busiest != kInactive && row_of_[busiest] == kInactive) activate(busiest);

  std::vector<Entry> entries = balance_of(root, part);
  for (const Entry& entry : column.load) {
    if (row_of_[entry.index] != kInactive) entries.push_back({row_of_[entry.index], entry.value});
  }
  program_.add_column({0, kInfinity}, part == 0 ? 1.0 : 0.0, entries);
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

// Resources without a row that the solution overloads; where they are many more than the columns,
// which is how many can be full at a basic solution, those with the largest loads.
std::vector<std::uint32_t> PackingMaster::worst_overloaded() const {
  constexpr std::size_t kMany = 4;  // rows at a time, for each column
  constexpr std::size_t kFew = 256;
  std::vector<std::uint32_t> found;
  for (std::uint32_t resource = 0; resource < load_.size(); ++resource) {
    if (load_[resource] > 1 + kOverload && row_of_[resource] == kInactive) {
      found.push_back(resource);
    }
  }
  const std::size_t most = std::max(kFew, kMany * columns_.size());
  if (found.size() <= most) return found;
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(columns_.size());
  std::ranges::nth_element(found, end, [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(-load_[a], a) < std::pair(-load_[b], b);
  });
  found.erase(end, found.end());
  std::ranges::sort(found);
  return found;
}

// Sets rates_, load_ and total_ from the program's solution; true: rows were added.
bool PackingMaster::activate_overloaded() {
  rates_.assign(columns_.size(), 0.0);
  std::fill(load_.begin(), load_.end(), 0.0);
  std::vector<double> sum(std::size_t{roots_} * parts_, 0.0);
  for (std::uint32_t column = 0; column < columns_.size(); ++column) {
    const double rate = program_.value(column);
    if (program_.is_basic(column)) columns_[column].last_used = solves_;
    if (!(rate > 0)) continue;
    rates_[column] = rate;
    sum[place_of(columns_[column])] += rate;
    for (const Entry& entry : columns_[column].load) load_[entry.index] += rate * entry.value;
  }
  const std::vector<std::uint32_t> overloaded = worst_overloaded();
  for (const std::uint32_t resource : overloaded) activate(resource);
  const double busiest = *std::ranges::max_element(load_);
  total_ = 0;
  for (auto first = sum.begin(); first != sum.end(); first += parts_) {
    total_ += *std::min_element(first, first + parts_);
  }
  if (busiest > 1) {
    for (double& rate : rates_) rate /= busiest;
    total_ /= busiest;
  }
  return !overloaded.empty();
}

// The trees of these columns as one.
RoutedTree PackingMaster::joined(std::span<const std::uint32_t> columns) const {
  if (columns.size() == 1) return columns_[columns.front()].tree;
  RoutedTree whole;
  for (const std::uint32_t column : columns)
    whole.append(columns_[column].tree, [](std::uint32_t arc) { return arc; });
  return whole;
}

std::vector<RoutedTree> PackingMaster::whole_trees() const {
  auto of = none_yet<std::uint32_t>();
  for (std::uint32_t column = 0; column < columns_.size(); ++column) {
    of[place_of(columns_[column])].push_back(column);
  }
  std::vector<RoutedTree> whole;
  std::vector<std::uint32_t> columns(parts_);
  for (auto parts = of.begin(); parts != of.end(); parts += parts_) {
    const auto size = [](const auto& list) { return list.size(); };
    const std::span of_part(parts, parts_);
    if (std::ranges::min(of_part, {}, size).empty()) continue;
    const std::size_t count = std::ranges::max(of_part, {}, size).size();
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint32_t part = 0; part < parts_; ++part) {
        columns[part] = of_part[part][i % of_part[part].size()];
      }
      whole.push_back(joined(columns));
    }
  }
  return whole;
}

std::vector<PackedTree> PackingMaster::packed() const {
  auto of = none_yet<Share>();
  for (std::uint32_t column = 0; column < rates_.size(); ++column) {
    if (rates_[column] > 0) of[place_of(columns_[column])].push_back({column, rates_[column]});
  }
  std::vector<PackedTree> trees;
  if (!has_parts()) {
    for (const auto [column, rate] : of.front()) {
      trees.push_back({columns_[column].tree, rate * unit_rate_});
    }
    return trees;
  }
  for (auto parts = of.begin(); parts != of.end(); parts += parts_) pair({parts, parts_}, trees);
  return trees;
}

// Any parts can be combined, so they are paired in order, as by the north-west corner rule of a
// transport problem. Remainders from rounding are dropped.
void PackingMaster::pair(std::span<std::vector<Share>> of_part,
                         std::vector<PackedTree>& trees) const {
  const double rounding = 1e-12 * total_;
  std::vector<std::size_t> next(parts_, 0);
  std::vector<std::uint32_t> columns(parts_);
  for (;;) {
    double rate = kInfinity;
    for (std::uint32_t part = 0; part < parts_; ++part) {
      if (next[part] == of_part[part].size()) return;
      columns[part] = of_part[part][next[part]].column;
      rate = std::min(rate, of_part[part][next[part]].rate);
    }
    if (rate > rounding) trees.push_back({joined(columns), rate * unit_rate_});
    for (std::uint32_t part = 0; part < parts_; ++part) {
      Share& share = of_part[part][next[part]];
      share.rate -= rate;
      if (share.rate <= rounding) ++next[part];
    }
  }
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
