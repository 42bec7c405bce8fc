#include <fmt/format.h>

// smpicxx makes it a macro, but CLI11 has a member of that name.
#undef exit
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "cli/espalier_mpi/commands/probe.hpp"
#include "cli/espalier_mpi/options/running_options.hpp"
#include "cost_models/parameters.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

constexpr Bytes kLargestMessage{std::uint64_t{1} << 30};

runtime::probe::Flow pair_of(const std::string& text) {
  const auto rank_at = [&](const char* begin, const char* end) {
    std::size_t rank = 0;
    const auto [stop, fault] = std::from_chars(begin, end, rank);
    if (fault != std::errc{} || stop != end) {
      throw InputError(
          fmt::format("--pair: {} is not a pair of ranks; give FROM,TO", in_quotes(text)));
    }
    return rank;
  };
  const char* const end = text.data() + text.size();
  const char* const comma = std::find(text.data(), end, ',');
  const runtime::probe::Flow pair{rank_at(text.data(), comma),
                                  rank_at(comma == end ? end : comma + 1, end)};
  if (pair.from == pair.to)
    throw InputError("--pair: a rank cannot send to itself; give two ranks");
  return pair;
}

void check_model(ProbeArguments& arguments) {
  ModelArguments& model = arguments.model;
  if (model.name.empty()) {
    if (!(model.class_text + model.pair_text + model.largest_text).empty()) {
      throw InputError("--class, --pair and --largest need --model");
    }
    return;
  }
  place_of("--model", "model", model.name, cost_models::kModelNames);
  if (arguments.resume || !arguments.measurements.empty()) {
    throw InputError("--resume and --measurements cannot be combined with --model");
  }
  if (!model.class_text.empty() && !model.pair_text.empty()) {
    throw InputError("--class and --pair both select the pairs; give one of them");
  }
  if (!model.class_text.empty()) {
    model.pair_class = static_cast<runtime::probe::PairClass>(
        place_of("--class", "class", model.class_text, runtime::probe::kPairClasses));
  }
  if (!model.pair_text.empty()) model.pair = pair_of(model.pair_text);
  if (!model.largest_text.empty()) model.largest = size_of("--largest", model.largest_text);
  if (model.largest.value < 2 || model.largest > kLargestMessage) {
    throw InputError(fmt::format("--largest: {} is out of range; give 2 B to {}",
                                 format_size(model.largest), format_size(kLargestMessage)));
  }
}

}  // namespace

CLI::App* add_probe(CLI::App& app, ProbeArguments& to) {
  CLI::App* probe = app.add_subcommand(
      "probe", "measure the network between the ranks, and write it as a platform");
  probe
      ->add_option("-o,--output", to.out,
                   "platform file, with --model parameters file; - is standard output")
      ->required();
  probe->add_option("--effort", to.effort,
                    "quick, normal, thorough, or a multiple of normal (0.1 to 100)");
  probe->add_flag("--resume", to.resume,
                  "continue an interrupted probe from its measurements in "
                  "OUTPUT.measurements.json");
  probe->add_option("--measurements", to.measurements, "file for the raw measurements");
  probe->add_option("--name", to.name, "name of the platform, or with --model of the network");
  probe->add_option("--model", to.model.name,
                    fmt::format("instead of a platform, write the parameters of a cost model, for "
                                "espalier decide and predict: {}",
                                fmt::join(cost_models::kModelNames, ", ")));
  probe->add_option("--class", to.model.class_text,
                    fmt::format("with --model: the pairs to measure: {} (default: between hosts if "
                                "there are several)",
                                fmt::join(runtime::probe::kPairClasses, ", ")));
  probe->add_option("--pair", to.model.pair_text,
                    "with --model: measure only this pair of ranks, FROM,TO");
  probe->add_option("--largest", to.model.largest_text,
                    "with --model: the largest message (default 1MiB)");
  probe->add_flag("--json", to.json, "a summary as JSON on standard output");
  probe->add_flag("--quiet", to.quiet, "no progress");
  return probe;
}

void check_probe(ProbeArguments& arguments) {
  check_model(arguments);
  try {
    arguments.effort_factor = runtime::probe::parse_effort(arguments.effort);
  } catch (const InputError& error) {
    throw InputError(fmt::format("--effort: {}", error.what()));
  }
  if (arguments.out == "-" && arguments.json) {
    throw InputError("--json and -o - both write to standard output; give one of them");
  }
  if (arguments.out == "-" && arguments.resume) {
    throw InputError("--resume reads measurements beside the output file; give -o a file name");
  }
  if (arguments.measurements == "-") throw InputError("--measurements needs a file name");
  if (!arguments.measurements.empty() && arguments.measurements == arguments.out) {
    throw InputError("--measurements and -o are the same file; give two names");
  }
}

}  // namespace espalier::cli
