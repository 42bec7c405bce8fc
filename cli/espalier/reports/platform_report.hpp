// The report of `show` on a platform.
#pragma once

#include "cli/common/report.hpp"
#include "platforms/formats/formats.hpp"

namespace espalier::cli {

// Figures (docs/cli.md), the distribution of bandwidths and latencies, a histogram of bandwidths by
// decade, and the notes of the file's reader.
Report platform_report(const platforms::ReadResult& read);

}  // namespace espalier::cli
