#include "cli/espalier_mpi/reports/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "support/errors.hpp"

namespace espalier::cli {

namespace fs = std::filesystem;

void require_writable(const std::string& file) {
  if (file.empty() || file == "-") return;
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) throw InputError(file, {}, "is a directory");
  if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) return;
  const fs::path folder = fs::path(file).has_parent_path() ? fs::path(file).parent_path() : ".";
  if (::access(folder.c_str(), W_OK) != 0) {
    throw InputError(file, {}, fmt::format("cannot write: {}", std::strerror(errno)));
  }
}

}  // namespace espalier::cli
