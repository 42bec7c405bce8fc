// MPI's failures as exceptions that carry MPI's own text.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "support/errors.hpp"

namespace espalier::runtime {

class MpiError : public Error {
 public:
  // doing: what failed, with its peer where there is one ("receiving segment 17 of tree 1 from rank
  // 2")
  MpiError(int code, std::string_view doing);
  [[nodiscard]] int code() const noexcept { return code_; }

 protected:
  MpiError(ExitStatus status, int code, const std::string& line)
      : Error(status, line), code_(code) {}

 private:
  int code_;
};

// What was waited for did not come in time. Like a failure of MPI it is one rank's own trouble, and
// others may be waiting for that rank: agreeing with them on what to do may take indefinitely.
class TimedOut : public MpiError {
 public:
  explicit TimedOut(const std::string& line)
      : MpiError(ExitStatus::kLimitReached, MPI_ERR_OTHER, line) {}
};

// Throws MpiError when an MPI call did not return MPI_SUCCESS. Works where the communicator's error
// handler is MPI_ERRORS_RETURN.
inline void check(int code, std::string_view doing) {
  if (code != MPI_SUCCESS) throw MpiError(code, doing);
}

}  // namespace espalier::runtime
