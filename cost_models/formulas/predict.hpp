// Formulas of the registry applied: to one case, and over the segment sizes that one may choose.
#pragma once

#include <span>
#include <vector>

#include "cost_models/formulas/registry.hpp"

namespace espalier::cost_models {

// The entry's formula. Throws InputError as formulas.hpp says; std::invalid_argument when
// `parameters` are another model's.
Seconds predict(const FormulaEntry& entry, const Parameters& parameters, const Case& of);

struct Prediction {
  const FormulaEntry* entry = nullptr;
  Case of;  // with the segment that is predicted for; 0: not cut
  Seconds time;
};

// What best_segment chooses from when nothing is said: the whole message, and every power of two
// from 64 bytes that is smaller.
std::vector<Bytes> usual_segments(Bytes message);

// The best of these segment sizes (0: not cut), the first of several as good; for two-tree also of
// its own optimal chunk size. An entry that does not cut is predicted once. Errors as predict;
// InputError for no sizes.
Prediction best_segment(const FormulaEntry& entry, const Parameters& parameters, const Case& of,
                        std::span<const Bytes> segments);

// The best entry of `candidates`, each at its best of these segments; of equal ones the first.
// Errors as best_segment; InputError for no candidates.
Prediction best_of(std::span<const FormulaEntry* const> candidates, const Parameters& parameters,
                   const Case& of, std::span<const Bytes> segments);

}  // namespace espalier::cost_models
