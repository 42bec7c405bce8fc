// Platforms with some values increased, to see the effect of a faster port or link.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::platforms {

// Bandwidths and caps of a platform to increase by one factor. Each list ascending, no duplicates.
struct Figures {
  std::vector<ArcId> links{};           // their bandwidths
  std::vector<NodeId> send_caps{};      // nodes with a send cap
  std::vector<NodeId> receive_caps{};   // nodes with a receive cap
  std::vector<std::uint32_t> shared{};  // indices of shared links: their bandwidths
  std::vector<ArcId> link_sends{};      // links with a send rate of their own
  std::vector<ArcId> link_receives{};   // links with a receive rate of their own

  bool operator==(const Figures&) const = default;
};

// The values that determine a row of the matrix under `model`, which must be the model of the row
// (docs/model.md, "What would be faster"). For a port: its cap if the model uses it, otherwise the
// bandwidths of all links that occupy the port; for a processor also the rates that links have of
// their own. For a link or shared link: its bandwidth.
Figures figures_behind(const Resource& resource, const Platform& platform, Model model);

// The union of both.
Figures union_of(const Figures& one, const Figures& other);

// "1 link", "70 links, 2 send caps".
std::string describe(const Figures& figures);

// The same nodes, links and shared links in the same order, with these values multiplied by
// `factor` (finite, above 0); latencies and overheads are unchanged. Throws InputError (reason
// only) if a value is not finite afterwards.
Platform faster(const Platform& platform, const Figures& figures, double factor);

}  // namespace espalier::platforms
