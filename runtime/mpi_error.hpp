// MPI's failures as exceptions that carry MPI's own text.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "support/errors.hpp"

namespace espalier::runtime {

class MpiError : public Error {
 public:
  // doing: what failed, with its peer where there is one ("receiving slice 17 of tree 1 from rank
  // 2")
  MpiError(int code, std::string_view doing);
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

// Throws MpiError when an MPI call did not return MPI_SUCCESS. Works where the communicator's error
// handler is MPI_ERRORS_RETURN.
inline void check(int code, std::string_view doing) {
  if (code != MPI_SUCCESS) throw MpiError(code, doing);
}

}  // namespace espalier::runtime
