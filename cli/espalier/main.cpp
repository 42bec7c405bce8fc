// The program `espalier`: runs the command line and turns errors into messages and exit statuses.
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
    espalier::cli::print_error("internal error: out of memory");
  } catch (const std::exception& fault) {
    espalier::cli::print_error(std::string("internal error: ") + fault.what());
  }
  return static_cast<int>(status);
}
