#include "runtime/transport/mpi_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace espalier::runtime {
namespace {

// In one line; some MPIs put line breaks into their texts.
std::string mpi_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
    return fmt::format("MPI error {}", code);
  }
  std::string line(text.data(), static_cast<std::size_t>(length));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

MpiError::MpiError(int code, std::string_view doing)
    : Error(ExitStatus::kInternalFault, fmt::format("{}: {}", doing, mpi_text(code))),
      code_(code) {}

}  // namespace espalier::runtime
