// Any bytes at all given as parameters are refused with InputError, or are a network that every
// formula of its model can be asked about.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cost_models/formulas/predict.hpp"
#include "cost_models/parameters_json.hpp"
#include "support/errors.hpp"
#include "tests/fuzz/target.hpp"

void espalier::testing::check_parameters(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto [network, computation] = cost_models::parse_parameters(text, "fuzz");
    const cost_models::SecondsPerByte combining =
        computation.value_or(cost_models::SecondsPerByte{});
    for (const cost_models::FormulaEntry& entry : cost_models::formulas()) {
      if (entry.model() != cost_models::kModelNames[network.index()]) continue;
      for (const std::uint64_t bytes : {0, 1, 1000, 100'000'000}) {
        const double time = predict(entry, network, {7, {bytes}, {512}, combining}).value;
        if (!std::isfinite(time)) std::abort();
      }
    }
  } catch (const espalier::InputError&) {
    return;
  }
}
