#include "runtime/topology/topology_platform.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "runtime/measure/analysis.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

namespace espalier::runtime {
namespace {

constexpr const char* kAbove = "(between all)";

// The relays of hosts and groups, and the links between them and the ranks.
class TopologyTree {
 public:
  TopologyTree() { add_relay(kAbove); }

  // A rank in these nested groups, the last of which is its host.
  void add_rank(const std::string& name, const std::vector<std::string>& groups) {
    std::string path;
    std::string above = kAbove;
    double rate = kAssumedOfHost_Bps;
    for (std::size_t level = 1; level < groups.size(); ++level) rate *= kAssumedTaper;
    for (const std::string& group : groups) {
      path += path.empty() ? group : "/" + group;
      const std::string relay = "(" + path + ")";
      if (known_.insert(path).second) {
        add_relay(relay);
        add_link(relay, above, rate);
      }
      above = relay;
      rate /= kAssumedTaper;
    }
    nodes_.push_back({{"name", name}, {"group", path}});
    add_link(name, above, kAssumedWithinHost_Bps);
  }

  [[nodiscard]] std::string text() const {
    return Json({{"format", "espalier-platform"},
                 {"version", 1},
                 {"name", "topology"},
                 {"nodes", nodes_},
                 {"links", links_}})
               .dump(1) +
           "\n";
  }

 private:
  void add_relay(const std::string& name) { nodes_.push_back({{"name", name}, {"relay", true}}); }
  void add_link(const std::string& from, const std::string& to, double rate) {
    links_.push_back({{"from", from}, {"to", to}, {"bandwidth_Bps", rate}, {"both_ways", true}});
  }

  std::set<std::string> known_;
  std::vector<Json> nodes_;
  std::vector<Json> links_;
};

}  // namespace

std::string topology_platform(std::span<const std::string> hosts, std::span<const int> host_of_rank,
                              std::span<const std::string> groups) {
  const std::vector<std::string> names = probe::node_names({hosts.begin(), hosts.end()});
  TopologyTree tree;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    std::vector<std::string> nested;
    if (!groups.empty()) {
      for (const std::string_view part : split(groups[rank], '/')) {
        if (!part.empty()) nested.emplace_back(part);
      }
    }
    // Two hosts may have one name, so the number of the host's first rank counts.
    nested.push_back(fmt::format("host{}", host_of_rank[rank]));
    tree.add_rank(names[rank], nested);
  }
  return tree.text();
}

}  // namespace espalier::runtime
