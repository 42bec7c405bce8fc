// The checks of `doctor`, one table: each finds one thing that goes wrong for people.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/facts.hpp"

namespace espalier::cli::doctor {

struct Finding {
  std::string what;  // the fact, without a full stop
  std::string why;   // what goes wrong because of it
  std::string cure;  // a command or setting
};

struct Check {
  std::string_view name;
  std::string_view looks_for;
  std::optional<Finding> (*find)(const Facts& facts);
};

// A check of one rank, as one of all ranks.
template <std::optional<Finding> (*find)(const Facts& facts, const RankFacts& rank)>
std::optional<Finding> of_any_rank(const Facts& facts) {
  for (const RankFacts& rank : facts.ranks) {
    if (auto finding = find(facts, rank)) return finding;
  }
  return std::nullopt;
}

// All of them, in the order in which they are reported.
std::vector<Check> checks();
// By subject, one file each.
std::span<const Check> mpi_checks();
std::span<const Check> network_checks();
std::span<const Check> plan_checks();
std::span<const Check> machine_checks();

bool is_open_mpi(const Facts& facts);
// Whether a message by TCP between two hosts may wait for a connection that does not come about.
bool has_unreached(const Facts& facts);
std::size_t ranks_on(const Facts& facts, const std::string& host);

struct Found {
  std::string_view check;
  Finding finding;
};
std::vector<Found> findings(const Facts& facts);

}  // namespace espalier::cli::doctor
