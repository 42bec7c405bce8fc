#include "platforms/formats/slurm/slurm_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "platforms/generators/fabrics.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

namespace {

std::vector<BytesPerSecond> parse_levels(std::string_view text) {
  std::vector<BytesPerSecond> levels;
  if (text.empty()) return levels;
  if (text.ends_with(',')) text.remove_suffix(1);
  at_place({}, "--level-bandwidth", [&] {
    for (const std::string_view level : split(text, ',')) {
      levels.push_back(parse_rate(level));
      require_rate(levels.back(), "a rate");
    }
  });
  return levels;
}

// Common parts of trees and tori: nodes, links by level, and connected components.
class Network {
 public:
  explicit Network(Source& source)
      : source_(source),
        speeds_(parse_levels(source.options.level_bandwidth)),
        builder_(source.default_name()) {
    const std::string& unit = source.options.link_speed_unit;
    if (!unit.empty()) {
      at_place({}, "--link-speed-unit", [&] {
        unit_ = parse_rate(unit);
        require_rate(*unit_, "a rate");
      });
    }
  }

  // The speeds of the links below these switches, where the file and the unit give one.
  void use_link_speeds(const std::vector<SlurmSwitch>& switches) {
    const auto with_speed = static_cast<std::size_t>(
        std::ranges::count_if(switches, [](const auto& one) { return one.link_speed > 0; }));
    has_link_speeds_ = with_speed > 0;
    all_have_speeds_ = unit_ && with_speed == switches.size();
    if (has_link_speeds_ && !unit_) {
      source_.note(
          "left out LinkSpeed, for which Slurm defines no unit; --link-speed-unit gives it");
    }
  }

  // Throws InputError unless there is one speed for each of `count` levels. None is needed if every
  // switch has a speed.
  void require_levels(std::size_t count) {
    if (speeds_.empty() && all_have_speeds_) return;
    if (speeds_.empty() && source_.options.any_speed) speeds_.assign(count, BytesPerSecond{1});
    if (speeds_.empty()) {
      std::string example = "100Gbit/s";
      for (std::size_t level = 1; level < count; ++level) example += ",200Gbit/s";
      source_.refuse(
          fmt::format("{}: give a speed for each of its {} of links, from the hosts up, as in "
                      "--level-bandwidth {}",
                      !has_link_speeds_ ? "the file has no speeds"
                      : unit_           ? "some switches have no LinkSpeed"
                                        : "Slurm defines no unit for the file's LinkSpeed, which "
                                          "--link-speed-unit gives",
                      counted(count, "level"), example));
    }
    if (speeds_.size() != count) {
      source_.refuse(fmt::format("the file has {} of links, but --level-bandwidth has {}",
                                 counted(count, "level"), speeds_.size()));
    }
    links_.assign(count, 0);
  }

  NodeId add_node(const std::string& name, bool relay, const std::string& group,
                  const std::string& place) {
    return source_.at(
        place, [&] { return builder_.add_node({.name = name, .relay = relay, .group = group}); });
  }
  [[nodiscard]] std::optional<NodeId> find_node(std::string_view name) const {
    return builder_.find_node(name);
  }

  // In both directions; level 0 is that of the hosts. link_speed: of the switch above.
  void add_link(NodeId one, NodeId other, std::size_t level, double link_speed = 0) {
    if (unit_ && link_speed > 0) {
      builder_.add_both_ways({one, other, {unit_->value * link_speed}});
      ++by_link_speed_;
    } else {
      builder_.add_both_ways({one, other, speeds_[level]});
      ++links_[level];
    }
    joined_.emplace_back(one, other);
  }

  Platform platform() {
    note_links();
    note_parts();
    return source_.build(std::move(builder_));
  }

 private:
  void note_links() {
    source_.note_counted(by_link_speed_, "link", "{} of the file's LinkSpeed");
    if (links_.empty()) return;
    std::string list;
    for (std::size_t level = 0; level < links_.size(); ++level) {
      list += fmt::format("{}{} of {}", level == 0 ? "" : ", ", links_[level],
                          format_rate(speeds_[level]));
    }
    source_.note("links by level from the hosts up: {}", list);
  }

  void note_parts() {
    boost::disjoint_sets_with_storage<> parts(builder_.nodes().size());
    for (const auto& [one, other] : joined_) parts.union_set(index_of(one), index_of(other));
    std::map<std::size_t, std::size_t> hosts;  // by part
    for (std::size_t i = 0; i < builder_.nodes().size(); ++i) {
      if (!builder_.nodes()[i].relay) ++hosts[parts.find_set(i)];
    }
    if (hosts.size() < 2) return;
    std::vector<std::size_t> sizes;
    sizes.reserve(hosts.size());
    for (const auto& [part, size] : hosts) sizes.push_back(size);
    std::ranges::sort(sizes, std::greater<>{});
    constexpr std::size_t kShown = 8;
    const std::span shown = std::span(sizes).first(std::min(kShown, sizes.size()));
    source_.note("the network is disconnected: {} parts, of {}{} hosts", sizes.size(),
                 fmt::join(shown, ", "), shown.size() < sizes.size() ? ", ..." : "");
  }

  Source& source_;
  std::optional<BytesPerSecond> unit_;  // of LinkSpeed; unset: not given
  bool has_link_speeds_ = false;
  bool all_have_speeds_ = false;
  std::size_t by_link_speed_ = 0;  // links
  std::vector<BytesPerSecond> speeds_;
  std::vector<std::size_t> links_;  // by level
  PlatformBuilder builder_;
  std::vector<std::pair<NodeId, NodeId>> joined_;
};

// Switches by name, with their parents, children and heights; a switch without switches below it
// has height 1.
class Tree {
 public:
  Tree(const std::vector<SlurmSwitch>& switches, const std::string& file)
      : switches_(switches), file_(file), parents_(switches.size()), heights_(switches.size(), 0) {
    for (std::size_t i = 0; i < switches.size(); ++i) {
      if (!index_.emplace(switches[i].name, i).second) {
        refuse(i, fmt::format("duplicate switch {}", in_quotes(switches[i].name)));
      }
    }
    for (std::size_t i = 0; i < switches.size(); ++i) find_children(i);
    climb();
  }

  [[nodiscard]] const std::vector<std::size_t>& parents(std::size_t i) const { return parents_[i]; }
  [[nodiscard]] std::size_t height(std::size_t i) const { return heights_[i]; }
  // The number of levels of links, including that of the hosts.
  [[nodiscard]] std::size_t level_count() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      if (!parents_[i].empty()) count = std::max(count, heights_[i] + 1);
    }
    return count;
  }
  [[nodiscard]] std::size_t root_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(parents_, [](const auto& above) { return above.empty(); }));
  }
  // The names on the path from the top to switch i, separated by slashes, through the first parent
  // of each switch; without the top switch if `below_top`.
  [[nodiscard]] std::string path(std::size_t i, bool below_top) const {
    std::string path;
    while (!parents_[i].empty() || !below_top) {
      path.insert(0, path.empty() ? "" : "/");
      path.insert(0, switches_[i].name);
      if (parents_[i].empty()) break;
      i = parents_[i].front();
    }
    return path;
  }

 private:
  [[noreturn]] void refuse(std::size_t i, const std::string& reason) const {
    throw InputError(file_, switches_[i].place, reason);
  }

  void find_children(std::size_t i) {
    children_.emplace_back();
    for (const std::string& name : switches_[i].switches) {
      const auto found = index_.find(name);
      if (found == index_.end()) refuse(i, fmt::format("there is no switch {}", in_quotes(name)));
      auto& above = parents_[found->second];
      if (!above.empty() && above.back() == i) continue;  // listed twice
      above.push_back(i);
      children_.back().push_back(found->second);
    }
  }

  // Computes heights from the leaves up; switches that remain are on or above a cycle.
  void climb() {
    std::vector<std::size_t> open(switches_.size());
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < open.size(); ++i) {
      open[i] = children_[i].size();
      if (open[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      const std::size_t i = ready.back();
      ready.pop_back();
      ++heights_[i];
      for (const std::size_t above : parents_[i]) {
        heights_[above] = std::max(heights_[above], heights_[i]);
        if (--open[above] == 0) ready.push_back(above);
      }
      if (heights_[i] > kMostSwitchLevels) {
        refuse(i, fmt::format("over {} levels of switches", kMostSwitchLevels));
      }
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] > 0) refuse_cycle(i, open);
    }
  }

  [[noreturn]] void refuse_cycle(std::size_t i, const std::vector<std::size_t>& open) const {
    const auto below = [&](std::size_t above) {
      return *std::ranges::find_if(children_[above], [&](std::size_t c) { return open[c] > 0; });
    };
    std::vector<bool> seen(switches_.size());
    for (; !seen[i]; i = below(i)) seen[i] = true;  // until i is on the cycle
    constexpr std::size_t kShown = 8;
    std::string names = switches_[i].name;
    std::size_t at = below(i);
    for (std::size_t shown = 1; at != i; at = below(at), ++shown) {
      if (shown == kShown) names += " -> ...";
      if (shown < kShown) names += " -> " + switches_[at].name;
    }
    refuse(i, fmt::format("cycle {} -> {}", printable(names), printable(switches_[i].name)));
  }

  const std::vector<SlurmSwitch>& switches_;
  const std::string& file_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<std::vector<std::size_t>> parents_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::size_t> heights_;
};

void build_tree(const std::vector<SlurmSwitch>& switches, Source& source, Network& network) {
  const Tree tree(switches, source.file);
  network.use_link_speeds(switches);
  network.require_levels(tree.level_count());
  const bool below_top = tree.root_count() == 1;
  std::set<std::pair<std::string_view, std::size_t>> links;
  std::size_t repeated = 0;
  std::set<std::string_view> several;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    for (const std::string& name : switches[i].nodes) {
      if (!links.emplace(name, i).second) {
        ++repeated;
      } else if (network.find_node(name)) {
        several.insert(name);
      } else {
        network.add_node(name, false, tree.path(i, below_top), switches[i].place);
      }
    }
  }
  std::vector<NodeId> relays;
  relays.reserve(switches.size());
  for (const SlurmSwitch& one : switches) {
    relays.push_back(network.add_node(one.name, true, {}, one.place));
  }
  for (const auto& [name, i] : links)
    network.add_link(*network.find_node(name), relays[i], 0, switches[i].link_speed);
  for (std::size_t i = 0; i < switches.size(); ++i) {
    for (const std::size_t above : tree.parents(i)) {
      network.add_link(relays[i], relays[above], tree.height(i), switches[above].link_speed);
    }
  }
  source.note_count(repeated, "{} nodes are listed twice under a switch");
  source.note_count(several.size(), "{} nodes are on several switches, first {}: a link to each",
                    several.empty() ? "" : in_quotes(*several.begin()));
}

void build_torus(const SlurmTorus& torus, bool alone, const Source& source, Network& network) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : torus.sizes) {
    // No product can overflow: it stays below the number of nodes.
    if (size == 0 || size > torus.nodes.size() / count) {
      count = 0;
      break;
    }
    count *= size;
  }
  if (count != torus.nodes.size()) {
    throw InputError(source.file, torus.place,
                     fmt::format("{} nodes do not fill {} x {} x {}", torus.nodes.size(),
                                 torus.sizes[0], torus.sizes[1], torus.sizes[2]));
  }
  std::vector<NodeId> nodes;
  nodes.reserve(torus.nodes.size());
  for (const std::string& name : torus.nodes) {
    nodes.push_back(network.add_node(name, false, alone ? "" : torus.name, torus.place));
  }
  for (const Cable& cable : platforms::torus(torus.sizes, /*routers=*/false).cables) {
    network.add_link(nodes[cable.one], nodes[cable.other], 0);
  }
}

}  // namespace

void join_blocks(std::vector<SlurmSwitch>& blocks, std::vector<std::string>& notes) {
  if (blocks.size() < 2) return;
  constexpr std::string_view kBetween = "(between blocks)";
  SlurmSwitch above{std::string(kBetween), {}, {}, {}};
  for (const SlurmSwitch& block : blocks) above.switches.push_back(block.name);
  blocks.push_back(std::move(above));
  notes.push_back(fmt::format(
      "the file does not describe the network between blocks: added one relay, '{}'", kBetween));
}

Platform slurm_platform(const SlurmTopology& topology, Source& source) {
  const auto is_empty = [](const auto& one) { return one.nodes.empty(); };
  if (std::ranges::all_of(topology.switches, is_empty) &&
      std::ranges::all_of(topology.toruses, is_empty)) {
    source.refuse("there are no nodes");
  }
  Network network(source);
  if (!topology.switches.empty()) {
    build_tree(topology.switches, source, network);
  } else {
    network.require_levels(1);
    const bool alone = topology.toruses.size() == 1;
    for (const SlurmTorus& torus : topology.toruses) build_torus(torus, alone, source, network);
  }
  return network.platform();
}

}  // namespace espalier::platforms
