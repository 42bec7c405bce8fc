// What espalier-mpi probe tells.
#pragma once

#include <string>

#include "runtime/probe/analysis.hpp"

namespace espalier::cli {

std::string probe_json(const runtime::probe::Estimate& estimate, double seconds);
std::string probe_text(const runtime::probe::Estimate& estimate, double seconds);

}  // namespace espalier::cli
