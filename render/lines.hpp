// The links of a platform as lines between pairs of nodes, and which of many are drawn. Not
// installed.
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

// A pair of nodes, one < other, with an arc at least one way.
struct Line {
  platforms::NodeId one{};
  platforms::NodeId other{};
  std::optional<platforms::ArcId> there;  // one -> other
  std::optional<platforms::ArcId> back;   // other -> one
  BytesPerSecond strongest;               // the faster of the two
};

// All of them, ascending.
std::vector<Line> lines_of(const platforms::Platform& platform);

struct Selection {
  std::vector<Line> lines;   // ascending
  std::size_t per_node = 0;  // each node's so many strongest are there; 0: all lines are
};
// At most about `most` of the lines: those of a maximum spanning forest, so that what hangs
// together is seen to, and of every node the strongest, as many for each as there is room for.
Selection strongest(const platforms::Platform& platform, std::vector<Line> lines, std::size_t most);

// Bandwidths as places on a logarithmic scale, and what they look like.
class RateScale {
 public:
  // least > 0; greatest >= least. `crowded`: many lines, which are thinner then.
  RateScale(BytesPerSecond least, BytesPerSecond greatest, bool crowded);
  [[nodiscard]] double place(BytesPerSecond rate) const;  // 0 (least) to 1; 0.4 where all are equal
  [[nodiscard]] double width(BytesPerSecond rate) const;  // points
  [[nodiscard]] std::string colour(BytesPerSecond rate) const;
  // From the least to the greatest, evenly on the scale; one where they are equal.
  [[nodiscard]] std::vector<BytesPerSecond> samples() const;

 private:
  double low_;
  double high_;
  double thickest_;
};

// What a node is coloured by: the first level of its group or, without one, its name up to a colon
// ("aws:us-east-1"), which is what caps go by too. Empty: neither.
std::string_view family_of(const platforms::Node& node);

// Pale fills for families, told apart under black text.
inline constexpr std::array<std::string_view, 8> kFamilyFills{
    "#cfe8f7", "#fbe0c8", "#d3efdf", "#f6d9ea", "#fff3b8", "#e2dcf6", "#e4e4e4", "#d9e7b5"};

}  // namespace espalier::render
