// espalier simulate --unknown: a broadcast or an allgather without a plan, in which hosts pull.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cli/espalier/console.hpp"
#include "planner/plan/plan.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/pull/simulate_pull.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

// The options that only such a simulation has.
struct UnknownOptions {
  bool is_given = false;  // --unknown
  std::optional<planner::Operation> operation{};
  std::string source{};  // of a broadcast; empty: the first host
  std::optional<platforms::Model> model{};
  std::optional<std::uint64_t> seed{};

  void add_to(Arguments& app);
  // Throws InputError for a source where there is none.
  void check() const;
  // Throws InputError for those that are given without --unknown.
  void refuse_alone() const;
};

// What it shares with the simulation of a plan.
struct UnknownRun {
  const Console& console;
  const platforms::Platform& network;
  const std::vector<Bytes>& messages;
  std::optional<Bytes> segment{};
  std::optional<Seconds> time_limit{};
  const std::string& trace;  // empty: none
  bool nodes = false;
  bool json = false;
};

// Prints the report. Throws as simulate_pull, and LimitReached where no message was done in time.
ExitStatus simulate_unknown(const UnknownOptions& options, const UnknownRun& run);

}  // namespace espalier::cli
