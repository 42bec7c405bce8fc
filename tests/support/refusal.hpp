// The message of an InputError, so that a test is one comparison.
#pragma once

#include <string>

#include "support/errors.hpp"

namespace espalier::testing {

// The message of the InputError that `step` throws; "(not refused)" if it throws none.
template <typename Step>
std::string refusal(Step&& step) {
  try {
    static_cast<void>(step());
  } catch (const InputError& fault) {
    return fault.what();
  }
  return "(not refused)";
}

}  // namespace espalier::testing
