#include <fmt/format.h>

// smpicxx makes it a macro, but CLI11 has a member of that name.
#undef exit
#include <CLI/CLI.hpp>

#include "cli/espalier_mpi_probe.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

CLI::App* add_probe(CLI::App& app, ProbeArguments& to) {
  CLI::App* probe = app.add_subcommand(
      "probe", "measure the network between the ranks, and write it as a platform");
  probe->add_option("-o,--output", to.out, "platform file; - is standard output")->required();
  probe->add_option("--effort", to.effort,
                    "quick, normal, thorough, or a number of times normal's (0.1 to 100)");
  probe->add_flag("--resume", to.resume,
                  "go on from the measurements that a probe which was broken off has left in "
                  "OUTPUT.measurements.json");
  probe->add_option("--measurements", to.measurements, "where to write the raw measurements too");
  probe->add_option("--name", to.name, "the platform's name");
  probe->add_flag("--json", to.json, "a summary as JSON on standard output");
  probe->add_flag("--quiet", to.quiet, "no progress");
  return probe;
}

void check_probe(ProbeArguments& arguments) {
  try {
    arguments.effort_factor = runtime::probe::parse_effort(arguments.effort);
  } catch (const InputError& error) {
    throw InputError(fmt::format("--effort: {}", error.what()));
  }
  if (arguments.out == "-" && arguments.json) {
    throw InputError("--json and -o - would both be standard output");
  }
  if (arguments.out == "-" && arguments.resume) {
    throw InputError("--resume goes on from what is beside a file, and -o - is none");
  }
  if (arguments.measurements == "-") throw InputError("--measurements is a file");
  if (!arguments.measurements.empty() && arguments.measurements == arguments.out) {
    throw InputError("--measurements and -o are the same file");
  }
}

}  // namespace espalier::cli
