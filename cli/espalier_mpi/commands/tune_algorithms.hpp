// espalier-mpi tune --algorithms: a decision function by measurement.
#pragma once

#include <string>
#include <vector>

#include "cli/espalier_mpi/bench/bench.hpp"
#include "cli/espalier_mpi/options/options.hpp"
#include "planner/plan/decision_table.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

struct AlgorithmOptions {
  std::vector<std::string> algorithms{};  // "all", or formulas' names; empty: a plan is tuned
  planner::Operation operation = planner::Operation::kBroadcast;
  std::string parameters{};  // file
  std::vector<Bytes> segments = {{0}, {8 << 10}, {64 << 10}};
  double within = 1.25;
  bool every = false;

  void add_to(Arguments& app);
  // Throws InputError. Precondition: algorithms are given.
  void check() const;
};

// Times the algorithms that the model ranks near the top, around its switching points only
// (cost_models/decide/refinement.hpp), and adds the decisions for these ranks and messages to the
// table in the file `out`. Collective. Throws as bench does, and InputError for files that cannot
// be read or written.
ExitStatus tune_algorithms(const Job& job, const AlgorithmOptions& options,
                           const TimingOptions& timing, const std::string& out);

}  // namespace espalier::cli
