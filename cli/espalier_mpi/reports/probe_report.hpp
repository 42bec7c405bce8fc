// The reports of espalier-mpi probe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/common/report.hpp"
#include "cli/common/status_line.hpp"
#include "cost_models/parameters_json.hpp"
#include "runtime/measure/analysis.hpp"
#include "runtime/measure/message_times.hpp"
#include "runtime/measure/messages/beyond_pairs.hpp"
#include "runtime/measure/probe.hpp"
#include "support/deadline.hpp"

namespace espalier::cli {

Report probe_report(const runtime::probe::Estimate& estimate, double seconds);

// For --dry-run: what a probe of these ranks will take. hosts: of each rank.
Report forecast_report(const std::vector<std::string>& hosts, double effort);

// The results of --model.
struct ModelReport {
  std::string model;
  std::string name;  // the network's, in its file
  std::size_t ranks = 0;
  std::size_t hosts = 0;
  std::string which;  // pairs: "between hosts"
  std::vector<runtime::probe::Flow> pairs;
  std::size_t of_pairs = 0;         // that these pairs are a sample of
  runtime::probe::PairTimes times;  // typical values over the pairs
  std::vector<runtime::probe::Combining> combining;
  std::vector<runtime::probe::GapInTurn> gaps;  // empty: there is one destination
  runtime::probe::Repeats repeats;
  cost_models::NetworkParameters network;
  double seconds = 0;
};
Report report_of(const ModelReport& found);

// Shows the progress of a probe on stderr.
class ProbeProgress {
 public:
  explicit ProbeProgress(bool enabled);

  // Before the first step: what a whole probe of so many ranks will take.
  void show_forecast(std::size_t ranks, double effort);
  void show(const runtime::probe::Progress& progress);

 private:
  StatusLine line_;
  Stopwatch watch_;
};

}  // namespace espalier::cli
