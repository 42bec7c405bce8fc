#include "cost_models/formulas/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "cost_models/formulas/terms.hpp"
#include "cost_models/formulas/two_tree.hpp"
#include "support/errors.hpp"

namespace espalier::cost_models {

Bytes segment_of(const Case& of) {
  return of.segment.value == 0 ? of.message : std::min(of.segment, of.message);
}

std::uint64_t segments_of(const Case& of) {
  const std::uint64_t segment = segment_of(of).value;
  if (segment == 0) return 1;
  return of.message.value / segment + (of.message.value % segment != 0 ? 1 : 0);
}

Counts counts_of(const Case& of) {
  if (of.ranks == 0 || of.ranks > kMaxRanks) {
    throw InputError({}, "ranks", fmt::format("must be from 1 to {}, not {}", kMaxRanks, of.ranks));
  }
  if (!std::isfinite(of.computation.value) || of.computation.value < 0) {
    throw InputError(
        {}, "computation",
        fmt::format("must be finite and at least 0 s per byte, not {}", of.computation.value));
  }
  const auto as_double = [](std::uint64_t value) { return static_cast<double>(value); };
  const double segment_bytes = as_double(segment_of(of).value);
  const auto log_floor = static_cast<int>(std::bit_width(of.ranks)) - 1;
  const bool power_of_two = std::has_single_bit(of.ranks);
  return {.ranks = as_double(of.ranks),
          .segments = as_double(segments_of(of)),
          .half_segments = std::ceil(as_double(segments_of(of)) / 2),
          .segment_bytes = segment_bytes,
          .message_bytes = as_double(of.message.value),
          .half_bytes = as_double(of.message.value - of.message.value / 2),
          .share_bytes = as_double(of.message.value) / as_double(of.ranks),
          .log_floor = static_cast<double>(log_floor),
          .log_ceil = static_cast<double>(power_of_two ? log_floor : log_floor + 1),
          // ceil(log2(P + 1)) is the number of bits of P
          .levels = static_cast<double>(log_floor + 1),
          .compute_s = of.computation.value * segment_bytes,
          .compute_all_s = of.computation.value * as_double(of.message.value),
          .power_of_two = power_of_two};
}

Seconds finite(double seconds) {
  if (!std::isfinite(seconds)) throw InputError("the predicted time overflows a double");
  return {seconds};
}

Seconds predict(const FormulaEntry& entry, const Parameters& parameters, const Case& of) {
  Case seen = of;  // what the formula uses of it
  if (entry.operation == "barrier") seen.message = {};
  if (!entry.segments) seen.segment = {};
  if (entry.halves()) {
    seen.segment = std::min(segment_of(of), Bytes{of.message.value - of.message.value / 2});
  }
  return std::visit(
      [&seen]<typename Terms, typename Model>(FormulaOf<Terms> formula,
                                              const Model& model) -> Seconds {
        if constexpr (std::is_same_v<Terms, decltype(terms(model, Counts{}))>) {
          check(model);
          const Counts counts = counts_of(seen);
          if (seen.ranks == 1) return {};
          return finite(formula(terms(model, counts), counts));
        } else {
          throw std::invalid_argument("the parameters are not of the formula's model");
        }
      },
      entry.formula, parameters);
}

std::vector<Bytes> usual_segments(Bytes message) {
  std::vector<Bytes> segments{{0}};
  for (std::uint64_t size = 64; size != 0 && size < message.value; size *= 2) {
    segments.push_back({size});
  }
  return segments;
}

Prediction best_segment(const FormulaEntry& entry, const Parameters& parameters, const Case& of,
                        std::span<const Bytes> segments) {
  if (segments.empty()) throw InputError("no segment sizes to choose from");
  std::vector<Bytes> sizes(segments.begin(), segments.end());
  if (!entry.segments) sizes = {{0}};
  if (entry.algorithm == "two-tree" && std::holds_alternative<LogGP>(parameters)) {
    sizes.push_back(optimal_chunk_size(entry.operation, std::get<LogGP>(parameters), of));
  }
  std::optional<Prediction> best;
  for (const Bytes size : sizes) {
    Case tried = of;
    tried.segment = size < of.message ? size : Bytes{0};
    const Seconds time = predict(entry, parameters, tried);
    if (!best || time < best->time) best = Prediction{&entry, tried, time};
  }
  return *best;
}

}  // namespace espalier::cost_models
