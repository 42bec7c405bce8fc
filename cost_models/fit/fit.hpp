// Parameters from measured times.
#pragma once

#include <span>

#include "cost_models/parameters.hpp"

namespace espalier::cost_models {

// The time of a message from its sender to its receiver: half of a ping-pong.
struct Timing {
  Bytes message;
  Seconds time;
};

// Fits a constant alpha and beta, neither negative, so that alpha + m beta approximates the
// measured times: least squares of the relative errors, so that small and large messages weigh the
// same. Throws InputError (place: "/INDEX") for a time that is not finite and above 0; and for
// fewer than two different message sizes.
Hockney fit_hockney(std::span<const Timing> timings);

}  // namespace espalier::cost_models
