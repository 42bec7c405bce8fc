// MPI errors as exceptions that carry MPI's own text.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "support/errors.hpp"

namespace espalier::runtime {

class MpiError : public Error {
 public:
  // doing: the failed operation, with its peer if there is one ("receiving segment 17 of tree 1
  // from rank 2")
  MpiError(int code, std::string_view doing);
  [[nodiscard]] int code() const noexcept { return code_; }

 protected:
  MpiError(ExitStatus status, int code, const std::string& line)
      : Error(status, line), code_(code) {}

 private:
  int code_;
};

// A wait exceeded its timeout. Like an MPI error it occurs on one rank, while others may be waiting
// for that rank: to agree with them on an outcome could take indefinitely.
class TimedOut : public MpiError {
 public:
  explicit TimedOut(const std::string& line)
      : MpiError(ExitStatus::kLimitReached, MPI_ERR_OTHER, line) {}
};

// Throws MpiError if an MPI call did not return MPI_SUCCESS. Requires that the communicator's error
// handler is MPI_ERRORS_RETURN.
inline void check(int code, std::string_view doing) {
  if (code != MPI_SUCCESS) throw MpiError(code, doing);
}

}  // namespace espalier::runtime
