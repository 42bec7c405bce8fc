// The terms in which the formulas are written; for the .cpp files of this folder.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cost_models/formulas/formulas.hpp"

namespace espalier::cost_models {

// CM's symbols, in seconds and bytes.
struct Counts {
  double ranks;          // P
  double segments;       // ns
  double segment_bytes;  // ms
  double message_bytes;  // m
  double half_bytes;     // the larger half of m
  double log_floor;      // floor(log2 P)
  double log_ceil;       // ceil(log2 P)
  double levels;         // levels of a binary tree: ceil(log2(P + 1))
  double compute_s;      // gamma ms
  bool power_of_two;     // whether P is one
};

// Throws InputError for an invalid case (formulas.hpp).
Counts counts_of(const Case& of);

// Throws InputError if `seconds` is not finite.
Seconds finite(double seconds);

// Checks the arguments and returns 0 for one rank; otherwise `formula`, which is called with the
// model and the counts and returns seconds.
template <typename Model, typename Formula>
Seconds predict_by(const Model& model, const Case& of, Formula formula) {
  check(model);
  const Counts counts = counts_of(of);
  if (of.ranks == 1) return {};
  return finite(formula(model, counts));
}

// The time of a message of `bytes` bytes.
inline double message_s(const Hockney& model, double bytes) {
  return model.alpha_s.at(bytes) + bytes * model.beta_s_per_byte.at(bytes);
}

// LogGP's symbols at a message size.
struct LogGPTerms {
  double latency;   // L
  double overhead;  // o
  double gap;       // g
  double bytes;     // (m - 1) G, 0 for an empty message
};
inline LogGPTerms terms(const LogGP& model, double bytes) {
  return {model.latency.value, model.overhead.value, model.gap.value,
          std::max(bytes - 1, 0.0) * model.gap_per_byte.value};
}

// PLogP's symbols at a message size.
struct PLogPTerms {
  double latency;  // L
  double gap;      // g(m)
  double send;     // os(m)
  double receive;  // or(m)
};
inline PLogPTerms terms(const PLogP& model, double bytes) {
  return {model.latency.value, model.gap_s.at(bytes), model.send_overhead_s.at(bytes),
          model.receive_overhead_s.at(bytes)};
}

}  // namespace espalier::cost_models
