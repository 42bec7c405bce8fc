// Fits the parameters of a network to measured times of whole collectives, through the formulas of
// the registry, as CM, section 6.1; outliers are rejected by weights (docs/models.md).
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

// The non-negative parameters with the least squares of relative errors (docs/models.md). model:
// "hockney", "loggp" or "plogp". Throws InputError (reason only) for fewer measurements than the
// model has parameters (PLogP: L and the gaps), and for more than kMostFitted allows; (place:
// "/INDEX") for a time that is not finite and above 0. Errors as predict. std::invalid_argument for
// any other model, and for an entry of another model than `model`.
CollectiveFit fit_collectives(std::string_view model, std::span<const TimedCase> measured);

}  // namespace espalier::cost_models
