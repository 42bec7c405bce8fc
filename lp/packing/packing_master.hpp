// The restricted master of the packing: trees found so far x resources overloaded so far. Where
// trees have several parts (PackingProblem::part_arcs), a column is one part, and
//     max sum of the first parts' rates   s.t.   A x <= 1,
//     sum of the first parts' rates = sum of the k-th parts' rates   for every k > 1.
// Where roots are free (PackingProblem::root_arcs), there are such equations for each root.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"
#include "lp/solver/linear_program.hpp"
#include "support/deadline.hpp"

namespace espalier::lp {

class PackingMaster {
 public:
  // unit_rate: rates in the LP are multiples of it, so that its numbers are close to 1. Bytes per
  // second.
  PackingMaster(const PackingProblem& problem, double unit_rate);

  // Adds a tree, or its parts, as columns. false: all are already there.
  bool add_tree(RoutedTree tree);
  // Columns: trees, or parts.
  [[nodiscard]] std::size_t tree_count() const { return columns_.size(); }
  [[nodiscard]] const RoutedTree& tree(std::size_t column) const { return columns_[column].tree; }
  // Whole trees that contain every column at least once.
  [[nodiscard]] std::vector<RoutedTree> whole_trees() const;

  // Solves, adding every resource that the solution overloads and solving again, until no resource
  // is overloaded, or the deadline passes (kLimit).
  LpStatus solve(const Deadline& deadline);

  // Of the last solve. rates: per tree, multiples of unit_rate. prices: per resource.
  [[nodiscard]] double total() const {
    return total_;
  }  // sum of the trees' rates, after scaling to feasibility
  // Whole trees at their rates, bytes per second: no more of them than columns with a rate.
  [[nodiscard]] std::vector<PackedTree> packed() const;
  [[nodiscard]] std::span<const double> rates() const { return rates_; }
  [[nodiscard]] std::span<const double> prices() const { return prices_; }
  [[nodiscard]] std::span<const double> loads() const { return load_; }  // 1: full
  [[nodiscard]] std::size_t solves() const { return solves_; }
  [[nodiscard]] std::size_t row_count() const { return active_.size(); }

  // When there are more than `keep` trees, drops those that have not carried anything for `timeout`
  // solves.
  void forget(std::size_t keep, std::size_t timeout);

 private:
  struct Column {
    RoutedTree tree;
    std::vector<Entry> load;  // resource, A x times unit_rate; ascending
    std::uint64_t hash;
    std::size_t last_used;  // solve in which it was basic
    std::uint32_t part;
    std::uint32_t root;  // its number among the free roots; 0 where there is one
  };
  struct Share {  // of a column with a rate
    std::uint32_t column;
    double rate;
  };
  [[nodiscard]] bool has_parts() const { return parts_ > 1; }
  // The columns with the root and part are `of[root * parts_ + part]`.
  template <class Item>
  using ByRootAndPart = std::vector<std::vector<Item>>;
  template <class Item>
  [[nodiscard]] ByRootAndPart<Item> none_yet() const {
    return ByRootAndPart<Item>(std::size_t{roots_} * parts_);
  }
  [[nodiscard]] std::size_t place_of(const Column& column) const {
    return std::size_t{column.root} * parts_ + column.part;
  }
  bool add_column(RoutedTree tree, std::uint32_t part);
  [[nodiscard]] std::vector<Entry> balance_of(std::uint32_t root, std::uint32_t part) const;
  void pair(std::span<std::vector<Share>> of_part, std::vector<PackedTree>& trees) const;
  [[nodiscard]] RoutedTree joined(std::span<const std::uint32_t> columns) const;
  void activate(std::uint32_t resource);
  [[nodiscard]] std::vector<std::uint32_t> worst_overloaded() const;
  bool activate_overloaded();

  const SparseMatrix* occupation_;
  double unit_rate_;
  std::uint32_t part_arcs_;
  std::uint32_t root_arcs_;
  std::uint32_t parts_;
  std::uint32_t roots_;
  LinearProgram program_{Sense::kMaximise};
  std::vector<Column> columns_;
  std::vector<std::uint32_t>
      active_;  // program row -> resource; kNone for the balance of the parts
  std::vector<std::uint32_t> row_of_;  // resource -> program row
  std::vector<double> load_;           // per resource, of the current solution
  std::vector<double> rates_;
  std::vector<double> prices_;
  std::vector<double> scratch_;
  std::vector<std::uint32_t> touched_;
  double total_ = 0;
  std::size_t solves_ = 0;
};

}  // namespace espalier::lp
