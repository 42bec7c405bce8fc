// The preloaded library's settings from the environment (docs/runtime.md, "Unmodified programs").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "support/quantities.hpp"

namespace espalier::preload {

// Measured: docs/runtime.md, "Unmodified programs".
inline constexpr Bytes kDefaultThreshold{64U << 10U};

// How calls among ranks that all share one host are treated.
enum class LocalCalls : std::uint8_t {
  kHandOn,  // short ones are left to MPI, unless a given plan or a decision is for them
  kTake,
};

// How calls are treated of which a rank does not know the sizes of the others' parts.
enum class VaryingParts : std::uint8_t {
  kHandOn,  // they are left to MPI
  kAgree,   // the ranks agree about the sizes first
};

// What becomes of what a program's broadcasts and allgathers show of the network, where nothing
// else is given (runtime/preload/learner.hpp).
enum class Learning : std::uint8_t {
  kKept,    // it serves this program, and is kept for the next one on the same hosts
  kForRun,  // it serves this program
  kOff,     // nothing is learnt
};

// Measured likewise: shorter messages within a host are left to MPI.
inline constexpr Bytes kLocalCalls{256U << 10U};

inline constexpr std::size_t kDefaultTrials = 3;

// ESPALIER_GROUPS where no groups of hosts are known.
inline constexpr const char* kOnlyHosts = "hosts";

// Communicators with so few ranks have no plans: there is one way only.
inline constexpr int kTooFewRanks = 2;

struct Settings {
  std::vector<std::string> plan_files;      // ESPALIER_PLAN, separated by colons
  std::vector<std::string> tuned_files;     // ESPALIER_TUNED, likewise: segments for these plans
  std::vector<std::string> decision_files;  // ESPALIER_DECISIONS, likewise: one per operation
  std::string platform_file;                // ESPALIER_PLATFORM; empty: none
  // ESPALIER_GROUPS, instead of a platform: kOnlyHosts, or a file of hosts and their groups
  std::string groups{};
  // ESPALIER_MODEL, for plans made at first use; unset: one-port, for a network that is learnt
  // bounded-multi-port
  std::optional<std::string> model{};
  // ESPALIER_ALGORITHM; unset: the optimum, and for shorter messages the plan that is predicted to
  // be the fastest; with ESPALIER_GROUPS `hierarchical`, because no speeds are known
  std::optional<std::string> algorithm{};
  std::size_t max_trees = 0;  // ESPALIER_MAX_TREES; 0: as many as the optimum needs
  runtime::RankMapping mapping = runtime::RankMapping::kByOrder;  // ESPALIER_MAP
  LocalCalls local = LocalCalls::kHandOn;                         // ESPALIER_LOCAL
  VaryingParts varying = VaryingParts::kHandOn;                   // ESPALIER_VARYING
  Learning learning = Learning::kKept;                            // ESPALIER_LEARN
  Bytes threshold = kDefaultThreshold;  // ESPALIER_THRESHOLD: shorter messages are left to MPI
  std::optional<Seconds> timeout;       // ESPALIER_TIMEOUT; unset: calls wait indefinitely
  std::size_t trials = kDefaultTrials;  // ESPALIER_TRIALS, of plans made at first use (Trials)
  bool verbose = false;                 // ESPALIER_VERBOSE
  bool report = false;                  // ESPALIER_REPORT

  // From a platform, or from the topology alone.
  [[nodiscard]] bool plans_at_first_use() const {
    return !platform_file.empty() || !groups.empty();
  }
  [[nodiscard]] bool asks_for_something() const {
    return !plan_files.empty() || !decision_files.empty() || plans_at_first_use();
  }
};

// value_of: returns the value of an environment variable, null if it is not set; an empty value
// counts as not set. Throws InputError that names the variable.
Settings settings_from(const std::function<const char*(const char*)>& value_of);

}  // namespace espalier::preload
