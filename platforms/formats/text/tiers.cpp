// The output of Tiers, Doar's generator of WAN-MAN-LAN topologies (docs/formats.md).
// M. Doar, "A better model for generating test networks", GLOBECOM 1996,
// doi:10.1109/GLOCOM.1996.586131.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/csv.hpp"
#include "platforms/formats/text/link_classes.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "platforms/generators/sampler.hpp"

namespace espalier::platforms {

namespace {

constexpr std::size_t kMostWords = 16;  // above the number in any line of the format
constexpr std::array<std::string_view, 3> kLevels{"WAN", "MAN", "LAN"};
constexpr std::size_t kLan = 2;

double number_in(std::string_view text, std::string_view what) {
  const auto number = parse_number(text);
  if (!number) throw InputError(fmt::format("{} is a number, not {}", what, in_quotes(text)));
  return *number;
}

// One network of a level: "# MAN 3". Level 0 is the WAN.
struct Network {
  std::size_t level;
  std::uint64_t index;
};

// A link, from the first line that contains it.
struct Link {
  NodeId from;
  NodeId to;
  double delay;
  double bandwidth;
  std::size_t line;
};

class TiersParser : LineReader {
 public:
  explicit TiersParser(Source& source) : LineReader(source), options_(source.options) {
    if (!options_.classes.empty()) classes_ = read_link_classes(options_.classes);
  }

  Platform platform() {
    lines_.each([&](std::string_view line) { read_line(line); });
    if (part_ != Part::kEdges) source_.refuse("there is no line '# EDGES'");
    if (total_ && *total_ != levels_.size()) {
      source_.refuse(
          fmt::format("the header gives {} nodes, the list has {}", *total_, levels_.size()));
    }
    set_groups();
    add_arcs();
    add_notes();
    return source_.build(std::move(builder_));
  }

 private:
  enum class Part { kHeader, kNodes, kEdges };

  void read_line(std::string_view line) {
    const auto words = words_of(line, kMostWords);
    if (words.empty()) return;
    if (words[0].starts_with('#')) return read_comment(line, words);
    if (part_ == Part::kHeader) throw InputError("expected '# NODES' before the first figures");
    if (part_ == Part::kNodes) return read_node(words);
    read_edge(words);
  }

  void read_comment(std::string_view line, const std::vector<std::string_view>& words) {
    if (words.size() == 2 && words[1] == "NODES") part_ = Part::kNodes;
    if (words.size() == 2 && words[1] == "EDGES") part_ = Part::kEdges;
    if (words.size() == 4 && words[1] == "End" && words[3] == "Model") complete_ = true;
    if (line.find("Edge list is directed") != std::string_view::npos && words.size() > 1) {
      undirected_ = words[1] == "1";
    }
    if (line.find("Total Number of Nodes") != std::string_view::npos) {
      total_ = parse_whole<std::uint64_t>(words.back());
    }
    if (part_ != Part::kEdges || words.size() != 3) return;
    const auto* const level = std::ranges::find(kLevels, words[1]);
    const auto index = parse_whole<std::uint64_t>(words[2]);
    if (level == kLevels.end() || !index) return;
    section_ = Network{static_cast<std::size_t>(level - kLevels.begin()), *index};
  }

  static std::size_t parse_level(std::string_view word) {
    const auto level = parse_whole<std::uint64_t>(word);
    if (level && *level < kLevels.size()) return *level;
    throw InputError(
        fmt::format("a node's type is 0 (WAN), 1 (MAN) or 2 (LAN), not {}", in_quotes(word)));
  }

  void read_node(const std::vector<std::string_view>& words) {
    if (words.size() != 4) {
      throw InputError(fmt::format("a node is 'id x y type', not {} fields", words.size()));
    }
    if (!parse_whole<std::uint64_t>(words[0])) {
      throw InputError(fmt::format("a node's id is a whole number, not {}", in_quotes(words[0])));
    }
    const Position position{number_in(words[1], "a coordinate"),
                            number_in(words[2], "a coordinate")};
    builder_.add_node({.name = std::string(words[0]), .position = position});
    levels_.push_back(parse_level(words[3]));
    networks_.emplace_back();
  }

  NodeId known_node(std::string_view id, std::string_view level) const {
    const auto node = builder_.find_node(id);
    if (!node) throw InputError(fmt::format("there is no node {}", in_quotes(id)));
    const std::size_t known = levels_[index_of(*node)];
    if (parse_level(level) != known) {
      throw InputError(
          fmt::format("node {} is of type {} here and {} in the list of nodes", id, level, known));
    }
    return *node;
  }

  void read_edge(const std::vector<std::string_view>& words) {
    if (words.size() != 7) {
      throw InputError(
          fmt::format("an edge is 'from to delay bandwidth type type state', not {} "
                      "fields",
                      words.size()));
    }
    const Link link{known_node(words[0], words[4]), known_node(words[1], words[5]),
                    number_in(words[2], "a delay"), number_in(words[3], "a bandwidth"),
                    lines_.number()};
    if (link.from == link.to) throw InputError(fmt::format("a link from {} to itself", words[0]));
    require_duration({link.delay}, "a delay");
    require_rate({link.bandwidth}, "a bandwidth");
    if (classes_) static_cast<void>(class_of(link));
    const auto state = parse_whole<std::uint64_t>(words[6]);
    if (!state || *state < 1 || *state > 4) {
      throw InputError(fmt::format("an edge's state is 1 to 4, not {}", in_quotes(words[6])));
    }
    place(link);
    const auto [known, is_new] = by_ends_.try_emplace(key(link.from, link.to), links_.size());
    if (is_new) return links_.push_back(link);
    const Link& first = links_[known->second];
    if (first.delay != link.delay || first.bandwidth != link.bandwidth) {
      throw InputError(fmt::format("the link {} -> {} has other figures on line {}", words[0],
                                   words[1], first.line));
    }
    ++repeated_;
  }

  // Puts the ends of a link that are of the section's level into the section's network.
  void place(const Link& link) {
    if (!section_) return;
    const std::size_t from = levels_[index_of(link.from)];
    const std::size_t to = levels_[index_of(link.to)];
    if (from == section_->level) networks_[index_of(link.from)] = section_->index;
    if (from == section_->level && to == from) networks_[index_of(link.to)] = section_->index;
    if (section_->level == kLan && from == kLan && to == kLan - 1) {
      gateways_.try_emplace(section_->index, link.to);
    }
  }

  // "wan-0", "man-2", and "man-2/lan-5" for a LAN attached to that MAN.
  void set_groups() {
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      if (!networks_[i]) continue;
      std::string& group = builder_.nodes()[i].group;
      if (levels_[i] < kLan) {
        group = fmt::format("{}-{}", levels_[i] == 0 ? "wan" : "man", *networks_[i]);
        continue;
      }
      const auto gateway = gateways_.find(*networks_[i]);
      if (gateway != gateways_.end() && networks_[index_of(gateway->second)]) {
        group = fmt::format("man-{}/", *networks_[index_of(gateway->second)]);
      }
      group += fmt::format("lan-{}", *networks_[i]);
    }
  }

  static std::uint64_t key(NodeId from, NodeId to) {
    return static_cast<std::uint64_t>(index_of(from)) << 32U | index_of(to);
  }

  const std::vector<MeasuredLink>& class_of(const Link& link) const {
    for (const auto& [number, links] : *classes_) {
      if (static_cast<double>(number) == link.bandwidth) return links;
    }
    throw InputError(
        fmt::format("{} has no links of class {}", printable(options_.classes), link.bandwidth));
  }

  // Both directions of a link share one draw.
  MeasuredLink figures_of(const Link& link) {
    if (!classes_) return {{link.bandwidth * 1e6 / 8}, {link.delay * 1e-6}};
    const auto back = drawn_.find(key(link.to, link.from));
    if (back != drawn_.end()) return back->second;
    const auto& choices = class_of(link);
    const MeasuredLink drawn = choices[sampler_.below(choices.size())];
    drawn_.emplace(key(link.from, link.to), drawn);
    return drawn;
  }

  void add_arcs() {
    for (const Link& link : links_) {
      const bool has_back = by_ends_.contains(key(link.to, link.from));
      if (!has_back && !undirected_) ++one_way_;
      lines_.at(link.line, [&] {
        const MeasuredLink figures = figures_of(link);
        const Arc arc{link.from, link.to, figures.bandwidth, figures.latency};
        undirected_ && !has_back ? builder_.add_both_ways(arc) : builder_.add_arc(arc);
      });
    }
  }

  void add_notes() {
    if (classes_) {
      source_.note(
          "drew each link's bandwidth and latency from {} by its class; left out the delays "
          "and states",
          printable(options_.classes));
    } else {
      source_.note(
          "the file has no units: took bandwidths as Mbit/s, delays as us; left out states");
    }
    source_.note_count(repeated_, "left out {} lines that repeat a link");
    source_.note_count(one_way_, "{} links have no reverse direction");
    if (!complete_) {
      source_.note("there is no line '# End of Model': the file may be cut short");
    }
  }

  const ReadOptions& options_;
  std::optional<LinkClasses> classes_;
  Sampler sampler_{options_.classes_seed};
  Part part_ = Part::kHeader;
  std::optional<Network> section_;
  bool undirected_ = false;
  bool complete_ = false;
  std::optional<std::uint64_t> total_;
  std::vector<std::size_t> levels_;                     // by node
  std::vector<std::optional<std::uint64_t>> networks_;  // by node: index in its level
  std::unordered_map<std::uint64_t, NodeId> gateways_;  // by LAN: its MAN node
  std::vector<Link> links_;
  std::unordered_map<std::uint64_t, std::size_t> by_ends_;  // by key(): index into links_
  std::unordered_map<std::uint64_t, MeasuredLink> drawn_;   // by key()
  std::size_t repeated_ = 0;
  std::size_t one_way_ = 0;
};

bool detects_tiers(std::string_view text) {
  const std::size_t nodes = text.find("# NODES");
  if (nodes == std::string_view::npos || !text.starts_with('#')) return false;
  return text.find("# EDGES", nodes) != std::string_view::npos;
}

}  // namespace

constinit const FormatEntry kTiersFormat{
    "tiers",
    "Output of Tiers, the generator of WAN-MAN-LAN topologies",
    detects_tiers,
    [](Source& source) { return TiersParser(source).platform(); },
    64,
    ".tiers"};

}  // namespace espalier::platforms
