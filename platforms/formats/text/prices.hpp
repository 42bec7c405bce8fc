// Prices of links from a table of pairs, such as Skyplane's grid of egress prices (docs/formats.md,
// "Prices").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::platforms {

// `platform` with the prices of `text`: CSV with the headings src, dest, cost (or from, to,
// price_per_GB), in USD for 10^9 bytes. Links that it does not list keep the prices that they have.
// Throws InputError (file, line, reason): a heading is missing, a price is not finite and not
// negative, a pair is listed twice, or no row is about a link of the platform. notes: receives what
// was left out.
Platform with_price_table(const Platform& platform, std::string_view text, const std::string& file,
                          std::vector<std::string>& notes);

}  // namespace espalier::platforms
