// Errors of both extension modules as Python exceptions (espalier/errors.py).
#pragma once

#include <pybind11/pybind11.h>

#include <exception>

#include "support/errors.hpp"

namespace espalier::python {

namespace py = pybind11;

// The class for errors of this status.
inline const char* class_for(ExitStatus status) {
  switch (status) {
    case ExitStatus::kBadInput:
      return "InputError";
    case ExitStatus::kInfeasible:
      return "NoSolution";
    case ExitStatus::kLimitReached:
      return "LimitReached";
    case ExitStatus::kCheckFailed:
      return "CheckFailed";
    case ExitStatus::kDone:
    case ExitStatus::kIncomplete:
    case ExitStatus::kInternalFault:
      break;
  }
  return "Error";
}

// For the module that is being initialised.
inline void translate_errors() {
  py::register_local_exception_translator([](std::exception_ptr pending) {
    try {
      if (pending) std::rethrow_exception(pending);
    } catch (const Error& fault) {
      const py::object type =
          py::module_::import("espalier.errors").attr(class_for(fault.status()));
      PyErr_SetString(type.ptr(), fault.what());
    }
  });
}

}  // namespace espalier::python
