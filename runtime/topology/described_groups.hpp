// The groups of hosts in a file of any kind that contains some.
#pragma once

#include <string>

#include "runtime/topology/host_groups.hpp"

namespace espalier::runtime {

// Of a platform in Espalier's JSON, of Slurm's topology.conf, where they are the switches, or of
// lines HOST GROUP; a build without the planner reads lines only. file: for messages. Throws
// InputError if the text is invalid.
HostGroups described_groups(const std::string& text, const std::string& file);

}  // namespace espalier::runtime
