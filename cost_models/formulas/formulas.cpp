#include "cost_models/formulas/formulas.hpp"

#include <algorithm>
#include <array>

#include "cost_models/formulas/shares.hpp"
#include "cost_models/formulas/terms.hpp"

namespace espalier::cost_models {

namespace {

constexpr std::string_view kBarrier = "barrier";
constexpr std::string_view kBroadcast = "broadcast";
constexpr std::string_view kReduce = "reduce";
constexpr std::string_view kAllreduce = "allreduce";
constexpr std::string_view kAlltoall = "alltoall";
constexpr bool kWhole = false;
constexpr bool kCut = true;
constexpr std::string_view kHalf = "a segment is at most half the message";

using H = const HockneyTerms&;
using L = const LogGPTerms&;
using P = const PLogPTerms&;
using N = const Counts&;

// A step of a barrier in lock step: double ring, recursive doubling, Bruck.
double step(H t) {
  return t.alpha;
}
double step(L t) {
  return t.latency + t.overhead + t.gap;
}
double step(P t) {
  return t.latency + t.gap;
}

// Two more steps if the number of ranks is not a power of two: 4 ranks are faster than 3.
double doubling_steps(N n) {
  return n.power_of_two ? n.log_floor : n.log_floor + 2;
}

// The time of a segment at an inner node of a binary tree: two sends, or a receive and two sends
// one after another.
double period(P t) {
  return std::max(2 * t.gap, t.receive + t.gap + t.send);
}

// The time to receive and combine a segment.
double combined(H t, N n) {
  return t.message + n.compute_s;
}
double combined(P t, N n) {
  return std::max(t.gap, t.receive + n.compute_s);
}

// The number of sends on the critical path of a linear alltoall. Rank i sends its segments round
// robin, and rank i + 1 begins when it has received its last segment, which is send number
// (ns - 1) (P - 1) + i + 1 of rank i. The last rank sends all ns (P - 1) segments.
double linear_sends(N n) {
  return (n.ranks - 1) * (n.segments * n.ranks + 1 - n.ranks / 2);
}

constexpr auto kPrinted = std::to_array<FormulaEntry>({
    // CM, table 1. Flat tree: CM predicts with the best case; the worst case has no Hockney row.
    // The printed (P - 1) alpha omits the reports to the root, which the other rows count as one.
    {kBarrier, "flat-tree", "CM table 1, Flat-Tree, Hockney", kWhole,
     [](H t, N n) { return n.ranks * step(t); }, "P alpha instead of (P - 1) alpha"},
    {kBarrier, "flat-tree", "CM table 1, Flat-Tree, LogP/LogGP, Tmin", kWhole,
     [](L t, N n) { return (n.ranks - 2) * t.gap + 2 * (t.latency + 2 * t.overhead); }},
    {kBarrier, "flat-tree", "CM table 1, Flat-Tree, PLogP, Tmin", kWhole,
     [](P t, N n) { return n.ranks * t.gap + 2 * t.latency; }},
    {kBarrier, "flat-tree-worst", "CM table 1, Flat-Tree, LogP/LogGP, Tmax", kWhole,
     [](L t, N n) {
       return (n.ranks - 2) * (t.gap + t.overhead) + 2 * (t.latency + 2 * t.overhead);
     }},
    {kBarrier, "flat-tree-worst", "CM table 1, Flat-Tree, PLogP, Tmax", kWhole,
     [](P t, N n) { return n.ranks * (t.gap + t.receive) + 2 * (t.latency - t.receive); }},
    {kBarrier, "double-ring", "CM table 1, Double Ring, Hockney", kWhole,
     [](H t, N n) { return 2 * n.ranks * step(t); }},
    {kBarrier, "double-ring", "CM table 1, Double Ring, LogP/LogGP", kWhole,
     [](L t, N n) { return 2 * n.ranks * step(t); }},
    {kBarrier, "double-ring", "CM table 1, Double Ring, PLogP", kWhole,
     [](P t, N n) { return 2 * n.ranks * step(t); }},
    {kBarrier, "recursive-doubling", "CM table 1, Recursive Doubling, Hockney", kWhole,
     [](H t, N n) { return doubling_steps(n) * step(t); }},
    {kBarrier, "recursive-doubling", "CM table 1, Recursive Doubling, LogP/LogGP", kWhole,
     [](L t, N n) { return doubling_steps(n) * step(t); }},
    {kBarrier, "recursive-doubling", "CM table 1, Recursive Doubling, PLogP", kWhole,
     [](P t, N n) { return doubling_steps(n) * step(t); }},
    {kBarrier, "bruck", "CM table 1, Bruck, Hockney", kWhole,
     [](H t, N n) { return n.log_ceil * step(t); }},
    {kBarrier, "bruck", "CM table 1, Bruck, LogP/LogGP", kWhole,
     [](L t, N n) { return n.log_ceil * step(t); }},
    {kBarrier, "bruck", "CM table 1, Bruck, PLogP", kWhole,
     [](P t, N n) { return n.log_ceil * step(t); }},

    // CM, table 2.
    {kBroadcast, "linear", "CM table 2, Linear, Hockney", kCut,
     [](H t, N n) { return n.segments * (n.ranks - 1) * t.message; }},
    {kBroadcast, "linear", "CM table 2, Linear, LogP/LogGP", kCut,
     [](L t, N n) {
       return t.latency + 2 * t.overhead - t.gap + n.segments * (n.ranks - 1) * (t.bytes + t.gap);
     }},
    {kBroadcast, "linear", "CM table 2, Linear, PLogP", kCut,
     [](P t, N n) { return t.latency + n.segments * (n.ranks - 1) * t.gap; }},
    {kBroadcast, "pipeline", "CM table 2, Pipeline, Hockney", kCut,
     [](H t, N n) { return (n.ranks + n.segments - 2) * t.message; }},
    {kBroadcast, "pipeline", "CM table 2, Pipeline, LogP/LogGP", kCut,
     [](L t, N n) {
       return (n.ranks - 1) * (t.latency + 2 * t.overhead + t.bytes) +
              (n.segments - 1) * (t.gap + t.bytes);
     }},
    {kBroadcast, "pipeline", "CM table 2, Pipeline, PLogP", kCut,
     [](P t, N n) { return (n.ranks - 1) * (t.latency + t.gap) + (n.segments - 1) * t.gap; }},
    {kBroadcast, "binomial", "CM table 2, Binomial, Hockney", kCut,
     [](H t, N n) { return n.log_ceil * n.segments * t.message; }},
    {kBroadcast, "binomial", "CM table 2, Binomial, LogP/LogGP", kCut,
     [](L t, N n) {
       return n.log_ceil *
              (t.latency + 2 * t.overhead + t.bytes + (n.segments - 1) * (t.gap + t.bytes));
     }},
    {kBroadcast, "binomial", "CM table 2, Binomial, PLogP", kCut,
     [](P t, N n) { return n.log_ceil * (t.latency + n.segments * t.gap); }},
    {kBroadcast, "binary", "CM table 2, Binary, Hockney", kCut,
     [](H t, N n) { return (n.levels + n.segments - 2) * (t.alpha + t.message); }},
    {kBroadcast, "binary", "CM table 2, Binary, LogP/LogGP", kCut,
     [](L t, N n) {
       return (n.levels - 1) * (t.latency + t.gap + 2 * (t.overhead + t.bytes)) +
              2 * (n.segments - 1) * (t.gap + t.bytes);
     },
     "factor (ns - 1) added, g once per level"},
    {kBroadcast, "binary", "CM table 2, Binary, PLogP", kCut,
     [](P t, N n) {
       return (n.levels - 1) * (t.latency + 2 * t.gap) + (n.segments - 1) * period(t);
     }},
    {kBroadcast, "split-binary", "CM table 2, Splitted-binary, Hockney", kCut,
     [](H t, N n) {
       return (n.levels + n.half_segments - 2) * (t.alpha + t.message) + t.half_message;
     },
     kHalf},
    {kBroadcast, "split-binary", "CM table 2, Splitted-binary, LogP/LogGP", kCut,
     [](L t, N n) {
       const double exchange = t.latency + 2 * t.overhead + t.half_bytes;
       return (n.levels - 1) * (t.latency + t.gap + 2 * (t.overhead + t.bytes)) +
              2 * (n.half_segments - 1) * (t.gap + t.bytes) + exchange;
     },
     kHalf},
    {kBroadcast, "split-binary", "CM table 2, Splitted-binary, PLogP", kCut,
     [](P t, N n) {
       const double exchange = t.latency + t.half_gap;
       return (n.levels - 1) * (t.latency + 2 * t.gap) + (n.half_segments - 1) * period(t) +
              exchange;
     },
     "a segment is at most half the message; exchange of the halves added"},
    {kBroadcast, "two-tree", "TTC equation 1", kCut, two_tree_s,
     "N max(g, o) instead of O(N + m / 2), log2 P rounded up"},

    // CM, table 3.
    {kReduce, "flat-tree", "CM table 3, Flat Tree, Hockney", kCut,
     [](H t, N n) { return n.segments * (n.ranks - 1) * combined(t, n); }},
    {kReduce, "flat-tree", "CM table 3, Flat Tree, LogP/LogGP", kCut,
     [](L t, N n) {
       return t.overhead + t.bytes + t.latency +
              n.segments * std::max(t.gap, (n.ranks - 1) * (t.overhead + t.bytes + n.compute_s));
     }},
    {kReduce, "flat-tree", "CM table 3, Flat Tree, PLogP", kCut,
     [](P t, N n) { return t.latency + (n.ranks - 1) * n.segments * combined(t, n); }},
    {kReduce, "pipeline", "CM table 3, Pipeline, Hockney", kCut,
     [](H t, N n) { return (n.ranks + n.segments - 2) * combined(t, n); }},
    {kReduce, "pipeline", "CM table 3, Pipeline, LogP/LogGP", kCut,
     [](L t, N n) {
       const double hop = 2 * t.overhead + t.bytes + n.compute_s;
       return (n.ranks - 1) * (t.latency + hop) + (n.segments - 1) * std::max(t.gap, hop);
     }},
    {kReduce, "pipeline", "CM table 3, Pipeline, PLogP", kCut,
     [](P t, N n) {
       return (n.ranks - 1) * (t.latency + combined(t, n)) +
              (n.segments - 1) * (combined(t, n) + t.send);
     }},
    {kReduce, "binomial", "CM table 3, Binomial, Hockney", kCut,
     [](H t, N n) { return n.segments * n.log_ceil * combined(t, n); }},
    {kReduce, "binomial", "CM table 3, Binomial, LogP/LogGP", kCut,
     [](L t, N n) {
       return n.log_ceil * (t.overhead + t.latency +
                            n.segments * (t.bytes + std::max(t.gap, t.overhead + n.compute_s)));
     },
     "a bracket added"},
    {kReduce, "binomial", "CM table 3, Binomial, PLogP", kCut,
     [](P t, N n) {
       return n.log_ceil *
              (t.latency + n.segments * std::max(t.gap, t.receive + n.compute_s + t.send));
     }},
    {kReduce, "binary", "CM table 3, Binary, Hockney", kCut,
     [](H t, N n) { return 2 * (n.levels + n.segments - 2) * combined(t, n); },
     "gamma ms instead of gamma mS"},
    // With the printed brackets every level repeats all segments, which is not a pipeline.
    {kReduce, "binary", "CM table 3, Binary, LogP/LogGP", kCut,
     [](L t, N n) {
       const double work = 3 * t.overhead + 2 * n.compute_s;
       return (n.levels - 1) * (t.latency + t.bytes + work) +
              (n.segments - 1) * (t.bytes + std::max(t.gap, work));
     },
     "the segments outside the bracket"},
    {kReduce, "binary", "CM table 3, Binary, PLogP", kCut,
     [](P t, N n) {
       return (n.levels - 1) * (t.latency + 2 * combined(t, n)) +
              (n.segments - 1) * (t.send + 2 * combined(t, n));
     }},
    // As TTC's equation 1 (two_tree.hpp).
    {kReduce, "two-tree", "TTC after equation 1", kCut, two_tree_reduce_s,
     "derived: TTC prints no formula of a reduce"},
    {kAllreduce, "two-tree", "TTC after equation 1", kCut, two_tree_allreduce_s,
     "derived: TTC prints no formula of an allreduce"},

    // CM, table 4. The printed alpha of the first row would be segments without bytes.
    {kAlltoall, "linear", "CM table 4, Linear, Hockney", kCut,
     [](H t, N n) { return linear_sends(n) * t.message; },
     "a send takes alpha + ms beta instead of alpha"},
    {kAlltoall, "linear", "CM table 4, Linear, LogP/LogGP", kCut,
     [](L t, N n) {
       return n.ranks * (t.latency + 2 * t.overhead) + linear_sends(n) * (t.gap + t.bytes);
     }},
    {kAlltoall, "linear", "CM table 4, Linear, PLogP", kCut,
     [](P t, N n) { return n.ranks * t.latency + linear_sends(n) * t.gap; }},
    {kAlltoall, "pairwise", "CM table 4, Pairwise exchange, Hockney", kWhole,
     [](H t, N n) { return (n.ranks - 1) * t.message; }},
    {kAlltoall, "pairwise", "CM table 4, Pairwise exchange, LogP/LogGP", kWhole,
     [](L t, N n) { return (n.ranks - 1) * (t.latency + t.overhead + t.bytes + t.gap); }},
    {kAlltoall, "pairwise", "CM table 4, Pairwise exchange, PLogP", kWhole,
     [](P t, N n) { return (n.ranks - 1) * (t.latency + t.gap); }},
});

constexpr auto kFormulas = [] {
  std::array<FormulaEntry, kPrinted.size() + shares::kFormulas.size()> all{};
  std::ranges::copy(shares::kFormulas, std::ranges::copy(kPrinted, all.begin()).out);
  return all;
}();

void add_once(std::vector<std::string_view>& names, std::string_view name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

std::span<const FormulaEntry> formulas() {
  return kFormulas;
}

const FormulaEntry* find_formula(std::string_view operation, std::string_view algorithm,
                                 std::string_view model) {
  const auto found = std::ranges::find_if(kFormulas, [&](const FormulaEntry& entry) {
    return entry.operation == operation && entry.algorithm == algorithm && entry.model() == model;
  });
  return found == kFormulas.end() ? nullptr : &*found;
}

std::vector<std::string_view> operation_names() {
  std::vector<std::string_view> names;
  for (const FormulaEntry& entry : kFormulas) add_once(names, entry.operation);
  return names;
}

std::vector<std::string_view> algorithm_names(std::string_view operation, std::string_view model) {
  std::vector<std::string_view> names;
  for (const FormulaEntry& entry : kFormulas) {
    if (entry.operation == operation && entry.model() == model) names.push_back(entry.algorithm);
  }
  return names;
}

}  // namespace espalier::cost_models
