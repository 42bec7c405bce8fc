// Families of random platforms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platforms/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

// The random family of Beaumont, Legrand, Marchal, Robert (HBT, Simulations, 1).
struct RandomFamily {
  std::size_t nodes = 30;
  double density = 0.12;            // links / (n (n - 1) / 2), but never under n - 1 links
  BytesPerSecond bandwidth{100e6};  // mean of the Gaussian
  BytesPerSecond deviation{20e6};
  std::uint64_t seed = 1;
};

// A connected platform of hosts n0, n1, ...: a random spanning tree, then random further pairs up
// to the density; each link both ways, both directions equal. Bandwidths are Gaussian, redrawn
// while under a tenth of the mean, so that no link is near zero. The same family gives the same
// platform on every machine (own sampling, not std::normal_distribution's). Throws InputError for
// fewer than 2 nodes, a density outside (0, 1], a bad bandwidth or deviation.
Platform generate_random(const RandomFamily& family);

}  // namespace espalier::platforms
