// A simulated network: simultaneous flows share its resources fairly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/measurements.hpp"
#include "runtime/measure/network.hpp"

namespace espalier::testing {

using runtime::probe::Flow;

// The true properties of the network. Rates in bytes/s.
struct Truth {
  // Port models: a flow occupies both its ends for 1 / rate per byte, and each end divides its time
  // among its flows.
  enum class Ports { kNone, kOnePort, kUnidirectional };
  struct SharedLink {
    std::set<Flow> arcs;
    double rate;
  };
  std::vector<std::vector<double>> rate;  // [from][to]
  Ports ports = Ports::kNone;
  std::vector<std::optional<double>> send;  // caps; empty: none
  std::vector<std::optional<double>> receive;
  std::vector<SharedLink> shared_links;
  static constexpr double kRoundTrip_s = 200e-6;
  double round_trip_s = kRoundTrip_s;
  std::vector<std::size_t> site{};  // of each rank; empty: all at one
  double between_sites_s = 0;       // added to a round trip

  [[nodiscard]] std::size_t ranks() const { return rate.size(); }
  // Hosts on a switch, capped by the rates of their cables in each direction.
  static Truth star(const std::vector<double>& up, const std::vector<double>& down);
  static Truth star(const std::vector<double>& cables) { return star(cables, cables); }
  // Adds a link shared by all arcs from one of these hosts to one of those.
  void join(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to, double rate);
};

class CalculatedNetwork : public runtime::probe::Network {
 public:
  // noise: largest relative deviation of every rate, in either direction.
  CalculatedNetwork(Truth truth, double noise, std::uint64_t seed);

  [[nodiscard]] std::size_t ranks() const override { return truth_.ranks(); }
  // Buffers hold all bytes by which a sender may be ahead.
  std::vector<double> transfer(const runtime::probe::Transfer& transfer) override;
  std::vector<runtime::probe::ShortMessages> exchange(std::span<const Flow> flows,
                                                      std::size_t messages) override;

  // A byte costs 1 / rate in the forward direction; otherwise as a short message's round trip.
  runtime::probe::MessageTimes time_messages(const Flow& flow, std::uint64_t bytes,
                                             std::size_t messages) override;

  // The gap is kGap_s times the number of destinations, up to 4; the bytes after the first cost
  // those of the slowest arc.
  double send_in_turn(std::size_t from, std::span<const std::size_t> to, std::uint64_t bytes,
                      std::size_t messages) override;
  double combine(std::size_t rank, std::uint64_t bytes, std::size_t calls) override;

  static constexpr double kRoundTrip_s = Truth::kRoundTrip_s;
  static constexpr double kGap_s = 3e-6;
  static constexpr double kCombining_s_per_byte = 1e-10;  // of rank 0; rank i takes 1 + i as much
  std::size_t transfers = 0;                              // so far
  std::size_t flows_sent = 0;                             // in these
  double seconds = 0;                                     // total time until everything had arrived

 private:
  struct Occupation {
    std::size_t flow;
    double seconds_per_byte;
  };
  using Resource = std::vector<Occupation>;
  [[nodiscard]] std::vector<Resource> resources_of(const std::vector<Flow>& flows) const;
  double noisy(double figure);

  Truth truth_;
  double noise_;
  std::mt19937_64 random_;
};

inline constexpr double kMbit = 125e3;  // B/s

// What a probe begins with.
inline runtime::probe::Measurements unmeasured(std::size_t ranks) {
  runtime::probe::Measurements none;
  for (std::size_t rank = 0; rank < ranks; ++rank) none.hosts.push_back("h" + std::to_string(rank));
  return none;
}

}  // namespace espalier::testing
