// The formulas of operations in which each rank has a share of m / P bytes, after Thakur,
// Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, IJHPCA 19
// (2005), who have them for Hockney's model. Those of the other models follow from the rows of
// CM's tables (docs/models.md). For formulas.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "cost_models/formulas/terms.hpp"

namespace espalier::cost_models::shares {

using H = const HockneyTerms&;
using L = const LogGPTerms&;
using P = const PLogPTerms&;
using N = const Counts&;

// (x - 1) G for this many shares.
inline double bytes_s(L t, N n, double shares) {
  return std::max(shares * n.share_bytes - 1, 0.0) * t.per_byte;
}

// A message of this many shares, until its receiver can send on.
inline double hop(H t, N n, double shares) {
  return message_s(*t.model, shares * n.share_bytes);
}
inline double hop(L t, N n, double shares) {
  return t.latency + 2 * t.overhead + bytes_s(t, n, shares);
}
inline double hop(P t, N n, double shares) {
  return t.latency + t.model->gap_s.at(shares * n.share_bytes);
}

inline double compute_s(N n, double shares) {
  return shares * n.compute_all_s / n.ranks;
}

// The same with the time to combine it.
template <class Terms>
double combining_hop(const Terms& t, N n, double shares) {
  return hop(t, n, shares) + compute_s(n, shares);
}
template <>
inline double combining_hop(P t, N n, double shares) {
  const double bytes = shares * n.share_bytes;
  return t.latency + std::max(t.model->gap_s.at(bytes),
                              t.model->receive_overhead_s.at(bytes) + compute_s(n, shares));
}

// A step of CM's pairwise exchange, whose messages wait for no others, and the work of it.
template <class Terms>
double combining_exchange(const Terms& t, N n) {
  return combining_hop(t, n, 1);
}
template <>
inline double combining_exchange(L t, N n) {
  return t.latency + t.overhead + bytes_s(t, n, 1) + t.gap + compute_s(n, 1);
}

// A share to, or from, each of the others.
inline double one_by_one(H t, N n) {
  return (n.ranks - 1) * hop(t, n, 1);
}
inline double one_by_one(L t, N n) {
  return t.latency + 2 * t.overhead - t.gap + (n.ranks - 1) * (bytes_s(t, n, 1) + t.gap);
}
inline double one_by_one(P t, N n) {
  return t.latency + (n.ranks - 1) * t.model->gap_s.at(n.share_bytes);
}

// message(shares): of 1, 2, 4, ... shares, and at last what is left of P - 1.
template <class Message>
double doubling(N n, const Message& message) {
  double time = 0;
  double shares = 1;
  for (; 2 * shares < n.ranks; shares *= 2) time += message(shares);
  return time + message(n.ranks - shares);
}

// Partners exchange what their groups of 1, 2, 4, ... ranks have. Each rank beyond a power of two
// is represented by one of the first ranks: one message of a share, one of all others.
template <class Message>
double doubling_in_pairs(N n, const Message& message) {
  const double represented = n.ranks - std::exp2(n.log_floor);
  double time = represented > 0 ? message(1) + message(n.ranks - 1) : 0;
  for (double group = 1; 2 * group <= n.ranks; group *= 2) {
    time += message(group + std::min(group, represented));
  }
  return time;
}

// An odd number of ranks has no pairs of neighbours, and uses a ring, as Open MPI does.
template <class Message>
double among_neighbors(N n, const Message& message) {
  if (std::fmod(n.ranks, 2) != 0) return (n.ranks - 1) * message(1);
  return message(1) + (n.ranks / 2 - 1) * message(2);
}

template <class Terms>
auto hops(const Terms& t, N n) {
  return [&](double shares) { return hop(t, n, shares); };
}
template <class Terms>
auto combining_hops(const Terms& t, N n) {
  return [&](double shares) { return combining_hop(t, n, shares); };
}

// A row for each model. formula: takes any terms.
template <class AnyFormula>
constexpr std::array<FormulaEntry, 3> rows(std::string_view operation, std::string_view algorithm,
                                           std::string_view source, AnyFormula formula) {
  constexpr std::string_view kDerived = "derived: printed for Hockney's model";
  return {{{operation, algorithm, source, false, FormulaOf<HockneyTerms>(formula)},
           {operation, algorithm, source, false, FormulaOf<LogGPTerms>(formula), kDerived},
           {operation, algorithm, source, false, FormulaOf<PLogPTerms>(formula), kDerived}}};
}

inline constexpr std::array kRows{
    rows("allgather", "ring", "Thakur 2005, allgather, ring",
         [](const auto& t, N n) { return (n.ranks - 1) * hop(t, n, 1); }),
    rows("allgather", "recursive-doubling", "Thakur 2005, allgather, recursive doubling",
         [](const auto& t, N n) { return doubling_in_pairs(n, hops(t, n)); }),
    rows("allgather", "bruck", "Thakur 2005, allgather, Bruck",
         [](const auto& t, N n) { return doubling(n, hops(t, n)); }),
    rows("allgather", "neighbor-exchange", "Chen 2005, neighbor exchange",
         [](const auto& t, N n) { return among_neighbors(n, hops(t, n)); }),
    rows("reduce-scatter", "ring", "Thakur 2005, allgather, ring, reversed",
         [](const auto& t, N n) { return (n.ranks - 1) * combining_hop(t, n, 1); }),
    rows("reduce-scatter", "recursive-halving", "Thakur 2005, reduce-scatter, recursive halving",
         [](const auto& t, N n) { return doubling_in_pairs(n, combining_hops(t, n)); }),
    rows("reduce-scatter", "pairwise", "Thakur 2005, reduce-scatter, pairwise exchange",
         [](const auto& t, N n) { return (n.ranks - 1) * combining_exchange(t, n); }),
    rows("scatter", "linear", "CM table 2, Linear, of shares",
         [](const auto& t, N n) { return one_by_one(t, n); }),
    rows("scatter", "binomial", "Thakur 2005, scatter, binomial",
         [](const auto& t, N n) { return doubling(n, hops(t, n)); }),
    rows("gather", "linear", "CM table 2, Linear, of shares, reversed",
         [](const auto& t, N n) { return one_by_one(t, n); }),
    rows("gather", "binomial", "Thakur 2005, gather, binomial",
         [](const auto& t, N n) { return doubling(n, hops(t, n)); }),
};

inline constexpr auto kFormulas = [] {
  std::array<FormulaEntry, 3 * kRows.size()> all{};
  auto* next = all.begin();
  for (const auto& three : kRows) next = std::ranges::copy(three, next).out;
  return all;
}();

}  // namespace espalier::cost_models::shares
