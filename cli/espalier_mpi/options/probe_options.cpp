#include <fmt/format.h>

#include "cli/espalier_mpi/commands/probe.hpp"
#include "cli/espalier_mpi/options/options.hpp"
#include "cost_models/parameters.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

runtime::probe::Flow read_pair(const std::string& text) {
  const std::vector<std::string_view> ranks = split(text, ',');
  runtime::probe::Flow pair{};
  try {
    if (ranks.size() != 2) throw InputError("not a pair");
    pair = {parse_count(ranks[0]), parse_count(ranks[1])};
  } catch (const InputError&) {
    throw InputError(fmt::format("{} is not a pair of ranks; give FROM,TO", in_quotes(text)));
  }
  if (pair.from == pair.to) throw InputError("a rank cannot send to itself; give two ranks");
  return pair;
}

Bytes read_largest(const std::string& text) {
  constexpr Bytes kMost{std::uint64_t{1} << 30};
  const Bytes largest = parse_size(text);
  if (largest.value >= 2 && largest <= kMost) return largest;
  throw InputError(
      fmt::format("{} is out of range; give 2 B to {}", format_size(largest), format_size(kMost)));
}

}  // namespace

void ProbeCommand::add_to(Arguments& app) {
  const std::vector<std::string_view> models(cost_models::kModelNames.begin(),
                                             cost_models::kModelNames.end());
  app.add("-o,--output", out, "platform file, with --model parameters file; - is standard output",
          {.type = "FILE", .required = true});
  app.add("--effort", effort_factor, runtime::probe::parse_effort,
          "quick, normal, thorough (all pairs, of any number of ranks), or a multiple of "
          "normal (0.1 to 100)",
          {.type = "EFFORT", .shown = "normal"});
  app.add("--resume", resume,
          "continue an interrupted probe from its measurements in OUTPUT.measurements.json");
  app.add("--dry-run", dry_run, "say how long it will take, and measure nothing");
  app.add("--measurements", measurements, "file for the raw measurements", {.type = "FILE"});
  app.add("--name", name, "name of the platform, or with --model of the network", {.type = "NAME"});
  app.add("--model", model.name, among("model", models),
          "instead of a platform, write the parameters of a cost model, for espalier decide and "
          "predict, " +
              one_of(models),
          {.type = "NAME"});
  app.add("--class", model.pair_class,
          one_named<runtime::probe::PairClass>("class", runtime::probe::kPairClasses),
          "with --model: the pairs to measure, " + one_of(runtime::probe::kPairClasses) +
              " (default: between hosts if there are several)");
  app.add("--pair", model.pair, read_pair, "with --model: measure only this pair of ranks",
          {.type = "FROM,TO"});
  app.add("--largest", model.given_largest, read_largest, "with --model: the largest message",
          {.shown = shown(model.largest())});
  app.add("--statistics", model.given_statistics,
          one_named<runtime::probe::Statistics>("statistics", runtime::probe::kStatistics),
          "with --model: repeat each value three times, or until the runs agree, " +
              one_of(runtime::probe::kStatistics),
          {.type = "NAME", .shown = "least"});
  add_timeout(app, timeout);
  app.add("--json", json, "a summary as JSON on standard output");
  app.add("--quiet", quiet, "no progress");
}

void ProbeCommand::check() const {
  const bool has_model = !model.name.empty();
  if (!has_model &&
      (model.pair_class || model.pair || model.given_largest || model.given_statistics)) {
    throw InputError("--class, --pair, --largest and --statistics need --model");
  }
  if (has_model && (resume || !measurements.empty())) {
    throw InputError("--resume and --measurements cannot be combined with --model");
  }
  if (model.pair_class && model.pair) {
    throw InputError("--class and --pair both select the pairs; give one of them");
  }
  if (dry_run && (has_model || resume)) {
    throw InputError("--dry-run is for whole probes; leave out --model and --resume");
  }
  if (out == "-" && json) {
    throw InputError("--json and -o - both write to standard output; give one of them");
  }
  if (out == "-" && resume) {
    throw InputError("--resume reads measurements beside the output file; give -o a file name");
  }
  if (measurements == "-") throw InputError("--measurements needs a file name");
  if (!measurements.empty() && measurements == out) {
    throw InputError("--measurements and -o are the same file; give two names");
  }
}

ExitStatus ProbeCommand::run() const {
  run_probe(*this);
  return ExitStatus::kDone;
}

void add_probe(Arguments root, const Job& job) {
  root.add_command<ProbeCommand>(
      "probe", "measure the network between the ranks, and write it as a platform", job);
}

}  // namespace espalier::cli
