// Slurm's topology.yaml: a list of topologies, one of which is read (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/slurm/slurm_topology.hpp"
#include "platforms/formats/slurm/yaml.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "support/nearest_name.hpp"

namespace espalier::platforms {

namespace {

bool is_true(const JsonCursor& value) {
  const std::string& text = value.string();
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  value.refuse(fmt::format("expected true or false, got {}", in_quotes(text)));
}

std::uint64_t whole(const JsonCursor& value) {
  const auto number = parse_whole<std::uint64_t>(value.string());
  if (!number)
    value.refuse(fmt::format("expected a whole number, got {}", in_quotes(value.string())));
  return *number;
}

class YamlReader {
 public:
  YamlReader(const JsonCursor& root, Source& source) : root_(root), source_(source) {}

  Platform platform() {
    const JsonCursor chosen = choose();
    chosen.expect_object(
        {"topology", "cluster_default", "tree", "block", "flat", "ring", "torus3d"});
    if (const auto flat = chosen.find("flat"); flat && is_true(*flat)) {
      flat->refuse("a flat topology does not describe the network");
    }
    SlurmTopology topology;
    std::size_t kinds = 0;
    const auto read = [&](std::string_view kind, auto&& step) {
      const auto place = chosen.find(kind);
      if (!place) return;
      ++kinds;
      step(*place);
    };
    read("tree", [&](const JsonCursor& tree) { read_tree(tree, topology); });
    read("block", [&](const JsonCursor& block) { read_blocks(block, topology); });
    read("ring", [&](const JsonCursor& ring) { read_rings(ring, topology); });
    read("torus3d", [&](const JsonCursor& torus) { read_toruses(torus, topology); });
    if (kinds != 1) {
      chosen.refuse(
          fmt::format("a topology is one of tree, block, ring, torus3d, flat; this has {}", kinds));
    }
    return slurm_platform(topology, source_);
  }

 private:
  // The topology given by the option, otherwise the first cluster default, otherwise the first.
  JsonCursor choose() {
    const auto all = root_.elements();
    if (all.empty()) root_.refuse("there is no topology");
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const JsonCursor& one : all) names.push_back(one.at("topology").string());
    auto chosen = names.begin();
    if (!source_.options.topology.empty()) {
      chosen = std::ranges::find(names, source_.options.topology);
      if (chosen == names.end()) {
        root_.refuse(unknown_name("topology", source_.options.topology, names));
      }
    } else {
      const auto found = std::ranges::find_if(all, [](const JsonCursor& one) {
        const auto flag = one.find("cluster_default");
        return flag && is_true(*flag);
      });
      if (found != all.end()) chosen += found - all.begin();
    }
    if (all.size() > 1) {
      constexpr std::size_t kShown = 8;
      const std::span shown = std::span(names).first(std::min(kShown, names.size()));
      source_.note("took the topology {} of: {}{}; --topology selects another", in_quotes(*chosen),
                   printable(fmt::format("{}", fmt::join(shown, ", "))),
                   names.size() > kShown ? ", ..." : "");
    }
    return all[static_cast<std::size_t>(chosen - names.begin())];
  }

  // The list under `key`; empty if the key is missing.
  std::vector<std::string> names(const JsonCursor& object, std::string_view key) {
    const auto list = object.find(key);
    if (!list || list->value().is_null()) return {};
    const std::string& text = list->string();
    return list->at_place([&] { return hostlists_.expand(text); });
  }

  std::string name(const JsonCursor& object, std::string_view key) {
    const JsonCursor place = object.at(key);
    const std::string& text = place.string();
    return place.at_place([&] { return hostlists_.single(text); });
  }

  void read_tree(const JsonCursor& tree, SlurmTopology& topology) {
    tree.expect_object({"switches"});
    std::size_t index = 0;
    for (const JsonCursor& one : tree.at("switches").elements()) {
      one.expect_object({"switch", "children", "nodes"});
      topology.switches.push_back({name(one, "switch"), names(one, "nodes"), names(one, "children"),
                                   place(tree, "switches", index++)});
    }
  }

  void read_blocks(const JsonCursor& block, SlurmTopology& topology) {
    block.expect_object({"block_sizes", "blocks"});
    std::size_t index = 0;
    for (const JsonCursor& one : block.at("blocks").elements()) {
      one.expect_object({"block", "nodes"});
      topology.switches.push_back(
          {name(one, "block"), names(one, "nodes"), {}, place(block, "blocks", index++)});
    }
    join_blocks(topology.switches, source_.notes);
  }

  void read_rings(const JsonCursor& ring, SlurmTopology& topology) {
    ring.expect_object({"rings"});
    std::size_t index = 0;
    for (const JsonCursor& one : ring.at("rings").elements()) {
      one.expect_object({"ring", "nodes"});
      auto nodes = names(one, "nodes");
      topology.toruses.push_back({name(one, "ring"),
                                  {nodes.size(), 1, 1},
                                  std::move(nodes),
                                  place(ring, "rings", index++)});
    }
  }

  void read_toruses(const JsonCursor& torus, SlurmTopology& topology) {
    torus.expect_object({"toruses"});
    std::size_t index = 0;
    for (const JsonCursor& one : torus.at("toruses").elements()) {
      one.expect_object({"name", "dims", "nodes", "regions", "placements"});
      if (const auto regions = one.find("regions")) {
        regions->refuse("regions are not supported; list all nodes in 'nodes', x varying fastest");
      }
      const JsonCursor dims = one.at("dims");
      dims.expect_object({"x", "y", "z"});
      topology.toruses.push_back({name(one, "name"),
                                  {whole(dims.at("x")), whole(dims.at("y")), whole(dims.at("z"))},
                                  names(one, "nodes"),
                                  place(torus, "toruses", index++)});
    }
  }

  // Composed from parts, because a cursor searches the whole document for its own place.
  std::string place(const JsonCursor& kind, std::string_view list, std::size_t index) {
    if (kind_pointer_.empty()) kind_pointer_ = kind.pointer();
    return fmt::format("{}/{}/{}", kind_pointer_, list, index);
  }

  JsonCursor root_;
  Source& source_;
  Hostlists hostlists_;
  std::string kind_pointer_;
};

bool detects_slurm_yaml(std::string_view text) {
  const std::string none;
  TextLines lines(head_of(text), none);
  while (const auto line = lines.next()) {
    const auto words = words_of(*line, 3);
    if (words.empty() || words[0].starts_with('#') || words[0] == "---") continue;
    return words.size() > 1 && words[0] == "-" && words[1] == "topology:";
  }
  return false;
}

Platform read_slurm_yaml(Source& source) {
  const Json document = parse_yaml(source.text, source.file);
  return YamlReader(JsonCursor(document, source.file), source).platform();
}

}  // namespace

constinit const FormatEntry kSlurmYamlFormat{
    "slurm-yaml", "Slurm's topology.yaml; --level-bandwidth gives the speeds", detects_slurm_yaml,
    read_slurm_yaml, 1};

}  // namespace espalier::platforms
