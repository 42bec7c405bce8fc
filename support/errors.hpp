// The errors that Espalier reports, and the exit status of each (README, "Exit status").
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace espalier {

// Exit statuses of `espalier` and `espalier-mpi`. Scripts rely on them.
enum class ExitStatus : int {
  kDone = 0,
  kInternalFault = 1,  // an internal error
  kBadInput = 2,       // wrong usage or input
  kInfeasible = 3,     // the problem has no solution, e.g. a node that cannot be reached
  kLimitReached = 4,   // limit reached; what was found by then is still written
  kCheckFailed = 5,    // verify, data that differ, a source that changes
  kIncomplete = 6,     // some hosts lack a message that they could get
};

// `text` as one line that a terminal can show: control characters and invalid UTF-8 become \xNN.
std::string printable(std::string_view text);
// The same in single quotes, truncated if it is long. For names and values from files in messages.
std::string in_quotes(std::string_view text);

// Base class of all errors. what() is one line that names file, place and reason.
class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const std::string& line) : std::runtime_error(line), status_(status) {}
  [[nodiscard]] ExitStatus status() const noexcept { return status_; }

 private:
  ExitStatus status_;
};

// Invalid input: "FILE: PLACE: REASON"; empty parts are omitted.
class InputError : public Error {
 public:
  // file:   the file's name as the user gave it ("<stdin>" for "-")
  // place:  JSON pointer ("/nodes/3/name") or "line 12"
  // reason: what is wrong, and the remedy if that is short
  InputError(const std::string& file, const std::string& place, const std::string& reason);
  explicit InputError(const std::string& reason) : InputError({}, {}, reason) {}
};

// Runs `step`, whose InputErrors have a reason only, and adds file and place: a text, or a function
// that composes it if an error needs it.
template <class Place, class Step>
decltype(auto) at_place(const std::string& file, const Place& place, Step&& step) {
  try {
    return std::forward<Step>(step)();
  } catch (const InputError& fault) {
    if constexpr (std::is_invocable_v<Place>) {
      throw InputError(file, place(), fault.what());
    } else {
      throw InputError(file, place, fault.what());
    }
  }
}

// The problem as stated has no solution.
class InfeasibleError : public Error {
 public:
  explicit InfeasibleError(const std::string& reason) : Error(ExitStatus::kInfeasible, reason) {}
};

// A time or size limit was reached before there was any result.
class LimitReached : public Error {
 public:
  explicit LimitReached(const std::string& reason) : Error(ExitStatus::kLimitReached, reason) {}
};

// A check of a result failed: a plan with wrong figures, or bytes that differ.
class CheckFailed : public Error {
 public:
  explicit CheckFailed(const std::string& reason) : Error(ExitStatus::kCheckFailed, reason) {}
};

}  // namespace espalier
