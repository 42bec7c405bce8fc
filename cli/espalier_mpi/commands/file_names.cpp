#include "cli/espalier_mpi/commands/file_names.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/transport/agreement.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

// Two ranks may write one device, such as /dev/null.
bool is_device(const std::string& name) {
  std::error_code ignored;
  const fs::file_status status = fs::status(name, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

std::string own_name(std::string name, int rank, const std::string& node) {
  name = replaced(std::move(name), "{rank}", std::to_string(rank));
  name = replaced(std::move(name), "{host}", runtime::host_name());
  return node.empty() ? name : replaced(std::move(name), "{node}", node);
}

std::string identity_of(const std::string& name) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(fs::absolute(name, ignored), ignored);
  return path.empty() ? name : path.string();
}

void refuse_conflicts(MPI_Comm comm, const std::string& file) {
  const std::string mine = is_device(file) ? std::string{} : identity_of(file);
  const std::vector<std::string> files = runtime::gather_texts(comm, mine);
  const std::vector<std::string> hosts = runtime::host_names(comm);
  for (std::size_t second = 0; second < files.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      if (files[first].empty() || files[first] != files[second] || hosts[first] != hosts[second]) {
        continue;
      }
      throw InputError(files[first], {},
                       fmt::format("is the file of rank {} and of rank {} on host {}; put {{rank}} "
                                   "into --out",
                                   first, second, hosts[first]));
    }
  }
}

}  // namespace espalier::cli
