#include "cli/espalier_mpi/options/platform_groups.hpp"

#include "platforms/formats/host_groups.hpp"

namespace espalier::cli {

std::optional<runtime::HostGroups> platform_groups(std::string_view text, const std::string& file) {
  return platforms::groups_by_host(text, file);
}

}  // namespace espalier::cli
