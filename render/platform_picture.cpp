// A platform as a DOT graph.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "render/dot_text.hpp"
#include "render/legend.hpp"
#include "render/lines.hpp"
#include "render/pictures.hpp"
#include "render/sketch.hpp"
#include "support/text.hpp"

namespace espalier::render {

namespace {

using platforms::Arc;
using platforms::ArcId;
using platforms::Node;
using platforms::Platform;

class PlatformPicture {
 public:
  explicit PlatformPicture(const Platform& platform)
      : platform_(platform),
        nodes_(platform),
        map_(platform),
        all_lines_(lines_of(platform)),
        link_of_(links_by_arc(platform)),
        // More lines make a dense graph unreadable; a sparse graph of many nodes needs some per
        // node.
        selection_(strongest(platform, all_lines_,
                             std::max<std::size_t>(200, 2 * platform.nodes().size()))),
        scale_(scale_of(platform, crowded())) {}

  std::string text() {
    DotText dot(platform_.name());
    dot.defaults("graph", graph_attributes());
    dot.defaults("node", node_defaults(platform_.nodes().size()));
    dot.defaults("edge", {{"arrowsize", "0.6"},
                          {"fontname", kFont},
                          {"fontsize", "8"},
                          {"len", labelled() ? "2.2" : "1"}});
    for (const Node& node : platform_.nodes()) {
      DotAttributes looks = nodes_.looks(node);
      if (map_.used()) std::ranges::move(map_.place_of(node), std::back_inserter(looks));
      dot.node(node.name, looks);
    }
    for (const Line& line : selection_.lines) write(line, dot);
    return std::move(dot).finish();
  }

 private:
  static RateScale scale_of(const Platform& platform, bool crowded) {
    BytesPerSecond least{1};
    BytesPerSecond greatest{1};
    for (std::size_t i = 0; i < platform.arcs().size(); ++i) {
      const BytesPerSecond rate = platform.arcs()[i].bandwidth;
      least = i == 0 ? rate : std::min(least, rate);
      greatest = i == 0 ? rate : std::max(greatest, rate);
    }
    return {least, greatest, crowded};
  }

  DotAttributes graph_attributes() {
    DotAttributes attributes = common_graph_attributes();
    std::ranges::move(map_.used() ? map_.graph_attributes() : laid_out(),
                      std::back_inserter(attributes));
    attributes.push_back({"label", legend(), true});
    return attributes;
  }

  [[nodiscard]] DotAttributes laid_out() const {
    const std::size_t nodes = platform_.nodes().size();
    if (nodes > kMostApart) {
      return {
          {"layout", "twopi"}, {"root", most_linked()}, {"overlap", "true"}, {"splines", "line"}};
    }
    // A nearly complete graph has no structure: a circle shows all its lines.
    constexpr std::size_t kMostOnACircle = 30;
    const bool circle =
        nodes > 2 && nodes <= kMostOnACircle && 3 * all_lines_.size() >= nodes * (nodes - 1);
    return {{"layout", circle ? "circo" : "neato"},
            {"mindist", "2"},
            {"overlap", "prism"},
            {"sep", "+5"},
            {"splines", "line"}};
  }

  // The first of the nodes with the most links.
  [[nodiscard]] std::string most_linked() const {
    const auto links = [&](const platforms::Node& node) {
      const auto [first, last] = platform_.arcs_out_of(*platform_.find_node(node.name));
      return last - first;
    };
    return std::ranges::max_element(platform_.nodes(), {}, links)->name;
  }

  [[nodiscard]] bool crowded() const { return selection_.lines.size() > 100; }
  // Whether there are few enough lines to label them with their rates.
  [[nodiscard]] bool labelled() const { return selection_.lines.size() <= 25; }

  void write(const Line& line, DotText& dot) {
    const Arc* there = line.there ? &platform_.arc(*line.there) : nullptr;
    const Arc* back = line.back ? &platform_.arc(*line.back) : nullptr;
    DotAttributes looks{{"penwidth", fmt::format("{:.2f}", scale_.width(line.strongest))}};
    const std::string& one = platform_.node(line.one).name;
    const std::string& other = platform_.node(line.other).name;
    std::string label;
    std::string tip;
    if (there != nullptr && back != nullptr && there->bandwidth == back->bandwidth) {
      looks.push_back({"color", shade(there->bandwidth)});
      looks.push_back({"dir", "none"});
      label = short_rate(there->bandwidth);
      tip = fmt::format("{} - {}: {}", one, other, label);
    } else if (there != nullptr && back != nullptr) {
      looks.push_back(
          {"color", fmt::format("{};0.5:{}", shade(there->bandwidth), shade(back->bandwidth))});
      looks.push_back({"dir", "none"});
      if (labelled()) {
        looks.push_back({"taillabel", short_rate(there->bandwidth)});
        looks.push_back({"headlabel", short_rate(back->bandwidth)});
      }
      tip = fmt::format("{} -> {}: {}, back {}", one, other, short_rate(there->bandwidth),
                        short_rate(back->bandwidth));
    } else {
      const Arc& arc = there != nullptr ? *there : *back;
      looks.push_back({"color", shade(arc.bandwidth)});
      label = short_rate(arc.bandwidth);
      tip = fmt::format("{} -> {}: {}", platform_.node(arc.from).name, platform_.node(arc.to).name,
                        label);
    }
    const std::string links = links_on(line);
    if (!links.empty()) {
      looks.push_back({"style", "dashed"});
      tip += ", on " + links;
      label += '\n' + links;
    }
    // The spaces keep the text off its line.
    if (labelled() && !label.empty()) looks.push_back({"label", "  " + label + "  "});
    looks.push_back({"tooltip", tip});
    if (there != nullptr) {
      dot.edge(one, other, looks);
    } else {
      dot.edge(other, one, looks);
    }
  }

  // Among many lines, slow ones are translucent, so as not to hide fast ones.
  [[nodiscard]] std::string shade(BytesPerSecond rate) const {
    std::string colour = scale_.colour(rate);
    if (crowded()) {
      colour += fmt::format("{:02x}", 110 + static_cast<int>(120 * scale_.place(rate)));
    }
    return colour;
  }

  static std::map<ArcId, std::string> links_by_arc(const Platform& platform) {
    std::map<ArcId, std::string> links;
    for (const platforms::SharedLink& link : platform.shared_links()) {
      for (const ArcId arc : link.arcs) {
        std::string& names = links[arc];
        names += (names.empty() ? "" : ", ") + link.name;
      }
    }
    return links;
  }

  [[nodiscard]] std::string links_on(const Line& line) const {
    std::string names;
    for (const auto& arc : {line.there, line.back}) {
      const auto found = arc ? link_of_.find(*arc) : link_of_.end();
      if (found == link_of_.end() || found->second == names) continue;
      names += (names.empty() ? "" : ", ") + found->second;
    }
    return names;
  }

  // The rates that links have, if they are few; else those nearest to samples of the scale.
  [[nodiscard]] std::vector<BytesPerSecond> legend_rates() const {
    constexpr std::size_t kMost = 5;
    std::vector<BytesPerSecond> rates;
    for (const Arc& arc : platform_.arcs()) rates.push_back(arc.bandwidth);
    std::ranges::sort(rates);
    const auto drop_equal = [](std::vector<BytesPerSecond>& sorted) {
      const auto look_alike = [](BytesPerSecond a, BytesPerSecond b) {
        return short_rate(a) == short_rate(b);
      };
      sorted.erase(std::unique(sorted.begin(), sorted.end(), look_alike), sorted.end());
    };
    drop_equal(rates);
    if (rates.size() <= kMost) return rates;
    std::vector<BytesPerSecond> nearest = scale_.samples();
    for (BytesPerSecond& sample : nearest) {
      sample = *std::ranges::min_element(rates, {}, [&](BytesPerSecond rate) {
        return std::abs(std::log(rate.value / sample.value));
      });
    }
    drop_equal(nearest);
    return nearest;
  }

  std::string legend() const {
    Legend legend(platform_.name());
    const std::size_t relays = platform_.nodes().size() - platform_.hosts().size();
    legend.add_line(fmt::format("{} hosts (boxes){}, {} links", platform_.hosts().size(),
                                relays > 0 ? fmt::format(", {} relays (octagons)", relays) : "",
                                platform_.arcs().size()));
    if (!platform_.arcs().empty()) {
      for (const BytesPerSecond rate : legend_rates()) {
        legend.add_bar(scale_.colour(rate), scale_.width(rate), short_rate(rate));
      }
    }
    if (halves())
      legend.add_line("each half of a line: the outgoing bandwidth of the node next to it");
    if (arrows()) legend.add_line("arrows: one-way links");
    nodes_.add_to(legend);
    add_links(legend);
    if (selection_.per_node > 0) {
      legend.add_line(
          fmt::format("drawn: {} of {} pairs, every node's {} strongest and a spanning forest",
                      selection_.lines.size(), all_lines_.size(), selection_.per_node));
    }
    return std::move(legend).html();
  }

  [[nodiscard]] bool halves() const {
    return std::ranges::any_of(selection_.lines, [&](const Line& line) {
      return line.there && line.back &&
             platform_.arc(*line.there).bandwidth != platform_.arc(*line.back).bandwidth;
    });
  }
  [[nodiscard]] bool arrows() const {
    return std::ranges::any_of(selection_.lines,
                               [](const Line& line) { return !line.there || !line.back; });
  }

  void add_links(Legend& legend) const {
    const auto links = platform_.shared_links();
    if (links.empty()) return;
    Listing names(4);
    for (const platforms::SharedLink& link : links) {
      names.add([&] { return link.name + " " + short_rate(link.bandwidth); });
    }
    legend.add_line("dashed: links that share bandwidth: " + names.text());
  }

  const Platform& platform_;
  NodeLooks nodes_;
  Map map_;
  std::vector<Line> all_lines_;
  std::map<ArcId, std::string> link_of_;
  Selection selection_;
  RateScale scale_;
};

}  // namespace

std::string platform_picture(const Platform& platform) {
  require_drawable(platform, kMostNodes);
  return PlatformPicture(platform).text();
}

}  // namespace espalier::render
