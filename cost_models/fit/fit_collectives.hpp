// Parameters of a network from measured times of whole collectives: those with which the formulas
// of the registry come nearest.
//
// The same idea as CM's, section 6.1, which fits to the pipelined broadcast and the flat-tree
// barrier. Weights after P. J. Huber, Robust Statistics, 1981 (k = 1.345), and then J. W. Tukey's
// biweight (c = 4.685), so that a few measurements far off do not count.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cost_models/formulas/predict.hpp"

namespace espalier::cost_models {

// A measured call. The entry's formula is of the model that is fitted.
struct TimedCase {
  const FormulaEntry* entry = nullptr;
  Case of;
  Seconds time;
};

// How well one parameter is known.
struct FittedFigure {
  std::string_view name{};      // as in parameters_json.hpp: "latency_s"
  std::optional<Bytes> size{};  // at which, of a function of the message's size that is a table
  double value = 0;             // in seconds, or seconds a byte
  // The standard error; unset where the parameter came out as 0, and where it is not told.
  std::optional<double> error{};
  // Whether the measurements tell it apart from the others: most broadcasts know L + 2 o only. One
  // that is not told is 0 if that does not make the fit worse.
  bool told = true;
};

struct CollectiveFit {
  Parameters parameters;              // Hockney's with constants, LogGP's, or PLogP's with tables
  std::vector<FittedFigure> figures;  // one a parameter
  std::vector<Seconds> predicted;     // of each measurement
  std::vector<double> weights;        // of each measurement, 0 (an outlier) to 1
};

// Of how many sizes PLogP's functions are fitted at most.
inline constexpr std::size_t kMostFittedSizes = 16;
// Measurements times parameters: some seconds.
inline constexpr std::size_t kMostFitted = 400'000;

// The parameters, none negative, with the least squares of relative errors.
//
// PLogP's functions are tables at the sizes of which messages were sent: the segments of the
// measurements, and the halves that split-binary exchanges; of more than kMostFittedSizes so many,
// evenly spread over them. g(m) is at least os(m) and or(m). What the measurements do not tell
// (broadcasts know the overheads hardly, barriers not at all) is 0.
//
// model: "hockney", "loggp" or "plogp". Throws InputError (reason only) for fewer measurements than
// the model has parameters (of PLogP: L and the gaps), and for more than kMostFitted allows;
// (place: "/INDEX") for a time that is not finite and above zero. Errors as predict.
// std::invalid_argument for an entry of another model, and for another model.
CollectiveFit fit_collectives(std::string_view model, std::span<const TimedCase> measured);

}  // namespace espalier::cost_models
