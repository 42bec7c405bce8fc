// Prices that grow with the load of the trees made so far.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/packing/arborescence_packing.hpp"

namespace espalier::lp {

// Multiplicative weights of the resources (Plotkin, Shmoys, Tardos, Math. Oper. Res. 20, 1995,
// doi:10.1287/moor.20.2.257): proportional to exp(step * load so far).
class MultiplicativeWeights {
 public:
  // start: logarithms of the first weights, one per resource.
  MultiplicativeWeights(std::vector<double> start, double step)
      : step_(step), exponent_(std::move(start)), weight_(exponent_.size()) {}

  // load * scale should be near 1 on a full resource; far larger values are capped.
  void add(std::span<const double> load, double scale);
  // Sum 1. Valid until the next call.
  std::span<const double> normalised();

 private:
  double step_;
  std::vector<double> exponent_;
  std::vector<double> weight_;
};

// Logarithms of the first prices. They reflect how much each resource can carry in total: a
// resource of many arcs (a port), by the bytes per second that it carries on average over its arcs.
// A resource of one arc (a link) alone limits little and starts at e^-6 of that. With every sender
// saturated, as on clusters of heterogeneous senders, these prices are the optimal ones. arcs: per
// resource, how many arcs occupy it.
std::vector<double> first_weights(const SparseMatrix& occupation,
                                  std::span<const std::uint32_t> arcs);

}  // namespace espalier::lp
