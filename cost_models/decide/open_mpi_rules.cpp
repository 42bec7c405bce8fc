#include "cost_models/decide/open_mpi_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

struct Collective {
  std::string_view operation;
  int id;  // Open MPI's COLLTYPE_T
  std::string_view function;
};
constexpr std::array kCollectives{Collective{"allgather", 0, "MPI_Allgather"},
                                  Collective{"alltoall", 3, "MPI_Alltoall"},
                                  Collective{"barrier", 6, "MPI_Barrier"},
                                  Collective{"broadcast", 7, "MPI_Bcast"},
                                  Collective{"gather", 9, "MPI_Gather"},
                                  Collective{"reduce", 11, "MPI_Reduce"},
                                  Collective{"reduce-scatter", 12, "MPI_Reduce_scatter"},
                                  Collective{"scatter", 15, "MPI_Scatter"}};

struct Number {
  std::string_view operation;
  std::string_view algorithm;
  int number;
  bool cuts;  // whether Open MPI uses the segment size
};
constexpr std::array kNumbers{
    Number{"allgather", "bruck", 2, false},
    Number{"allgather", "recursive-doubling", 3, false},
    Number{"allgather", "ring", 4, false},
    Number{"allgather", "neighbor-exchange", 5, false},
    Number{"gather", "linear", 1, false},
    Number{"gather", "binomial", 2, false},
    Number{"reduce-scatter", "recursive-halving", 2, false},
    Number{"reduce-scatter", "ring", 3, false},
    Number{"scatter", "linear", 1, false},
    Number{"scatter", "binomial", 2, false},
    Number{"alltoall", "linear", 1, false},
    Number{"alltoall", "pairwise", 2, false},
    Number{"barrier", "flat-tree", 1, false},
    Number{"barrier", "flat-tree-worst", 1, false},
    Number{"barrier", "double-ring", 2, false},
    Number{"barrier", "recursive-doubling", 3, false},
    Number{"barrier", "bruck", 4, false},
    Number{"broadcast", "linear", 1, false},
    Number{"broadcast", "pipeline", 3, true},
    Number{"broadcast", "split-binary", 4, true},
    Number{"broadcast", "binary", 5, true},
    Number{"broadcast", "binomial", 6, true},
    Number{"reduce", "flat-tree", 1, false},
    Number{"reduce", "pipeline", 3, true},
    Number{"reduce", "binary", 4, true},
    Number{"reduce", "binomial", 5, true},
};

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();

// Applies to messages of `bytes` or more.
struct Rule {
  std::uint64_t bytes = 0;
  int number = 0;  // 0: Open MPI's own choice
  std::uint64_t segment = 0;
  std::string_view algorithm{};

  [[nodiscard]] bool decides_as(const Rule& other) const {
    return number == other.number && segment == other.segment;
  }
  friend bool operator==(const Rule& one, const Rule& other) {
    return one.bytes == other.bytes && one.decides_as(other);
  }
};

// Apply to `ranks` or more.
struct RankRules {
  std::uint64_t ranks = 0;
  std::vector<Rule> rules;
};

// The message size by which Open MPI looks up a rule.
std::uint64_t counted_bytes(std::string_view operation, const Case& of) {
  if (operation != "alltoall") return of.message.value;
  if (of.message.value > kMostBytes / of.ranks) {
    throw InputError(fmt::format("{} bytes to each of {} ranks exceed Open MPI's limit of {} bytes",
                                 of.message.value, of.ranks, kMostBytes));
  }
  return of.message.value * of.ranks;
}

Rule rule_of(std::string_view operation, const Prediction& best) {
  Rule rule;
  rule.bytes = counted_bytes(operation, best.of);
  if (best.entry == nullptr) return rule;
  const auto number = open_mpi_number(best);
  if (!number) return rule;
  rule.number = *number;
  rule.segment = best.of.segment.value;
  rule.algorithm = best.entry->algorithm;
  return rule;
}

// The rules for one number of ranks, one wherever the choice changes. Open MPI requires the first
// to have size 0.
std::vector<Rule> rules_of(std::string_view operation, const DecisionFunction& decision,
                           std::size_t row) {
  std::vector<Rule> all{Rule{}};
  const std::size_t columns = decision.grid.messages.size();
  for (std::size_t c = 0; c < columns; ++c) {
    const Rule rule = rule_of(operation, decision.best[row * columns + c]);
    if (rule.bytes == 0) {
      all.back() = rule;
    } else if (!rule.decides_as(all.back())) {
      all.push_back(rule);
    }
  }
  if (operation == "barrier") return all;
  const Rule last = rule_of(operation, decision.best[row * columns + columns - 1]);
  if (last.number != 0 && last.bytes < kMostBytes) all.push_back(Rule{.bytes = last.bytes + 1});
  return all;
}

// Open MPI also applies the first rules to fewer ranks; therefore the first ones say "Open MPI's
// own choice" unless the grid starts at one rank.
std::vector<RankRules> rules_of(std::string_view operation, const DecisionFunction& decision) {
  std::vector<RankRules> all;
  const std::vector<std::uint64_t>& ranks = decision.grid.ranks;
  if (ranks.front() > 1) all.push_back({0, {Rule{}}});
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    RankRules next{ranks[row], rules_of(operation, decision, row)};
    if (all.empty() || all.back().rules != next.rules) all.push_back(std::move(next));
  }
  if (ranks.back() < kMaxRanks) all.push_back({ranks.back() + 1, {Rule{}}});
  return all;
}

void write(std::string& text, const RankRules& rank_rules) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{} # ranks or more\n{} # rules\n", rank_rules.ranks,
                 rank_rules.rules.size());
  for (const Rule& rule : rank_rules.rules) {
    fmt::format_to(out, "{} {} 0 {} # {}\n", rule.bytes, rule.number, rule.segment,
                   rule.number == 0 ? std::string_view("Open MPI's own choice") : rule.algorithm);
  }
}

}  // namespace

std::optional<int> open_mpi_number(const Prediction& prediction) {
  for (const Number& known : kNumbers) {
    if (known.operation != prediction.entry->operation ||
        known.algorithm != prediction.entry->algorithm) {
      continue;
    }
    const std::uint64_t segment = prediction.of.segment.value;
    const bool fits = segment == 0 || (known.cuts && segment <= std::numeric_limits<int>::max());
    return fits ? std::optional(known.number) : std::nullopt;
  }
  return std::nullopt;
}

std::string open_mpi_rules(const DecisionFunction& decision) {
  const std::string_view operation = operation_of(decision);
  const auto* const collective = std::ranges::find(kCollectives, operation, &Collective::operation);
  if (collective == kCollectives.end()) throw std::invalid_argument("an unknown operation");

  const std::vector<RankRules> all = rules_of(operation, decision);
  std::string text = fmt::format(
      "# Rules for Open MPI 4.1, coll_tuned_dynamic_rules_filename; by espalier decide.\n"
      "# A rule: least message size, number of the algorithm (0: Open MPI's own choice), topology\n"
      "# (unused), segment size (0: not cut); sizes in bytes{}.\n"
      "1 # collective\n{} # {}\n{} # numbers of ranks\n",
      operation == "alltoall" ? ", message sizes of all that a rank sends" : "", collective->id,
      collective->function, all.size());
  for (const RankRules& rank_rules : all) write(text, rank_rules);
  return text;
}

}  // namespace espalier::cost_models
