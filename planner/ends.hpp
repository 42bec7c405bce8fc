// How each stage of an algorithm ended. Exit status, warning and the word "bound" follow from it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier::planner {

// How one stage ended; the later, the worse.
enum class Termination : std::uint8_t {
  kDone,
  kTreeLimit,  // done; max_trees, max_depth or max_latency keeps the throughput below the bound
  kStalled,    // no numerical progress is possible; what it found is valid
  kTimeLimit,  // the deadline cut it short; what it found until then is valid
};

// kDone where an algorithm does not have the stage.
struct Ends {
  Termination packing = Termination::kDone;  // the packing LP, up to the gap: trees and bound
  Termination proof = Termination::kDone;    // of exact-tree: that no single tree is better
  Termination few = Termination::kDone;      // the search for few trees, of low out-degree
  Termination shallow = Termination::kDone;  // the search for trees of little depth or latency
  Termination search = Termination::kDone;   // making, or searching for, a single tree

  [[nodiscard]] Termination worst() const {
    return std::max({packing, proof, few, shallow, search});
  }
  // false: more time might have lowered the bound.
  [[nodiscard]] bool is_bound_final() const { return packing == Termination::kDone; }
  // Of a result that has both as parts: each stage as the worse of the two.
  [[nodiscard]] Ends with(const Ends& other) const {
    return {std::max(packing, other.packing), std::max(proof, other.proof),
            std::max(few, other.few), std::max(shallow, other.shallow),
            std::max(search, other.search)};
  }
};

}  // namespace espalier::planner
