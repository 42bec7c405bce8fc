// Names of files that are to vanish with the process, for who ends it without unwinding: a signal's
// handler, a watchdog.
#pragma once

#include <string>

namespace espalier::runtime {

// A name that is removed when this ends, or in remove_temporaries(), whichever comes first.
class TemporaryName {
 public:
  TemporaryName() = default;
  ~TemporaryName() { remove(); }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  TemporaryName(TemporaryName&&) = delete;
  TemporaryName& operator=(TemporaryName&&) = delete;

  // To be said before the file has the name.
  void set(std::string name);
  // The file has another name now.
  void forget();
  void remove();
  [[nodiscard]] bool is_set() const { return !name_.empty(); }
  [[nodiscard]] const std::string& get() const { return name_; }

 private:
  std::string name_;
  std::size_t place_ = 0;
};

// Removes the files of all names that are set. May be called from a signal's handler.
void remove_temporaries() noexcept;

// From now on SIGTERM, SIGINT and SIGHUP, by which an mpirun ends ranks, remove them before they
// end the process. For programs, not for libraries.
void remove_temporaries_on_signals();

}  // namespace espalier::runtime
