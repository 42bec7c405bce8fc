// Applies formulas of the registry: to one case, and to choose the best segment size.
#pragma once

#include <span>
#include <vector>

#include "cost_models/formulas/formulas.hpp"

namespace espalier::cost_models {

// The time by the entry's formula, from the call until the last rank is done; 0 for one rank.
// Throws InputError for 0 ranks or more than kMaxRanks, a computation time or parameter that is
// negative or not finite, and a result that overflows; std::invalid_argument if `parameters` are of
// another model.
Seconds predict(const FormulaEntry& entry, const Parameters& parameters, const Case& of);

struct Prediction {
  const FormulaEntry* entry = nullptr;
  Case of;  // with the segment size of this prediction; 0: not cut
  Seconds time;
};

// The default sizes for best_segment: 0 (not cut), and every power of two from 64 bytes to below
// the message size.
std::vector<Bytes> usual_segments(Bytes message);

// The best of these segment sizes (0: not cut), the first of equally good ones. For two-tree, its
// optimal chunk size is tried as well. An entry that does not use segments is predicted once.
// Errors as predict; InputError for no sizes.
Prediction best_segment(const FormulaEntry& entry, const Parameters& parameters, const Case& of,
                        std::span<const Bytes> segments);

}  // namespace espalier::cost_models
