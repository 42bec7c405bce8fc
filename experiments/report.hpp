// What a finished study says: every instance, the summary, the charts of the papers.
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

// One algorithm under one model over the instances of `nodes` hosts and of `density`; unset: of
// any.
struct SummaryRow {
  platforms::Model model;
  std::optional<std::size_t> nodes;
  std::optional<double> density;
  std::size_t algorithm;  // index into Study::algorithms
  Spread relative;        // to the proven bound
  std::size_t failed;     // instances without a figure
};
// Per model: over everything, by nodes, by density, by both.
std::vector<SummaryRow> summarise(const Study& study, const Results& results);

// One row a case, model and algorithm, in the study's order; no timings, so that it is the same
// bytes each time.
std::string instances_csv(const Study& study, const Results& results);
// The same rows with the seconds that each took; algorithm "packing" is the proof that all share.
std::string timings_csv(const Study& study, const Results& results);
std::string summary_csv(const Study& study, const std::vector<SummaryRow>& rows);
// Tables by nodes and by density, a column a value: Markdown that reads well as plain text.
std::string summary_markdown(const Study& study, const std::vector<SummaryRow>& rows);

struct OutputFile {
  std::string name;
  std::string text;
};
// All that goes into the study's folder: the four above, and a chart per model against nodes and
// against density, where there are two values at least.
std::vector<OutputFile> output_files(const Study& study, const Results& results);
// Whether a study writes a file of this name, study.json included.
bool is_output(std::string_view name);

}  // namespace espalier::experiments
