// The report of `show` on a platform.
#pragma once

#include <string>

#include "platforms/formats/formats.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// Text: figures, the distribution of bandwidths and latencies, a histogram of bandwidths by decade,
// and the notes of the file's reader.
std::string platform_tables(const platforms::ReadResult& read);
// The same with all figures (docs/cli.md).
Json platform_json(const platforms::ReadResult& read);

}  // namespace espalier::cli
