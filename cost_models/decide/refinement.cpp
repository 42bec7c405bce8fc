#include "cost_models/decide/refinement.hpp"

#include <algorithm>

namespace espalier::cost_models {
namespace {

constexpr double kAsGood = 1.02;

class Refinement {
 public:
  Refinement(const RefinementCase& of, const TimeMethods& time)
      : of_(of), time_(time), cells_(of.predicted.size()) {
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      cells_[cell].modelled = near_the_top(cell).front();
    }
  }

  std::vector<RefinedCell> run() {
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      const bool is_end = cell == 0 || cell + 1 == cells_.size();
      const bool after = cell > 0 && switches(cell - 1);
      const bool before = cell + 1 < cells_.size() && switches(cell);
      if (!of_.every && !is_end && !after && !before) continue;
      std::vector<std::size_t> across;  // what the model chooses beyond a switching point
      if (after) across.push_back(cells_[cell - 1].modelled);
      if (before) across.push_back(cells_[cell + 1].modelled);
      time_cell(cell, across);
    }
    std::size_t left = 0;
    while (left + 1 < cells_.size()) {
      const std::size_t right = next_timed(left);
      if (right == left + 1 || cells_[left].chosen == cells_[right].chosen) {
        for (std::size_t cell = left + 1; cell < right; ++cell) {
          cells_[cell].chosen = cells_[left].chosen;
        }
        left = right;
      } else {
        time_cell(left + (right - left) / 2, {cells_[left].chosen, cells_[right].chosen});
      }
    }
    return std::move(cells_);
  }

 private:
  // The methods that are predicted to be among the fastest, the fastest first.
  [[nodiscard]] std::vector<std::size_t> near_the_top(std::size_t cell) const {
    const std::vector<std::optional<Seconds>>& predicted = of_.predicted[cell];
    std::vector<std::size_t> methods;
    for (std::size_t method = 0; method < predicted.size(); ++method) {
      if (predicted[method]) methods.push_back(method);
    }
    std::ranges::stable_sort(methods, {}, [&](std::size_t i) { return predicted[i]->value; });
    if (of_.every) return methods;
    const double most = of_.within * predicted[methods.front()]->value;
    std::erase_if(methods, [&](std::size_t i) { return predicted[i]->value > most; });
    methods.resize(std::min(methods.size(), of_.most));
    return methods;
  }

  // Whether the model's choice differs between a cell and the next.
  [[nodiscard]] bool switches(std::size_t cell) const {
    return cells_[cell].modelled != cells_[cell + 1].modelled;
  }

  [[nodiscard]] std::size_t next_timed(std::size_t cell) const {
    do ++cell;
    while (cells_[cell].timed.empty());
    return cell;
  }

  // Times what is near the top, what is chosen in neighbours, and what has no model.
  void time_cell(std::size_t cell, const std::vector<std::size_t>& neighbours) {
    std::vector<std::size_t> methods = near_the_top(cell);
    const auto add = [&](std::size_t method) {
      if (std::ranges::count(methods, method) == 0) methods.push_back(method);
    };
    for (const std::size_t method : neighbours) {
      if (of_.predicted[cell][method]) add(method);
    }
    std::ranges::for_each(of_.unmodelled, add);
    const std::vector<Seconds> times = time_(cell, methods);
    RefinedCell& refined = cells_[cell];
    for (std::size_t i = 0; i < methods.size(); ++i) {
      refined.timed.emplace_back(methods[i], times[i]);
    }
    const auto best = std::ranges::min_element(
        refined.timed, {}, [](const auto& timed) { return timed.second.value; });
    // The model's choice is the first.
    const bool is_as_good = times.front().value <= kAsGood * best->second.value;
    refined.chosen = is_as_good ? methods.front() : best->first;
  }

  const RefinementCase& of_;
  const TimeMethods& time_;
  std::vector<RefinedCell> cells_;
};

}  // namespace

std::vector<RefinedCell> refine(const RefinementCase& of, const TimeMethods& time) {
  return Refinement(of, time).run();
}

}  // namespace espalier::cost_models
