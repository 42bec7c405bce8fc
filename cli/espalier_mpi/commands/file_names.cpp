#include "cli/espalier_mpi/commands/file_names.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
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

bool depends_on_rank(const std::string& name) {
  return own_name(name, 0, "node") != name;
}

std::string identity_of(const std::string& name) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(fs::absolute(name, ignored), ignored);
  return path.empty() ? name : path.string();
}

std::vector<int> first_with_file(MPI_Comm comm, const std::string& file) {
  const std::vector<std::string> files =
      runtime::gather_texts(comm, is_device(file) ? std::string{} : identity_of(file));
  const std::vector<std::string> hosts = runtime::host_names(comm);
  std::map<std::pair<std::string_view, std::string_view>, int> first_of;
  std::vector<int> first;
  for (std::size_t rank = 0; rank < files.size(); ++rank) {
    const int own = static_cast<int>(rank);
    first.push_back(files[rank].empty()
                        ? own
                        : first_of.try_emplace({hosts[rank], files[rank]}, own).first->second);
  }
  return first;
}

void refuse_conflicts(MPI_Comm comm, const std::string& file) {
  const std::vector<int> first = first_with_file(comm, file);
  const int rank = runtime::rank_in(comm);
  const int other = first[static_cast<std::size_t>(rank)];
  runtime::collective_try(comm, [&] {
    if (other == rank) return;
    throw InputError(identity_of(file), {},
                     fmt::format("is the file of rank {} and of rank {} on host {}; put {{rank}} "
                                 "into --out",
                                 other, rank, runtime::host_name()));
  });
}

}  // namespace espalier::cli
