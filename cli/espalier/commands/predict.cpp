// espalier predict: the time of a collective operation by published formulas.
#include "cost_models/formulas/predict.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "cli/common/table.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/cost_model.hpp"
#include "cli/espalier/options.hpp"
#include "support/files.hpp"
#include "support/json.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

constexpr std::string_view kBest = "best";

struct PredictOptions {
  Console console;
  CostOptions cost;
  std::uint64_t ranks = 0;
  std::string message = "0";
  std::string segment{kBest};
  bool json = false;
};

// The segment sizes to try: the usual ones, or the given one.
std::vector<Bytes> segments_of(const std::string& text, Bytes message) {
  if (text == kBest) return cost_models::usual_segments(message);
  const Bytes segment = parse_option("--segment", text, parse_size);
  if (segment.value == 0) throw InputError({}, "--segment", "must be at least one byte, or 'best'");
  return {segment};
}

cost_models::Prediction predict_one(const cost_models::FormulaEntry& entry,
                                    const CostOptions::Read& read, const cost_models::Case& of,
                                    const PredictOptions& options) {
  if (options.segment == kBest) {
    return best_segment(entry, read.parameters, of, segments_of(options.segment, of.message));
  }
  cost_models::Prediction prediction{&entry, of, {}};
  const Bytes segment = segments_of(options.segment, of.message).front();
  if (entry.segments && segment < of.message) prediction.of.segment = segment;
  prediction.time = predict(entry, read.parameters, prediction.of);
  return prediction;
}

Json row_json(const cost_models::Prediction& prediction, Seconds whole) {
  return {{"algorithm", prediction.entry->algorithm},
          {"segment_bytes", prediction.of.segment.value},
          {"segments", cost_models::segments_of(prediction.of)},
          {"predicted_s", prediction.time.value},
          {"unsegmented_s", whole.value},
          {"source", prediction.entry->source},
          {"deviation", prediction.entry->deviation}};
}

ExitStatus run_predict(const PredictOptions& options) {
  const CostOptions::Read read = options.cost.read();
  const cost_models::Case whole{
      options.ranks, parse_option("--message", options.message, parse_size), {}, read.computation};
  if (options.ranks == 0 || options.ranks > cost_models::kMaxRanks) {
    throw InputError({}, "--ranks",
                     fmt::format("{} is not from 1 to {}", options.ranks, cost_models::kMaxRanks));
  }
  Json rows = Json::array();
  Table table({{"algorithm", Table::Align::kLeft},
               {"segment"},
               {"segments"},
               {"time"},
               {"unsegmented"},
               {"source", Table::Align::kLeft}});
  for (const cost_models::FormulaEntry* entry : read.entries) {
    const cost_models::Prediction prediction = predict_one(*entry, read, whole, options);
    const Seconds unsegmented = predict(*entry, read.parameters, whole);
    rows.push_back(row_json(prediction, unsegmented));
    const bool cut = prediction.of.segment.value != 0;
    table.add_row({std::string(entry->algorithm), cut ? format_size(prediction.of.segment) : "-",
                   cut ? fmt::format("{}", cost_models::segments_of(prediction.of)) : "-",
                   format_duration(prediction.time), format_duration(unsegmented),
                   std::string(entry->source)});
  }
  if (options.json) {
    write_text(
        "-",
        json_text({{"operation", options.cost.operation()},
                   {"model", read.model},
                   {"preset", options.cost.preset().empty() ? Json() : Json(options.cost.preset())},
                   {"ranks", options.ranks},
                   {"message_bytes", whole.message.value},
                   {"rows", std::move(rows)}}));
  } else {
    write_text("-", table.text());
  }
  return ExitStatus::kDone;
}

}  // namespace

Command add_predict(Arguments root) {
  auto options = std::make_shared<PredictOptions>();
  Arguments app = root.add_command(
      "predict", "The time of a collective by the Hockney, LogP, LogGP or PLogP model");
  options->cost.add_to(app);
  app.add("--ranks", options->ranks, "Number of processes", {.type = "N", .required = true});
  app.add(
      "--message", options->message,
      "Size of the root's data; for alltoall what each rank sends to each other; not for barriers",
      {.type = "SIZE"});
  app.add(
      "--segment", options->segment,
      "Segment size; 'best': the best for each algorithm, unsegmented or a power of two from 64 "
      "bytes",
      {.type = "SIZE"});
  app.add_flag("--json", options->json, "JSON instead of a table");
  add_console_options(app, options->console);
  app.add_footer(
      "Assumes identical ranks and links; use 'compare' and 'simulate' for heterogeneous "
      "platforms.\nThe formulas: docs/models.md.");
  return {app, [options] { return run_predict(*options); }};
}

}  // namespace espalier::cli
