#include "lp/bounds/cut_cover.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace espalier::lp {

double total_of(std::span<const RowValue> values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, const RowValue& one) { return sum + one.value; });
}

std::vector<RowValue> CutCover::rows_of_all(std::span<const std::uint32_t> arcs) {
  std::vector<RowValue> rows;
  for (const std::uint32_t arc : arcs) {
    for (auto use = uses_of(*occupation_, arc); use; ++use) {
      const auto row = static_cast<std::uint32_t>(use.row());
      const bool first = arcs_using_[row]++ == 0;
      least_[row] = first ? use.value() : std::min(least_[row], use.value());
      if (first) rows.push_back({row, 0});
    }
  }
  std::vector<RowValue> of_all;
  for (const RowValue& candidate : rows) {
    const std::uint32_t row = candidate.row;
    if (arcs_using_[row] == arcs.size() && least_[row] > 0) of_all.push_back({row, least_[row]});
    arcs_using_[row] = 0;
  }
  return of_all;
}

std::vector<RowValue> CutCover::prices(std::span<const std::uint32_t> arcs) {
  std::vector<RowValue> prices;
  for (const std::uint32_t arc : arcs) {
    RowValue most{0, 0};
    for (auto use = uses_of(*occupation_, arc); use; ++use) {
      if (use.value() > most.value) most = {static_cast<std::uint32_t>(use.row()), use.value()};
    }
    if (!(most.value > 0)) return {};
    prices.push_back({most.row, 1 / most.value});
  }
  std::ranges::sort(prices, {},
                    [](const RowValue& price) { return std::pair(price.row, -price.value); });
  const auto are_of_one_row = [](const RowValue& a, const RowValue& b) { return a.row == b.row; };
  // The highest price of each row is kept.
  prices.erase(std::unique(prices.begin(), prices.end(), are_of_one_row), prices.end());
  double sum = total_of(prices);
  for (const RowValue& common : rows_of_all(arcs)) {
    if (1 / common.value >= sum) continue;
    sum = 1 / common.value;
    prices = {{common.row, sum}};
  }
  return prices;
}

}  // namespace espalier::lp
