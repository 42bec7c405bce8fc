#include "render/lines.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <cmath>
#include <numeric>

#include "render/charts/colours.hpp"

namespace espalier::render {

using platforms::ArcId;
using platforms::Platform;

std::vector<Line> lines_of(const Platform& platform) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < platform.arcs().size(); ++i) {
    const platforms::Arc& arc = platform.arcs()[i];
    const auto id = static_cast<ArcId>(i);
    const auto back = platform.find_arc(arc.to, arc.from);
    if (arc.from < arc.to) {
      const BytesPerSecond other = back ? platform.arc(*back).bandwidth : BytesPerSecond{};
      lines.push_back({arc.from, arc.to, id, back, std::max(arc.bandwidth, other)});
    } else if (!back) {
      lines.push_back({arc.to, arc.from, std::nullopt, id, arc.bandwidth});
    }
  }
  std::ranges::sort(lines, {}, [](const Line& line) { return std::pair(line.one, line.other); });
  return lines;
}

Selection strongest(const Platform& platform, std::vector<Line> lines, std::size_t most) {
  if (lines.size() <= most) return {std::move(lines), 0};
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t line) { return lines[line].strongest; });
  // needed[l]: line l is drawn if every node shows at least this many lines; 0 (always) if line l
  // is in the spanning forest.
  const std::size_t nodes = platform.nodes().size();
  std::vector<std::size_t> needed(lines.size());
  std::vector<std::size_t> seen(nodes, 0);
  boost::disjoint_sets_with_storage<> parts(nodes);
  for (const std::size_t l : order) {
    const std::size_t rank_here = ++seen[index_of(lines[l].one)];
    const std::size_t rank_there = ++seen[index_of(lines[l].other)];
    const std::size_t one = parts.find_set(index_of(lines[l].one));
    const std::size_t other = parts.find_set(index_of(lines[l].other));
    const bool joins = one != other;
    if (joins) parts.link(one, other);
    needed[l] = joins ? 0 : std::min(rank_here, rank_there);
  }
  std::vector<std::size_t> counts(nodes + 1, 0);
  for (const std::size_t rank : needed) ++counts[rank];
  std::size_t per_node = 1;
  std::size_t total = counts[0] + counts[1];
  while (per_node < nodes && total + counts[per_node + 1] <= most) total += counts[++per_node];
  Selection selection{{}, per_node};
  for (std::size_t l = 0; l < lines.size(); ++l) {
    if (needed[l] <= per_node) selection.lines.push_back(lines[l]);
  }
  return selection;
}

RateScale::RateScale(BytesPerSecond least, BytesPerSecond greatest, bool crowded)
    : low_(std::log10(least.value)),
      high_(std::log10(greatest.value)),
      thickest_(crowded ? 2.6 : 4.5) {}

double RateScale::place(BytesPerSecond rate) const {
  if (!(high_ > low_)) return 0.4;
  return std::clamp((std::log10(rate.value) - low_) / (high_ - low_), 0.0, 1.0);
}

double RateScale::width(BytesPerSecond rate) const {
  constexpr double kThinnest = 0.8;
  return kThinnest + (thickest_ - kThinnest) * place(rate);
}

std::string RateScale::colour(BytesPerSecond rate) const {
  return ramp_colour(place(rate));
}

std::vector<BytesPerSecond> RateScale::samples() const {
  if (!(high_ > low_)) return {{std::pow(10.0, high_)}};
  constexpr int kSteps = 4;
  std::vector<BytesPerSecond> samples;
  for (int i = 0; i <= kSteps; ++i) {
    samples.push_back({std::pow(10.0, low_ + (high_ - low_) * i / kSteps)});
  }
  return samples;
}

std::string_view family_of(const platforms::Node& node) {
  const std::string_view group = node.group;
  if (!group.empty()) return group.substr(0, group.find('/'));
  const std::string_view name = node.name;
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string_view{} : name.substr(0, colon);
}

}  // namespace espalier::render
