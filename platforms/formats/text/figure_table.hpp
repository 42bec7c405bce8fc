// Square tables of values between nodes, as printed by benchmarks: row i and column i are the same
// node. Not installed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/formats/readers.hpp"

namespace espalier::platforms {

// Whether a cell means that there is no link or no measurement: empty, 0, "-", "nan", "n/a" and
// variants.
bool is_missing(std::string_view cell);

// The unit of a table: bytes per second, or seconds, for a value of 1, and a check of the product.
struct FigureUnit {
  double factor;
  void (*require)(double value);  // throws InputError (reason only)
};
FigureUnit rates_in(BytesPerSecond unit);  // finite, positive
FigureUnit durations_in(Seconds unit);     // finite, not negative

class FigureTable {
 public:
  // For `size` rows and columns; has no rows yet.
  FigureTable(std::size_t size, FigureUnit unit) : size_(size), unit_(unit) {}

  // Throws InputError (reason only) if there are not `size` cells, a cell is neither a number nor
  // missing, a value is out of range for the unit, or there are too many rows. The diagonal is
  // ignored.
  void add_row(std::span<const std::string_view> cells);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] bool complete() const { return rows_ == size_; }
  // In bytes per second, or seconds; unset: not measured, or on the diagonal. row < rows(),
  // column < size().
  [[nodiscard]] std::optional<double> at(std::size_t row, std::size_t column) const {
    return cells_[row * size_ + column];
  }
  // Whether row or column `node` has a value; the table must be complete.
  [[nodiscard]] bool has_any(std::size_t node) const;

 private:
  std::size_t size_;
  FigureUnit unit_;
  std::size_t rows_ = 0;
  std::vector<std::optional<double>> cells_;
};

// Tables from which links are made.
struct TableLinks {
  const FigureTable& bandwidths;           // complete
  const FigureTable* latencies = nullptr;  // complete, of the same size; null: none
  bool columns_send = false;               // values are for the direction from column to row
};
struct LinkCounts {
  std::size_t unlinked = 0;         // pairs without a bandwidth
  std::size_t without_latency = 0;  // links without a value in `latencies`
};
// Adds a link for every bandwidth between two of `nodes`, the nodes of the rows (unset: left out
// and not counted).
LinkCounts add_links(const TableLinks& tables, std::span<const std::optional<NodeId>> nodes,
                     PlatformBuilder& builder);

// A table of GPUs and what it is called in messages.
struct GpuTable {
  std::string label;
  const FigureTable& table;

  // Throws InputError if there are fewer rows than columns.
  void require_complete(const Source& source) const;
};
// The platform of hosts "GPU0", "GPU1", ... latencies: null: none.
Platform gpu_platform(const GpuTable& bandwidths, const GpuTable* latencies, bool columns_send,
                      Source& source);

// Limit on columns, above the number of GPUs of any machine; longer lines are not part of a table.
inline constexpr std::size_t kMostColumns = 10'000;
// Whether `words` are "0", "1", "2", ...: the column headings of such a table.
bool count_up(std::span<const std::string_view> words);
// Adds the words after the first as a row if the first is the number of the next row; false: the
// table ends here. Throws like add_row().
bool add_numbered_row(FigureTable& table, std::span<const std::string_view> words);

// The index of the name equal to `text`, otherwise of the only name that contains it. Throws
// InputError (reason only) that lists the names; `what` is what they name ("table").
std::size_t index_of_name(std::span<const std::string> names, std::string_view text,
                          std::string_view what);

}  // namespace espalier::platforms
