// The terms in which the formulas are written; for the .cpp files of this folder.
#pragma once

#include <algorithm>

#include "cost_models/formulas/formulas.hpp"

namespace espalier::cost_models {

struct Counts {
  double ranks;          // P
  double segments;       // ns
  double half_segments;  // ceil(ns / 2)
  double segment_bytes;  // ms
  double message_bytes;  // m
  double half_bytes;     // the larger half of m
  double share_bytes;    // m / P
  double log_floor;      // floor(log2 P)
  double log_ceil;       // ceil(log2 P)
  double levels;         // levels of a binary tree: ceil(log2(P + 1))
  double compute_s;      // gamma ms
  double compute_all_s;  // gamma m
  bool power_of_two;     // whether P is one
};

// Throws InputError for an invalid case (predict.hpp).
Counts counts_of(const Case& of);

// Throws InputError if `seconds` is not finite.
Seconds finite(double seconds);

// All terms are those of a segment, and `half_...` those of the larger half of the message.
// `model` is for messages of other sizes.
struct HockneyTerms {
  double alpha;
  double message;  // alpha + ms beta
  double half_message;
  const Hockney* model;
};
inline double message_s(const Hockney& model, double bytes) {
  return model.alpha_s.at(bytes) + bytes * model.beta_s_per_byte.at(bytes);
}
inline HockneyTerms terms(const Hockney& model, const Counts& n) {
  return {model.alpha_s.at(n.segment_bytes), message_s(model, n.segment_bytes),
          message_s(model, n.half_bytes), &model};
}

struct LogGPTerms {
  double latency;   // L
  double overhead;  // o
  double gap;       // g
  double per_byte;  // G
  double bytes;     // (ms - 1) G, 0 for an empty message
  double half_bytes;
};
inline LogGPTerms terms(const LogGP& model, const Counts& n) {
  const double per_byte = model.gap_per_byte.value;
  return {model.latency.value,
          model.overhead.value,
          model.gap.value,
          per_byte,
          std::max(n.segment_bytes - 1, 0.0) * per_byte,
          std::max(n.half_bytes - 1, 0.0) * per_byte};
}

struct PLogPTerms {
  double latency;  // L
  double gap;      // g(ms)
  double send;     // os(ms)
  double receive;  // or(ms)
  double half_gap;
  const PLogP* model;
};
inline PLogPTerms terms(const PLogP& model, const Counts& n) {
  return {model.latency.value,
          model.gap_s.at(n.segment_bytes),
          model.send_overhead_s.at(n.segment_bytes),
          model.receive_overhead_s.at(n.segment_bytes),
          model.gap_s.at(n.half_bytes),
          &model};
}

// Two trees (two_tree.hpp).
inline double two_tree_s(const LogGPTerms& t, const Counts& n) {
  const double hop = t.latency + 3 * t.overhead;
  return hop + n.message_bytes * t.per_byte +
         n.log_ceil * (hop + n.segment_bytes * t.per_byte / 2) +
         n.segments * std::max(t.gap, t.overhead);
}
inline double two_tree_reduce_s(const LogGPTerms& t, const Counts& n) {
  return two_tree_s(t, n) + n.compute_all_s + n.log_ceil * n.compute_s;
}
inline double two_tree_allreduce_s(const LogGPTerms& t, const Counts& n) {
  return two_tree_reduce_s(t, n) + two_tree_s(t, n);
}

}  // namespace espalier::cost_models
