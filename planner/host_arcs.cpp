#include "planner/host_arcs.hpp"

#include <algorithm>

namespace espalier::planner {

HostArcs::HostArcs(const Instance& instance) : instance_(&instance), graph_(instance.digraph()) {
  std::vector<double> seconds_per_byte;
  for (const platforms::Arc& arc : instance.platform().arcs()) {
    seconds_per_byte.push_back(platforms::arc_seconds_per_byte(arc, instance.options()));
  }
  graph_.reprice(seconds_per_byte);
}

std::span<const HostArcs::Use> HostArcs::uses(std::uint32_t arc) {
  path_.clear();
  uses_.clear();
  graph_.append_path(arc, path_);
  for (const std::uint32_t hop : path_) {
    using Matrix = Eigen::SparseMatrix<double>;
    const Matrix& occupation = instance_->occupation().seconds_per_byte;
    for (Matrix::InnerIterator it(occupation, static_cast<Eigen::Index>(hop)); it; ++it) {
      const auto resource = static_cast<std::uint32_t>(it.row());
      const auto known = std::find_if(uses_.begin(), uses_.end(),
                                      [&](const Use& use) { return use.resource == resource; });
      if (known != uses_.end()) {
        known->seconds_per_byte += it.value();
      } else {
        uses_.push_back({resource, it.value()});
      }
    }
  }
  return uses_;
}

double HostArcs::weight(std::uint32_t arc) {
  double largest = 0;
  for (const Use& use : uses(arc)) largest = std::max(largest, use.seconds_per_byte);
  return largest;
}

void HostArcs::add_edge(std::uint32_t arc, lp::RoutedTree& tree) const {
  std::vector<std::uint32_t> path;
  graph_.append_path(arc, path);
  tree.add_edge(path);
}

}  // namespace espalier::planner
