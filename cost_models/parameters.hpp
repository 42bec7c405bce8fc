// The parameters of a network in the models of point-to-point messages.
//
// Sources: CM = J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. E. Fagg, E. Gabriel, J. J.
// Dongarra, Performance analysis of MPI collective operations, section 3; LogP: D. Culler et al.,
// PPoPP 1993; LogGP: A. Alexandrov et al., SPAA 1995; PLogP: T. Kielmann, H. E. Bal, K. Verstoep,
// Fast measurement of LogP parameters for message passing platforms, IPDPS Workshops 2000.
//
// The number of processes P belongs to the collective (formulas.hpp, Case), not to the network.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <variant>

#include "cost_models/piecewise_linear.hpp"
#include "support/quantities.hpp"

namespace espalier::cost_models {

// NOLINTBEGIN(modernize-use-nullptr): clang-tidy 14 takes a defaulted <=> for a null pointer
// Time per byte.
struct SecondsPerByte {
  double value = 0;
  auto operator<=>(const SecondsPerByte&) const = default;
};
// NOLINTEND(modernize-use-nullptr)

// A message of m bytes takes alpha(m) + m beta(m).
struct Hockney {
  PiecewiseLinear alpha_s;
  PiecewiseLinear beta_s_per_byte;
};

// A message of m bytes takes L + 2 o + (m - 1) G; its sender may start the next one g + (m - 1) G
// later. LogP is the same with G = 0 (CM, section 5).
struct LogGP {
  Seconds latency;              // L
  Seconds overhead;             // o, of the sender and of the receiver each
  Seconds gap;                  // g
  SecondsPerByte gap_per_byte;  // G
};

// A message of m bytes takes L + g(m); its sender may start the next one g(m) later. L is end to
// end: it includes LogGP's overheads.
struct PLogP {
  Seconds latency;                     // L
  PiecewiseLinear send_overhead_s;     // os(m)
  PiecewiseLinear receive_overhead_s;  // or(m)
  PiecewiseLinear gap_s;               // g(m) >= os(m), or(m)
};

using Parameters = std::variant<Hockney, LogGP, PLogP>;
// In the order of Parameters.
inline constexpr std::array<std::string_view, 3> kModelNames{"hockney", "loggp", "plogp"};

// Throws InputError for a figure that is negative or not finite, and for a g(m) below an overhead
// at 1 byte or at the largest size of g(m). Tables are checked by their constructor.
void check(const Hockney& model);
void check(const LogGP& model);
void check(const PLogP& model);

// Throws InputError (place: "/INDEX") unless the measured time is finite and above 0.
void require_time(std::size_t index, Seconds measured);

// The same network with G = 0: LogP.
LogGP logp(const LogGP& model);

// Kielmann et al.'s conversion, as in CM, section 6.1: L' = L + g(1) - os(1) - or(1),
// o = (os(1) + or(1)) / 2, g = g(1), G = g(m) / m at the largest size m of g(m)'s table. Throws
// InputError if L' is negative, or g(m) is not a table (a constant gap gives no G).
LogGP loggp_from(const PLogP& model);

// The reverse conversion, exact for one message and for consecutive ones: g(m) = g + (m - 1) G,
// os = or = o, L' = L + 2 o - g. Throws InputError if L' or G is negative, or g is below o, which
// PLogP does not allow.
PLogP plogp_from(const LogGP& model);

// Hockney's model with the same time for one message: alpha = L + 2 o - G, beta = G. Throws
// InputError if alpha is negative.
Hockney hockney_from(const LogGP& model);

}  // namespace espalier::cost_models
