// CM, table 2.
#include <algorithm>
#include <cmath>

#include "cost_models/formulas/formulas.hpp"
#include "cost_models/formulas/terms.hpp"

namespace espalier::cost_models {

namespace {

// Split-binary sends halves, so a segment is at most one half of the message. With such segments a
// half has ceil(ns / 2) of them, as printed.
Case halves_cut(Case of) {
  const Bytes half{of.message.value - of.message.value / 2};
  of.segment = segment_of(of);
  of.segment = std::min(of.segment, half);
  return of;
}
double segments_a_half(const Counts& n) {
  return std::ceil(n.segments / 2);
}

// The time of a segment at an inner node of a binary tree: two sends, or a receive and two sends
// one after another.
double period_s(const PLogPTerms& t) {
  return std::max(2 * t.gap, t.receive + t.gap + t.send);
}

}  // namespace

Seconds broadcast_linear(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return n.segments * (n.ranks - 1) * message_s(m, n.segment_bytes);
  });
}
Seconds broadcast_linear(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    return t.latency + 2 * t.overhead - t.gap + n.segments * (n.ranks - 1) * (t.bytes + t.gap);
  });
}
Seconds broadcast_linear(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    return t.latency + n.segments * (n.ranks - 1) * t.gap;
  });
}

Seconds broadcast_pipeline(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return (n.ranks + n.segments - 2) * message_s(m, n.segment_bytes);
  });
}
Seconds broadcast_pipeline(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    return (n.ranks - 1) * (t.latency + 2 * t.overhead + t.bytes) +
           (n.segments - 1) * (t.gap + t.bytes);
  });
}
Seconds broadcast_pipeline(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    return (n.ranks - 1) * (t.latency + t.gap) + (n.segments - 1) * t.gap;
  });
}

Seconds broadcast_binomial(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return n.log_ceil * n.segments * message_s(m, n.segment_bytes);
  });
}
Seconds broadcast_binomial(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    return n.log_ceil *
           (t.latency + 2 * t.overhead + t.bytes + (n.segments - 1) * (t.gap + t.bytes));
  });
}
Seconds broadcast_binomial(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    return n.log_ceil * (t.latency + n.segments * t.gap);
  });
}

Seconds broadcast_binary(const Hockney& model, const Case& of) {
  return predict_by(model, of, [](const Hockney& m, const Counts& n) {
    return (n.levels + n.segments - 2) *
           (m.alpha_s.at(n.segment_bytes) + message_s(m, n.segment_bytes));
  });
}
// The printed row does not contain ns and counts g twice per level: 0010.
Seconds broadcast_binary(const LogGP& model, const Case& of) {
  return predict_by(model, of, [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    return (n.levels - 1) * (t.latency + t.gap + 2 * (t.overhead + t.bytes)) +
           2 * (n.segments - 1) * (t.gap + t.bytes);
  });
}
Seconds broadcast_binary(const PLogP& model, const Case& of) {
  return predict_by(model, of, [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    return (n.levels - 1) * (t.latency + 2 * t.gap) + (n.segments - 1) * period_s(t);
  });
}

Seconds broadcast_split_binary(const Hockney& model, const Case& of) {
  return predict_by(model, halves_cut(of), [](const Hockney& m, const Counts& n) {
    return (n.levels + segments_a_half(n) - 2) *
               (m.alpha_s.at(n.segment_bytes) + message_s(m, n.segment_bytes)) +
           message_s(m, n.half_bytes);
  });
}
Seconds broadcast_split_binary(const LogGP& model, const Case& of) {
  return predict_by(model, halves_cut(of), [](const LogGP& m, const Counts& n) {
    const LogGPTerms t = terms(m, n.segment_bytes);
    const double exchange = t.latency + 2 * t.overhead + terms(m, n.half_bytes).bytes;
    return (n.levels - 1) * (t.latency + t.gap + 2 * (t.overhead + t.bytes)) +
           2 * (segments_a_half(n) - 1) * (t.gap + t.bytes) + exchange;
  });
}
// The printed row lacks the exchange of the halves: 0010.
Seconds broadcast_split_binary(const PLogP& model, const Case& of) {
  return predict_by(model, halves_cut(of), [](const PLogP& m, const Counts& n) {
    const PLogPTerms t = terms(m, n.segment_bytes);
    const double exchange = t.latency + m.gap_s.at(n.half_bytes);
    return (n.levels - 1) * (t.latency + 2 * t.gap) + (segments_a_half(n) - 1) * period_s(t) +
           exchange;
  });
}

}  // namespace espalier::cost_models
