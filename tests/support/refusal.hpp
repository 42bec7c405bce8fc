// The message of an error, so that a test is one comparison.
#pragma once

#include <string>

#include "support/errors.hpp"

namespace espalier::testing {

// The message of the error that `step` throws; "(not refused)" if it throws none.
template <typename Fault = InputError, typename Step>
std::string refusal(Step&& step) {
  try {
    static_cast<void>(step());
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "(not refused)";
}

}  // namespace espalier::testing
