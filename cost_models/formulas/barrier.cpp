// CM, table 1. Messages are empty.
#include "cost_models/formulas/formulas.hpp"
#include "cost_models/formulas/terms.hpp"

namespace espalier::cost_models {

namespace {

double doubling_steps(const Counts& n) {
  return n.power_of_two ? n.log_floor : n.log_floor + 2;
}

// A step of a barrier in lock step: double ring, recursive doubling, Bruck.
double step_s(const Hockney& model) {
  return model.alpha_s.at(0);
}
double step_s(const LogGP& model) {
  const LogGPTerms t = terms(model, 0);
  return t.latency + t.overhead + t.gap;
}
double step_s(const PLogP& model) {
  return model.latency.value + model.gap_s.at(0);
}

}  // namespace

// Printed as (P - 1) alpha. That omits the reports to the root, which CM's text and the other two
// rows count as one message: 0010.
Seconds barrier_flat_tree(const Hockney& model, const Case& of) {
  return predict_by(model, of,
                    [](const Hockney& m, const Counts& n) { return n.ranks * step_s(m); });
}
Seconds barrier_flat_tree(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, 0);
    return (n.ranks - 2) * t.gap + 2 * (t.latency + 2 * t.overhead);
  });
}
Seconds barrier_flat_tree(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, 0);
    return n.ranks * t.gap + 2 * t.latency;
  });
}
Seconds barrier_flat_tree_worst(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, 0);
    return (n.ranks - 2) * (t.gap + t.overhead) + 2 * (t.latency + 2 * t.overhead);
  });
}
Seconds barrier_flat_tree_worst(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, 0);
    return n.ranks * (t.gap + t.receive) + 2 * (t.latency - t.receive);
  });
}

Seconds barrier_double_ring(const Hockney& model, const Case& of) {
  return predict_by(model, of,
                    [](const Hockney& m, const Counts& n) { return 2 * n.ranks * step_s(m); });
}
Seconds barrier_double_ring(const LogGP& model, const Case& of) {
  return predict_by(model, of,
                    [](const LogGP& m, const Counts& n) { return 2 * n.ranks * step_s(m); });
}
Seconds barrier_double_ring(const PLogP& model, const Case& of) {
  return predict_by(model, of,
                    [](const PLogP& m, const Counts& n) { return 2 * n.ranks * step_s(m); });
}

Seconds barrier_recursive_doubling(const Hockney& model, const Case& of) {
  return predict_by(
      model, of, [](const Hockney& m, const Counts& n) { return doubling_steps(n) * step_s(m); });
}
Seconds barrier_recursive_doubling(const LogGP& model, const Case& of) {
  return predict_by(model, of,
                    [](const LogGP& m, const Counts& n) { return doubling_steps(n) * step_s(m); });
}
Seconds barrier_recursive_doubling(const PLogP& model, const Case& of) {
  return predict_by(model, of,
                    [](const PLogP& m, const Counts& n) { return doubling_steps(n) * step_s(m); });
}

Seconds barrier_bruck(const Hockney& model, const Case& of) {
  return predict_by(model, of,
                    [](const Hockney& m, const Counts& n) { return n.log_ceil * step_s(m); });
}
Seconds barrier_bruck(const LogGP& model, const Case& of) {
  return predict_by(model, of,
                    [](const LogGP& m, const Counts& n) { return n.log_ceil * step_s(m); });
}
Seconds barrier_bruck(const PLogP& model, const Case& of) {
  return predict_by(model, of,
                    [](const PLogP& m, const Counts& n) { return n.log_ceil * step_s(m); });
}

}  // namespace espalier::cost_models
