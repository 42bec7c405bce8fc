// Any bytes at all given as measured times are refused with InputError, or are times above zero.
#include "cli/espalier/costs/measured_times.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "support/errors.hpp"
#include "tests/fuzz/target.hpp"

void espalier::testing::check_measured_times(const std::uint8_t* data, std::size_t size) {
  using espalier::cost_models::Measurement;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const Measurement& one : espalier::cli::parse_measured_times(text, "fuzz", "broadcast")) {
      if (!std::isfinite(one.time.value) || one.time.value <= 0) std::abort();
    }
  } catch (const espalier::InputError&) {
    return;
  }
}
