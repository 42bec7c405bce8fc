// Replaces described_groups.cpp in a build without the planner.
#include "runtime/topology/described_groups.hpp"
#include "runtime/topology/host_groups.hpp"

namespace espalier::runtime {

std::vector<std::string> described_groups(const std::string& text, const std::string& file,
                                          const std::vector<std::string>& hosts) {
  return groups_of_hosts(parse_host_groups(text, file), hosts, file);
}

}  // namespace espalier::runtime
