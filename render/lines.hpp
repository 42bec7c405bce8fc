// The links of a platform as lines between pairs of nodes, and the selection of the lines to draw.
// Not installed.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::render {

// A pair of nodes, one < other, with an arc in at least one direction.
struct Line {
  platforms::NodeId one{};
  platforms::NodeId other{};
  std::optional<platforms::ArcId> there;  // one -> other
  std::optional<platforms::ArcId> back;   // other -> one
  BytesPerSecond strongest;               // the faster of the two
};

// All lines of the platform, ascending.
std::vector<Line> lines_of(const platforms::Platform& platform);

struct Selection {
  std::vector<Line> lines;   // ascending
  std::size_t per_node = 0;  // this many strongest lines of every node are included; 0: all lines
};
// About `most` lines at most: a maximum spanning forest, which shows what is connected, and the
// strongest lines of every node, the same number for each.
Selection strongest(const platforms::Platform& platform, std::vector<Line> lines, std::size_t most);

// Maps bandwidths on a logarithmic scale to widths and colours.
class RateScale {
 public:
  // least > 0; greatest >= least. `crowded`: many lines, therefore thinner ones.
  RateScale(BytesPerSecond least, BytesPerSecond greatest, bool crowded);
  [[nodiscard]] double place(BytesPerSecond rate) const;  // 0 (least) to 1; 0.4 if all are equal
  [[nodiscard]] double width(BytesPerSecond rate) const;  // points
  [[nodiscard]] std::string colour(BytesPerSecond rate) const;
  // From the least to the greatest, evenly spaced on the scale; only one if they are equal.
  [[nodiscard]] std::vector<BytesPerSecond> samples() const;

 private:
  double low_;
  double high_;
  double thickest_;
};

// The key of a node's colour: the first level of its group or, without a group, its name up to a
// colon ("aws:us-east-1"), as for caps. Empty if it has neither.
std::string_view family_of(const platforms::Node& node);

// Pale fill colours for families, distinguishable under black text.
inline constexpr std::array<std::string_view, 8> kFamilyFills{
    "#cfe8f7", "#fbe0c8", "#d3efdf", "#f6d9ea", "#fff3b8", "#e2dcf6", "#e4e4e4", "#d9e7b5"};

}  // namespace espalier::render
