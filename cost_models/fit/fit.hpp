// Parameters from measured times.
#pragma once

#include <span>

#include "cost_models/parameters.hpp"

namespace espalier::cost_models {

// A message that was timed from its sender to its receiver: half of a ping-pong.
struct Timing {
  Bytes message;
  Seconds time;
};

// The constant alpha and beta, neither negative, whose times alpha + m beta are nearest to the
// measured ones: least squares of the relative errors, so that small messages count as large ones
// do. Throws InputError (place: "/INDEX") for a time that is not finite and above zero; and for
// fewer than two different message sizes.
Hockney fit_hockney(std::span<const Timing> timings);

}  // namespace espalier::cost_models
