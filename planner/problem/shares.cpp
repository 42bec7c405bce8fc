#include "planner/problem/shares.hpp"

#include <fmt/format.h>

#include <cmath>

#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

std::vector<double> normalised_shares(std::vector<double> shares, std::size_t count, double sum) {
  if (shares.empty()) return std::vector<double>(count, sum / static_cast<double>(count));
  if (shares.size() != count) {
    throw InputError(fmt::format("{}; expected {}", counted(shares.size(), "share"), count));
  }
  double given = 0;
  for (const double share : shares) {
    if (!(share >= 0) || !std::isfinite(share)) {
      throw InputError(fmt::format("a share is a number of at least 0, not {}", share));
    }
    given += share;
  }
  if (!(given > 0) || !std::isfinite(given)) {
    throw InputError("the shares have no finite sum above 0");
  }
  for (double& share : shares) share *= sum / given;
  return shares;
}

}  // namespace espalier::planner
