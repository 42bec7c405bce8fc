// What all functions of the C API share (runtime/api/espalier.h).
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <string>

#include "runtime/api/espalier.h"
#include "support/errors.hpp"

namespace espalier::runtime {

// Of this thread.
std::string& last_error();

// Runs `act` and converts an exception into a status and a text.
template <class Act>
espalier_status guarded(const Act& act) noexcept {
  try {
    last_error().clear();
    act();
    return ESPALIER_OK;
  } catch (const Error& error) {
    last_error() = error.what();
    switch (error.status()) {
      case ExitStatus::kBadInput:
        return ESPALIER_BAD_INPUT;
      case ExitStatus::kLimitReached:
        return ESPALIER_TIMED_OUT;
      default:
        return ESPALIER_INTERNAL_FAULT;
    }
  } catch (const std::exception& error) {
    last_error() = error.what();
  } catch (...) {
    last_error() = "unknown internal error";
  }
  return ESPALIER_INTERNAL_FAULT;
}

inline void require(bool holds) {
  if (!holds) throw InputError("a null pointer");
}

// Beginnings of the ranks' parts; none: one after another.
inline std::span<const size_t> beginnings(const size_t* first, std::size_t ranks) {
  return first == nullptr ? std::span<const size_t>() : std::span(first, ranks);
}

}  // namespace espalier::runtime
