// The colours of charts and pictures.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace espalier {

// For things that are told apart. After Okabe and Ito, "Color Universal Design" (2008), without the
// yellow and the light blue, which vanish on white, and with the orange darkened.
inline constexpr std::array<std::string_view, 7> kSeriesColours{
    "#0072b2", "#d55e00", "#009e73", "#c2548f", "#222222", "#a87900", "#5b6bd6"};

// The colour of `share` (0 to 1; beyond is cut off) on a ramp from light green to dark violet,
// which darkens evenly and reads the same with any colour vision: viridis, without the yellow end,
// which vanishes on white (S. van der Walt, N. Smith, matplotlib 1.5, 2015). "#rrggbb".
std::string ramp_colour(double share);

// `colour` ("#rrggbb") mixed with white: 0 leaves it as it is, 1 makes it white.
std::string tint(std::string_view colour, double white);

}  // namespace espalier
