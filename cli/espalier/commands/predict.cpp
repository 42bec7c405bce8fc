// espalier predict: the time of a collective operation by published formulas.
#include "cost_models/formulas/predict.hpp"

#include <optional>
#include <string>

#include "cli/common/report.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/costs/cost_model.hpp"
#include "cli/espalier/costs/predicted_times.hpp"
#include "cli/espalier/options.hpp"
#include "support/files.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

struct PredictCommand {
  Console console{};
  CostOptions cost{};
  std::uint64_t ranks = 0;
  Bytes message{};
  std::optional<Bytes> segment{};  // unset: the best
  std::vector<std::string> against{};
  std::string chart{};
  bool json = false;

  void add_to(Arguments& app);
  void check() const;
  [[nodiscard]] ExitStatus run() const;

 private:
  [[nodiscard]] ExitStatus compare() const;
  [[nodiscard]] std::string prediction(const CostOptions::Read& read) const;
};

std::optional<Bytes> read_segment(const std::string& text) {
  if (text == "best") return std::nullopt;
  const Bytes segment = parse_size(text);
  if (segment.value == 0) throw InputError("must be at least one byte, or 'best'");
  return segment;
}

cost_models::Prediction predict_one(const cost_models::FormulaEntry& entry,
                                    const cost_models::Parameters& parameters,
                                    const cost_models::Case& of,
                                    const std::optional<Bytes>& segment) {
  if (!segment) {
    return best_segment(entry, parameters, of, cost_models::usual_segments(of.message));
  }
  cost_models::Prediction prediction{&entry, of, {}};
  if (entry.segments && *segment < of.message) prediction.of.segment = *segment;
  prediction.time = predict(entry, parameters, prediction.of);
  return prediction;
}

void PredictCommand::check() const {
  if (against.empty() && ranks == 0) {
    throw InputError({}, "--ranks", "missing; give the number of processes, or --against FILE");
  }
  if (chart.empty() || !against.empty()) return;
  if (message.value < 2) throw InputError({}, "--message", "a chart needs at least 2 bytes");
  if (ranks < 2) throw InputError({}, "--ranks", "a chart needs at least 2 ranks");
}

// Of what was measured.
ExitStatus PredictCommand::compare() const {
  const MeasuredTimes measured =
      read_measured_times(against, cost.operation, /*with_library=*/false);
  const PredictedTimes times = at_place(measured.files, "", [&] {
    return predicted_times(cost.read_each(), cost.operation, measured.times);
  });
  if (!chart.empty()) write_text(chart, to_svg(chart_of(times)));
  print_beside(report_of(times).render(json), chart, console);
  return ExitStatus::kDone;
}

ExitStatus PredictCommand::run() const {
  require_chart(chart);
  if (!against.empty()) return compare();
  const CostOptions::Read read = cost.read();
  const std::string text = prediction(read);
  if (!chart.empty()) {
    write_text(chart, to_svg(chart_by_segment(read, {ranks, message, {}, read.computation})));
  }
  print_beside(text, chart, console);
  return ExitStatus::kDone;
}

std::string PredictCommand::prediction(const CostOptions::Read& read) const {
  const cost_models::Case whole{ranks, message, {}, read.computation};
  Rows rows({left("algorithm", "algorithm"),
             {"segment", "segment_bytes"},
             {"segments", "segments"},
             {"time", "predicted_s"},
             {"unsegmented", "unsegmented_s"},
             left("source", "source"),
             written("deviation")});
  for (const cost_models::FormulaEntry* entry : read.entries) {
    const cost_models::Prediction prediction = predict_one(*entry, read.parameters, whole, segment);
    const Cell size = prediction.of.segment;
    const Cell count = cost_models::segments_of(prediction.of);
    const bool cut = prediction.of.segment.value != 0;
    rows.add({entry->algorithm, cut ? size : size.as("-"), cut ? count : count.as("-"),
              prediction.time, predict(*entry, read.parameters, whole), entry->source,
              entry->deviation});
  }
  Report report;
  report.write("operation", cost.operation);
  report.write("model", read.model);
  report.write("preset", cost.preset.empty() ? Json() : Json(cost.preset));
  report.write("ranks", ranks);
  report.write("message_bytes", message.value);
  report.add("rows", rows);
  return report.render(json);
}

void PredictCommand::add_to(Arguments& app) {
  cost.add_to(app);
  app.add("--ranks", ranks, "Number of processes", {.range = Range{1, cost_models::kMaxRanks}});
  app.add("--message", message,
          "Size of the root's data; where each rank has a share of it, of all shares together; for "
          "alltoall what each rank sends to each other; not for barriers");
  app.add(
      "--segment", segment, read_segment,
      "Segment size; 'best': the best for each algorithm, unsegmented or a power of two from 64 "
      "bytes",
      {.shown = "best"});
  app.add(
      "--against", against,
      "Instead of one case: measured times, JSON or CSV (docs/formats.md), or what espalier-mpi "
      "bench --json wrote; show what each model predicts for them; repeatable",
      {.type = "FILE"});
  app.add("-o,--output", chart,
          "Draw the times by segment size (with --against: measured and predicted) as SVG; '-' is "
          "standard output",
          {.type = "FILE"});
  for (const char* const option : {"--ranks", "--message", "--segment"}) {
    app.exclude("--against", option);
  }
  app.add("--json", json, "JSON instead of a table");
  add_console_options(app, console);
  app.add_footer(
      "Assumes identical ranks and links; use 'compare' and 'simulate' for heterogeneous "
      "platforms.\nThe formulas: docs/models.md.");
}

}  // namespace

void add_predict(Arguments root) {
  root.add_command<PredictCommand>(
      "predict", "The time of a collective by the Hockney, LogP, LogGP or PLogP model");
}

}  // namespace espalier::cli
