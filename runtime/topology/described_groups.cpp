#include "runtime/topology/described_groups.hpp"

#include "platforms/formats/host_groups.hpp"
#include "runtime/topology/host_groups.hpp"

namespace espalier::runtime {

std::vector<std::string> described_groups(const std::string& text, const std::string& file,
                                          const std::vector<std::string>& hosts) {
  const auto groups = platforms::groups_by_host(text, file);
  return groups_of_hosts(groups ? *groups : parse_host_groups(text, file), hosts, file);
}

}  // namespace espalier::runtime
