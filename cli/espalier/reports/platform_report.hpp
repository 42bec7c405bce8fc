// What `show` says of a platform.
#pragma once

#include <string>

#include "platforms/formats/formats.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// For people: facts, how bandwidths and latencies spread, a histogram of bandwidths by decade, and
// what the reader of its file has to say.
std::string platform_tables(const platforms::ReadResult& read);
// The same in full (docs/cli.md).
Json platform_json(const platforms::ReadResult& read);

}  // namespace espalier::cli
