// The colours of charts and pictures.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace espalier::render {

// Colours for distinct items. From Okabe and Ito, "Color Universal Design" (2008), without the
// yellow and the light blue, which are hard to see on white, and with a darker orange.
inline constexpr std::array<std::string_view, 7> kSeriesColours{
    "#0072b2", "#d55e00", "#009e73", "#c2548f", "#222222", "#a87900", "#5b6bd6"};

// The colour of `share` (clamped to 0 to 1) on a ramp from light green to dark violet, as
// "#rrggbb". The ramp darkens evenly and is readable with any colour vision: viridis without the
// yellow end, which is hard to see on white (S. van der Walt, N. Smith, matplotlib 1.5, 2015).
std::string ramp_colour(double share);

// `colour` ("#rrggbb") mixed with white: 0 keeps it unchanged, 1 makes it white.
std::string tint(std::string_view colour, double white);

}  // namespace espalier::render
