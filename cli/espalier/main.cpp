// The program `espalier`: the command line, and what its faults mean to the caller.
#include <exception>
#include <new>

#include "cli/espalier/command_line.hpp"
#include "cli/espalier/console.hpp"
#include "support/errors.hpp"

int main(int argc, char** argv) {
  using espalier::ExitStatus;
  ExitStatus status = ExitStatus::kInternalFault;
  try {
    status = espalier::cli::run_command_line(argc, argv);
  } catch (const espalier::Error& fault) {
    espalier::cli::print_error(fault.what());
    status = fault.status();
  } catch (const std::bad_alloc&) {
    espalier::cli::print_error("internal fault: out of memory");
  } catch (const std::exception& fault) {
    espalier::cli::print_error(std::string("internal fault: ") + fault.what());
  }
  return static_cast<int>(status);
}
