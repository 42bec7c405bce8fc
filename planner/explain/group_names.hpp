// The groups that a node belongs to, by name.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::planner {

// The names of the groups of nodes: every prefix of "site/rack". Where a platform names no groups,
// the part of a node's name before a colon ("aws" of "aws:us-east-1"), as in the options that set
// caps.
class GroupNames {
 public:
  explicit GroupNames(const platforms::Platform& platform)
      : platform_(platform),
        groups_(std::any_of(platform.nodes().begin(), platform.nodes().end(),
                            [](const platforms::Node& node) { return !node.group.empty(); })) {}

  [[nodiscard]] std::vector<std::string> of(platforms::NodeId id) const {
    const platforms::Node& node = platform_.node(id);
    if (!groups_) {
      const std::size_t colon = node.name.find(':');
      if (colon == std::string::npos || colon == 0) return {};
      return {node.name.substr(0, colon)};
    }
    std::vector<std::string> groups;
    for (std::size_t end = node.group.find('/'); end != std::string::npos;
         end = node.group.find('/', end + 1)) {
      groups.push_back(node.group.substr(0, end));
    }
    if (!node.group.empty()) groups.push_back(node.group);
    return groups;
  }

 private:
  const platforms::Platform& platform_;
  bool groups_;
};

}  // namespace espalier::planner
