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
      throw InputError(fmt::format("--pair: {} is not two ranks, FROM,TO", in_quotes(text)));
    }
    return rank;
  };
  const char* const end = text.data() + text.size();
  const char* const comma = std::find(text.data(), end, ',');
  const runtime::probe::Flow pair{rank_at(text.data(), comma),
                                  rank_at(comma == end ? end : comma + 1, end)};
  if (pair.from == pair.to) throw InputError("--pair: a rank does not send to itself");
  return pair;
}

void check_model(ProbeArguments& arguments) {
  ModelArguments& model = arguments.model;
  if (model.name.empty()) {
    if (!(model.class_text + model.pair_text + model.largest_text).empty()) {
      throw InputError("--class, --pair and --largest go with --model");
    }
    return;
  }
  place_of("--model", "model", model.name, cost_models::kModelNames);
  if (arguments.resume || !arguments.measurements.empty()) {
    throw InputError("--resume and --measurements are of a platform's measurements, not --model's");
  }
  if (!model.class_text.empty() && !model.pair_text.empty()) {
    throw InputError("--class and --pair are two ways to say the same");
  }
  if (!model.class_text.empty()) {
    model.pair_class = static_cast<runtime::probe::PairClass>(
        place_of("--class", "class", model.class_text, runtime::probe::kPairClasses));
  }
  if (!model.pair_text.empty()) model.pair = pair_of(model.pair_text);
  if (!model.largest_text.empty()) model.largest = size_of("--largest", model.largest_text);
  if (model.largest.value < 2 || model.largest > kLargestMessage) {
    throw InputError(fmt::format("--largest: {} is not 2 B to {}", format_size(model.largest),
                                 format_size(kLargestMessage)));
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
                    "quick, normal, thorough, or a number of times normal's (0.1 to 100)");
  probe->add_flag("--resume", to.resume,
                  "go on from the measurements that a probe which was broken off has left in "
                  "OUTPUT.measurements.json");
  probe->add_option("--measurements", to.measurements, "where to write the raw measurements too");
  probe->add_option("--name", to.name, "the platform's name, or the network's");
  probe->add_option("--model", to.model.name,
                    fmt::format("write the parameters of a cost model of messages instead, for "
                                "espalier decide and predict: {}",
                                fmt::join(cost_models::kModelNames, ", ")));
  probe->add_option("--class", to.model.class_text,
                    fmt::format("with --model, of which pairs: {} (default: between hosts where "
                                "there are several)",
                                fmt::join(runtime::probe::kPairClasses, ", ")));
  probe->add_option("--pair", to.model.pair_text, "with --model: of two ranks alone, FROM,TO");
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
    throw InputError("--json and -o - would both be standard output");
  }
  if (arguments.out == "-" && arguments.resume) {
    throw InputError("--resume goes on from what is beside a file, and -o - is none");
  }
  if (arguments.measurements == "-") throw InputError("--measurements is a file");
  if (!arguments.measurements.empty() && arguments.measurements == arguments.out) {
    throw InputError("--measurements and -o are the same file");
  }
}

}  // namespace espalier::cli
