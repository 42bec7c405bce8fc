#include "cli/espalier_mpi/options/platform_groups.hpp"

namespace espalier::cli {

// Then a file of another kind is refused as lines HOST GROUP.
std::optional<runtime::HostGroups> platform_groups(std::string_view /*text*/,
                                                   const std::string& /*file*/) {
  return std::nullopt;
}

}  // namespace espalier::cli
