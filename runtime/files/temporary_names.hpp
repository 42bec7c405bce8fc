// Names of temporary files that must be removed when a signal handler or a watchdog ends the
// process without unwinding.
#pragma once

#include <string>

#include "support/pinned.hpp"

namespace espalier::runtime {

// The file is removed by the destructor or by remove_temporaries(), whichever comes first.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class TemporaryName : public Pinned {
 public:
  ~TemporaryName() { remove(); }

  // Call it before the file gets the name.
  void set(std::string name);
  // Call it when the file has another name.
  void forget();
  void remove();
  [[nodiscard]] bool is_set() const { return !name_.empty(); }
  [[nodiscard]] const std::string& get() const { return name_; }

 private:
  std::string name_;
  std::size_t place_ = 0;
};

// Removes the files of all names that are set, before the process ends. May be called from a signal
// handler, and by a thread while others set and forget names.
void remove_temporaries() noexcept;

// From now on SIGTERM, SIGINT and SIGHUP, with which mpirun ends ranks, remove them before they end
// the process. For programs, not for libraries.
void remove_temporaries_on_signals();

}  // namespace espalier::runtime
