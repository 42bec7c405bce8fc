// In place of simulated.cpp where the planner is not built.
#include "cli/espalier_mpi/options/simulated.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

std::vector<std::uint64_t> simulated_segments(const std::string& /*file*/,
                                              const planner::Plan& /*plan*/,
                                              std::span<const Bytes> /*messages*/) {
  throw InputError(
      "--platform: this build cannot simulate (ESPALIER_PLANNER=OFF); leave it out, or give "
      "--segment");
}

}  // namespace espalier::cli
