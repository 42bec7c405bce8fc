// CM, table 4.
#include "cost_models/formulas/formulas.hpp"
#include "cost_models/formulas/terms.hpp"

namespace espalier::cost_models {

namespace {

// The number of sends on the critical path of a linear alltoall. Rank i sends its segments round
// robin, and rank i + 1 begins when it has received its last segment, which is send number
// (ns - 1) (P - 1) + i + 1 of rank i. The last rank sends all ns (P - 1) segments.
double linear_sends(const Counts& n) {
  return (n.ranks - 1) * (n.segments * n.ranks + 1 - n.ranks / 2);
}

}  // namespace

// The printed row has alpha instead of the time of a message, as if segments had no bytes: 0010.
Seconds alltoall_linear(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return linear_sends(n) * message_s(m, n.segment_bytes);
  });
}
Seconds alltoall_linear(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    return n.ranks * (t.latency + 2 * t.overhead) + linear_sends(n) * (t.gap + t.bytes);
  });
}
Seconds alltoall_linear(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    return n.ranks * t.latency + linear_sends(n) * t.gap;
  });
}

Seconds alltoall_pairwise(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return (n.ranks - 1) * message_s(m, n.message_bytes);
  });
}
Seconds alltoall_pairwise(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.message_bytes);
    return (n.ranks - 1) * (t.latency + t.overhead + t.bytes + t.gap);
  });
}
Seconds alltoall_pairwise(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    return (n.ranks - 1) * (m.latency.value + m.gap_s.at(n.message_bytes));
  });
}

}  // namespace espalier::cost_models
