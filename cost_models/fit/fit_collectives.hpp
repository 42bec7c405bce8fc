// Fits the parameters of a network to measured times of whole collectives, through the formulas of
// the registry.
//
// CM, section 6.1, does the same with the pipelined broadcast and the flat-tree barrier. Outliers
// are rejected by weights: P. J. Huber, Robust Statistics, 1981 (k = 1.345), then J. W. Tukey's
// biweight (c = 4.685).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cost_models/formulas/predict.hpp"

namespace espalier::cost_models {

// A measured call. `entry` is a formula of the model that is fitted.
struct TimedCase {
  const FormulaEntry* entry = nullptr;
  Case of;
  Seconds time;
};

// A fitted parameter and its accuracy.
struct FittedFigure {
  std::string_view name{};      // as in parameters_json.hpp: "latency_s"
  std::optional<Bytes> size{};  // message size of a table's point; unset: not a table
  double value = 0;             // in seconds, or seconds per byte
  // The standard error; unset where the value is 0 or not determined.
  std::optional<double> error{};
  // Whether the measurements determine it separately: most broadcasts determine only L + 2 o. A
  // parameter that is not determined is 0 if that does not make the fit worse.
  bool determined = true;
};

struct CollectiveFit {
  Parameters parameters;              // Hockney's with constants, LogGP's, or PLogP's with tables
  std::vector<FittedFigure> figures;  // one per parameter
  std::vector<Seconds> predicted;     // of each measurement
  std::vector<double> weights;        // of each measurement, 0 (an outlier) to 1
};

// The greatest number of sizes at which PLogP's functions are fitted.
inline constexpr std::size_t kMostFittedSizes = 16;
// The greatest product of measurements and parameters, which takes a few seconds.
inline constexpr std::size_t kMostFitted = 400'000;

// The non-negative parameters with the least squares of relative errors.
//
// PLogP's functions are tables at the sizes of the messages that were sent: the measured segment
// sizes and the halves that split-binary exchanges. Of more than kMostFittedSizes sizes, that many
// are used, evenly spread. g(m) is at least os(m) and or(m). Parameters that the measurements do
// not determine are 0 (broadcasts hardly determine the overheads, barriers not at all).
//
// model: "hockney", "loggp" or "plogp". Throws InputError (reason only) for fewer measurements than
// the model has parameters (PLogP: L and the gaps), and for more than kMostFitted allows; (place:
// "/INDEX") for a time that is not finite and above 0. Errors as predict. std::invalid_argument for
// any other model, and for an entry of another model than `model`.
CollectiveFit fit_collectives(std::string_view model, std::span<const TimedCase> measured);

}  // namespace espalier::cost_models
