// A trace of `espalier simulate --trace` or `espalier-mpi … --trace`, as the page plays it.
#pragma once

#include <string>
#include <vector>

#include "platforms/core/platform.hpp"
#include "support/json.hpp"

namespace espalier::cli {

// {"file", "end_s", "every", "lines": [name], "bars": [[line, start, duration, tree, segment]],
//  "hops": [[start, duration, tree, segment, from, to]]}: times in millionths of end_s, from and to
// are nodes of the platform. Of a trace with too many bars for a page, the segments whose number is
// a multiple of "every".
// ranks: the name of each rank's node. Throws InputError (file, place, reason) for events without a
// time, and for nodes that the platform does not have.
Json trace_facts(const Json& trace, const std::string& file, const platforms::Platform& platform,
                 const std::vector<std::string>& ranks);

// The hosts that a trace names, and an arc of no meaningful rate for each pair of which one sends
// to the other: for a trace without its platform.
platforms::Platform platform_of_trace(const Json& trace, const std::string& file);
// "rank 3 (node)" for each rank; empty for a simulation's trace.
std::vector<std::string> ranks_of_trace(const Json& trace);

}  // namespace espalier::cli
