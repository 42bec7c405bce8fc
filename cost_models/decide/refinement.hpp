// Measured decisions from modelled ones: what a model ranks near the top is timed, around its
// switching points only, and the switching points move to where the measured times put them (after
// CM, section 6.3, where figure 6 (a) has the measured decisions and (b) to (d) the models').
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::cost_models {

// A cell is a message size; a method is an index into the caller's list of methods.
struct RefinementCase {
  // predicted[cell][method]; unset: the method does not differ from another one there. At least one
  // cell, each with a predicted time.
  std::vector<std::vector<std::optional<Seconds>>> predicted;
  std::vector<std::size_t> unmodelled{};  // methods that are timed wherever anything is
  // Methods predicted to take at most so many times the least predicted time are timed.
  double within = 1.25;
  std::size_t most = 6;  // of them, those predicted to be the fastest; at least 1
  bool every = false;    // instead, every method is timed in every cell
};

struct RefinedCell {
  std::size_t modelled = 0;  // the least predicted time, the first of equals
  std::size_t chosen = 0;
  // Methods and measured times; empty: not timed, because the choice is the same on both sides.
  std::vector<std::pair<std::size_t, Seconds>> timed{};
};

// A time for each of the methods, in their order, in this cell.
using TimeMethods =
    std::function<std::vector<Seconds>(std::size_t cell, std::span<const std::size_t> methods)>;

// Unless every cell is timed: times the first and the last cell, and those on both sides of the
// model's switching points with the methods of both, and then the middle of any two timed
// neighbours that differ, until cells that are not timed lie between equal ones. The least time is
// chosen; the model's choice if it takes at most 1.02 times as long, so that equally good methods
// do not alternate.
std::vector<RefinedCell> refine(const RefinementCase& of, const TimeMethods& time);

}  // namespace espalier::cost_models
