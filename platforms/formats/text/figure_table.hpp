// Square tables of figures between nodes, as benchmarks print them: row i and column i are the same
// node. Not installed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::platforms {

// What people and programs write where there is no link or nothing was measured: an empty cell, 0,
// "-", "nan", "n/a" and their like.
bool says_nothing(std::string_view cell);

// What a table measures: how many bytes per second, or seconds, a figure of 1 is, and what the
// product must be.
struct FigureUnit {
  double factor;
  void (*require)(double value);  // throws InputError (reason only)
};
FigureUnit rates_in(BytesPerSecond unit);  // finite, positive
FigureUnit durations_in(Seconds unit);     // finite, not negative

class FigureTable {
 public:
  // Of `size` rows and columns, no row there yet.
  FigureTable(std::size_t size, FigureUnit unit) : size_(size), unit_(unit) {}

  // Throws InputError (reason only): not `size` cells, one that is neither a number nor says
  // nothing, a figure that the unit does not allow, a row too many. The diagonal may hold anything.
  void add_row(std::span<const std::string_view> cells);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] bool complete() const { return rows_ == size_; }
  // In bytes per second, or seconds; unset: nothing was measured, or row and column are one.
  // Both are below rows() and size().
  [[nodiscard]] std::optional<double> at(std::size_t row, std::size_t column) const {
    return cells_[row * size_ + column];
  }
  // Whether row or column `node` has any figure; the table is complete.
  [[nodiscard]] bool has_any(std::size_t node) const;

 private:
  std::size_t size_;
  FigureUnit unit_;
  std::size_t rows_ = 0;
  std::vector<std::optional<double>> cells_;
};

// The links that tables of figures say.
struct TableLinks {
  const FigureTable& bandwidths;           // complete
  const FigureTable* latencies = nullptr;  // complete, of the same size; null: there are none
  bool columns_send = false;               // a figure is of column to row
};
struct LinkCounts {
  std::size_t unlinked = 0;         // pairs without a bandwidth
  std::size_t without_latency = 0;  // links whose latency was looked for and is not there
};
// Adds a link for every bandwidth between two of `nodes`, which are those of the rows (unset: left
// out, and not counted).
LinkCounts add_links(const TableLinks& tables, std::span<const std::optional<NodeId>> nodes,
                     PlatformBuilder& builder);

// Adds hosts "GPU0", "GPU1", ... and returns them, as add_links takes them.
std::vector<std::optional<NodeId>> add_gpus(std::size_t count, PlatformBuilder& builder);

// More columns than any machine has GPUs; a longer line is not taken for a table's.
inline constexpr std::size_t kMostColumns = 10'000;
// Whether `words` are "0", "1", "2" and so on: the columns of such a table.
bool count_up(std::span<const std::string_view> words);
// Adds the words after the first as a row when the first is the number of the row that comes next;
// false: the table ends here. Throws as add_row does.
bool add_numbered_row(FigureTable& table, std::span<const std::string_view> words);

// Which of `names` `text` means: the one it is, else the only one that contains it. Throws
// InputError (reason only) with the names there are; `what` is what they name ("table").
std::size_t index_of_name(std::span<const std::string> names, std::string_view text,
                          std::string_view what);

}  // namespace espalier::platforms
