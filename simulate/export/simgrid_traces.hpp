// A plan as SimGrid's time-independent traces, which smpirun replays on any platform: one file for
// each rank, an index that lists them, and the hosts in the order of the ranks. With the platform
// (format `simgrid`) beside them, SimGrid says how long the plan takes under its network model:
//
//   smpirun -platform platform.xml -hostfile hosts.txt -np N -replay traces.txt
//   --cfg=smpi/send-is-detached-thresh:0
//
// (Without that setting a send of up to 64 KiB counts as ended before it has left.)
//
// Format: https://simgrid.org/doc/latest/Tutorial_MPI_Applications.html ("Replay"), and the actions
// of src/smpi/internals/smpi_replay.cpp in https://github.com/simgrid/simgrid; F. Desprez et al.,
// Improving the accuracy and efficiency of time-independent trace replay, PMBS 2012,
// doi:10.1109/SC.Companion.2012.64.
#pragma once

#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "simulate/export/exported_file.hpp"
#include "simulate/export/transfers.hpp"

namespace espalier::simulate {

inline constexpr std::string_view kTraceIndex = "traces.txt";
inline constexpr std::string_view kTraceHosts = "hosts.txt";

// All receives are posted first; a rank waits for what a send needs and for the sends before it
// (Transfer::behind), and at the end for the rest. As every send has its receive, no order of
// arrivals can stop a rank. Additions take no time. Tags are
// Transfers::tag_of.
std::vector<ExportedFile> simgrid_traces(const planner::Plan& plan, const Transfers& transfers);

}  // namespace espalier::simulate
