// Measured links by class, from which generated topologies draw the bandwidths and latencies of
// their links.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::platforms {

struct MeasuredLink {
  BytesPerSecond bandwidth;  // finite, positive
  Seconds latency;           // finite, not negative
};

// The links of each class, in the order of the file; no class is empty. The class is the number in
// Tiers' bandwidth column: 10 (WAN), 100 (MAN, and between networks), 1000 (LAN).
using LinkClasses = std::map<std::uint64_t, std::vector<MeasuredLink>>;

// Reads a CSV table with the columns `class` (or `tiers_class`), `bandwidth_UNIT` and
// `latency_UNIT`. UNIT is as in an edge list, or with "_per_" for the slash ("kbit_per_s"). Throws
// InputError (file, line, reason).
LinkClasses read_link_classes(const std::string& file);
// The same for text in memory; `file` is for messages.
LinkClasses parse_link_classes(std::string_view text, const std::string& file);

}  // namespace espalier::platforms
