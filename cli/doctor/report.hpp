// What `doctor` prints.
#pragma once

#include <vector>

#include "cli/common/report.hpp"
#include "cli/doctor/checks.hpp"
#include "support/errors.hpp"

namespace espalier::cli::doctor {

// The findings, each with its reason and cure.
Report report_of(const Facts& facts, const std::vector<Found>& found);
// The checks by name, for --list.
Report list_of_checks();
// 5 (a check failed) if there is a finding, else 0.
ExitStatus status_of(const std::vector<Found>& found);

}  // namespace espalier::cli::doctor
