#include "lp/graph/crowding.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lp/graph/host_arcs.hpp"

namespace espalier::lp {

namespace {

// What an edge takes of a resource, as fractions of time.
struct Part {
  std::uint32_t resource;
  double latency_s;  // of the edge
  double used;
  std::uint32_t slowest;  // of the edge's resources
  double alone;           // what the edge takes of it
};

std::vector<Part> parts_of(std::span<const double> latency_s, const SparseMatrix& occupation,
                           std::span<const PackedTree> trees) {
  std::vector<Part> parts;
  std::vector<HostArcs::Use> uses;
  for (const PackedTree& packed : trees) {
    for (std::size_t edge = 0; edge < packed.tree.edge_count(); ++edge) {
      const auto path = packed.tree.path(edge);
      uses.clear();
      HostArcs::append_uses(occupation, path, uses);
      if (uses.empty()) continue;  // an arc from the root that stands for any host
      const auto slowest = std::ranges::max(uses, {}, &HostArcs::Use::seconds_per_byte);
      double latency = 0;
      for (const std::uint32_t arc : path) latency += latency_s[arc];
      for (const HostArcs::Use& use : uses) {
        parts.push_back({use.resource, latency, packed.rate * use.seconds_per_byte,
                         slowest.resource, packed.rate * slowest.seconds_per_byte});
      }
    }
  }
  return parts;
}

// Of the edges that use one resource, by latency.
double crowding_at(std::span<const Part> parts) {
  double nearer = 0;
  for (const Part& part : parts) nearer += part.used;
  double most = 0;
  std::map<std::uint32_t, double> alone;  // by slowest resource, of parts at least as far
  std::size_t next = parts.size();        // parts before it are counted in `nearer`
  for (std::size_t i = parts.size(); i-- > 0;) {
    while (next > 0 && !(parts[next - 1].latency_s < kMuchNearer * parts[i].latency_s)) {
      nearer -= parts[--next].used;
    }
    most = std::max(most, (alone[parts[i].slowest] += parts[i].alone) + nearer);
  }
  return most;
}

}  // namespace

double crowding_of(std::span<const double> latency_s, const SparseMatrix& occupation,
                   std::span<const PackedTree> trees) {
  if (latency_s.empty()) return 0;
  std::vector<Part> parts = parts_of(latency_s, occupation, trees);
  std::ranges::sort(parts, {},
                    [](const Part& part) { return std::pair(part.resource, part.latency_s); });
  double most = 0;
  for (auto first = parts.begin(); first != parts.end();) {
    const auto last = std::find_if(
        first, parts.end(), [&](const Part& part) { return part.resource != first->resource; });
    most = std::max(most, crowding_at({first, last}));
    first = last;
  }
  return most;
}

}  // namespace espalier::lp
