// CM, table 3.
#include <algorithm>

#include "cost_models/formulas/formulas.hpp"
#include "cost_models/formulas/terms.hpp"

namespace espalier::cost_models {

namespace {

// The time to receive and combine a segment.
double combined_s(const PLogPTerms& t, const Counts& n) {
  return std::max(t.gap, t.receive + n.compute_s);
}
double combined_s(const Hockney& m, const Counts& n) {
  return message_s(m, n.segment_bytes) + n.compute_s;
}

}  // namespace

Seconds reduce_flat_tree(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return n.segments * (n.ranks - 1) * combined_s(m, n);
  });
}
Seconds reduce_flat_tree(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    return t.overhead + t.bytes + t.latency +
           n.segments * std::max(t.gap, (n.ranks - 1) * (t.overhead + t.bytes + n.compute_s));
  });
}
Seconds reduce_flat_tree(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    return t.latency + (n.ranks - 1) * n.segments * combined_s(t, n);
  });
}

Seconds reduce_pipeline(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return (n.ranks + n.segments - 2) * combined_s(m, n);
  });
}
Seconds reduce_pipeline(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    const double hop = 2 * t.overhead + t.bytes + n.compute_s;
    return (n.ranks - 1) * (t.latency + hop) + (n.segments - 1) * std::max(t.gap, hop);
  });
}
Seconds reduce_pipeline(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    return (n.ranks - 1) * (t.latency + combined_s(t, n)) +
           (n.segments - 1) * (combined_s(t, n) + t.send);
  });
}

Seconds reduce_binomial(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return n.segments * n.log_ceil * combined_s(m, n);
  });
}
// The printed row lacks the bracket around the factor of ceil(log2 P): 0010.
Seconds reduce_binomial(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    return n.log_ceil * (t.overhead + t.latency +
                         n.segments * (t.bytes + std::max(t.gap, t.overhead + n.compute_s)));
  });
}
Seconds reduce_binomial(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    return n.log_ceil *
           (t.latency + n.segments * std::max(t.gap, t.receive + n.compute_s + t.send));
  });
}

Seconds reduce_binary(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return 2 * (n.levels + n.segments - 2) * combined_s(m, n);
  });
}
// With the printed brackets every level repeats all segments, which is not a pipeline: 0010.
Seconds reduce_binary(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    const double work = 3 * t.overhead + 2 * n.compute_s;
    return (n.levels - 1) * (t.latency + t.bytes + work) +
           (n.segments - 1) * (t.bytes + std::max(t.gap, work));
  });
}
Seconds reduce_binary(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    return (n.levels - 1) * (t.latency + 2 * combined_s(t, n)) +
           (n.segments - 1) * (t.send + 2 * combined_s(t, n));
  });
}

}  // namespace espalier::cost_models
