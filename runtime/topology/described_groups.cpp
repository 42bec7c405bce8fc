#include "runtime/topology/described_groups.hpp"

#include "platforms/formats/host_groups.hpp"

namespace espalier::runtime {

HostGroups described_groups(const std::string& text, const std::string& file) {
  const auto groups = platforms::groups_by_host(text, file);
  return groups ? *groups : parse_host_groups(text, file);
}

}  // namespace espalier::runtime
