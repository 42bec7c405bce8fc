// The results of a finished study: all instances, the summary, and the papers' charts.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/experiment.hpp"
#include "support/statistics.hpp"

namespace espalier::experiments {

// By unit; all units of the study.
using Results = std::map<std::size_t, Result>;

// One algorithm under one model over the instances with these `nodes` and `density`; unset: any.
struct SummaryRow {
  platforms::Model model;
  std::optional<std::size_t> nodes;
  std::optional<double> density;
  std::size_t algorithm;  // index into Study::algorithms
  Spread relative;        // to the proven bound
  std::size_t failed;     // instances without a figure
};
// Per model: over all instances, by nodes, by density, by both.
std::vector<SummaryRow> summarise(const Study& study, const Results& results);

// One row per case, model and algorithm, in the study's order. Without timings, so that repeated
// studies give the same bytes.
std::string instances_csv(const Study& study, const Results& results);
// The same rows with the seconds that each took; algorithm "packing" is the proof of the optimum.
std::string timings_csv(const Study& study, const Results& results);
std::string summary_csv(const Study& study, const std::vector<SummaryRow>& rows);
// Tables by nodes and by density, one column per value: Markdown that is readable as plain text.
std::string summary_markdown(const Study& study, const std::vector<SummaryRow>& rows);

struct OutputFile {
  std::string name;
  std::string text;
};
// All files of the study's folder: the four above, and for each model a chart against nodes and one
// against density, if there are at least two values.
std::vector<OutputFile> output_files(const Study& study, const Results& results);
// Whether a study writes a file of this name, study.json included.
bool is_output(std::string_view name);

}  // namespace espalier::experiments
