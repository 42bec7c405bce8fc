// Platforms with some of their figures raised: what would be if a port or a link were faster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::platforms {

// Bandwidths and caps of a platform that are raised together. Each list ascending, no repeats.
struct Figures {
  std::vector<ArcId> links{};           // their bandwidths
  std::vector<NodeId> send_caps{};      // of nodes that have one
  std::vector<NodeId> receive_caps{};   // of nodes that have one
  std::vector<std::uint32_t> shared{};  // bandwidths of shared links, by number

  bool operator==(const Figures&) const = default;
};

// The figures that a row of the matrix is made of under `model`, which must be the one that made
// the row (docs/model.md, "What would be faster"): of a port the cap where the model goes by it,
// else the bandwidths of all links that occupy the port; of a link its link's; of a shared link its
// own.
Figures figures_behind(const Resource& resource, const Platform& platform, Model model);

// Those in any of both.
Figures together(const Figures& one, const Figures& other);

// "1 link", "70 links, 2 send caps": what is raised.
std::string describe(const Figures& figures);

// The same nodes, links and links, in the same order, with these figures times `factor`; latencies
// and overheads stay. factor: finite, above 0. Throws InputError (reason only) when a figure is no
// longer finite.
Platform faster(const Platform& platform, const Figures& figures, double factor);

}  // namespace espalier::platforms
