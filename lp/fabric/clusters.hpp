// Hosts behind thin links, in clusters, which are in clusters behind thinner ones: racks in pods.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/fabric/fabric_tree.hpp"

namespace espalier::lp {

// Whether there are clusters of clusters. Links of which none is like another make some that only
// stand in the way.
enum class Nesting : std::uint8_t { kOneLevel, kAll };

// Hosts have the numbers of their nodes, and clusters those from first() to end(), the members of
// each before it. The last is the whole.
class Clusters {
 public:
  // hosts: all but the root, in the order in which members are listed. rate: bytes per second that
  // every cluster but the root's receives. O(levels x arcs).
  Clusters(const PackingProblem& problem, const FabricTree& fabric,
           std::span<const std::uint32_t> hosts, double rate, Nesting nesting);

  [[nodiscard]] std::uint32_t first() const { return first_; }
  [[nodiscard]] std::uint32_t end() const {
    return first_ + static_cast<std::uint32_t>(members_.size());
  }
  // Hosts in the innermost clusters, the fabric's groups; clusters in the others. The root, or what
  // it is in, is the first of its cluster.
  [[nodiscard]] const std::vector<std::uint32_t>& members(std::uint32_t cluster) const {
    return members_[cluster - first_];
  }
  // Bytes per second that its links carry out of it, beside what it receives where links of both
  // directions share a resource. Of the whole: 0.
  [[nodiscard]] double rate_out(std::uint32_t cluster) const { return out_Bps_[cluster - first_]; }
  // Whether a cluster, the whole apart, has clusters in it.
  [[nodiscard]] bool are_nested() const;
  // Of a host, whether it is the root.
  [[nodiscard]] bool has_root(std::uint32_t id) const { return has_root_[id] != 0; }

 private:
  using Ids = std::vector<std::uint32_t>;

  std::uint32_t add(Ids members);
  void measure(const PackingProblem& problem, const FabricTree& fabric, const Ids& part,
               const Ids& cluster_of_part, double rate);

  std::uint32_t first_;
  std::vector<Ids> members_;
  std::vector<double> out_Bps_;
  std::vector<char> has_root_;  // per host or cluster
};

}  // namespace espalier::lp
