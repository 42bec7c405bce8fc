// A plan as MLCommons Chakra execution traces, one for each rank: a node for each send and each
// receive of a segment, with its data dependencies. ASTRA-sim and other simulators read them as
// FOLDER/plan (files plan.RANK.et).
//
// Format: schema/protobuf/et_def.proto in https://github.com/mlcommons/chakra, whose messages
// follow one another, each after its length as a varint; the attributes are those that its feeder
// reads (src/feeder/et_feeder_node.cpp). S. Sridharan et al., Chakra: Advancing Performance
// Benchmarking and Co-design using Standardized Execution Traces, 2023, arXiv:2305.14516.
#pragma once

#include <vector>

#include "planner/plan/plan.hpp"
#include "simulate/export/exported_file.hpp"
#include "simulate/export/transfers.hpp"

namespace espalier::simulate {

// Nodes have ascending numbers in the order of the transfers, in which feeders issue them. Tags are
// Transfers::tag_of. Additions take no time.
std::vector<ExportedFile> chakra_traces(const planner::Plan& plan, const Transfers& transfers);

}  // namespace espalier::simulate
