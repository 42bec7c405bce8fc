// The groups of hosts, from a file of any kind that has some.
#pragma once

#include <string>
#include <vector>

namespace espalier::runtime {

// The group of each of these hosts (groups_of_hosts), in the text of a platform in Espalier's JSON,
// of Slurm's topology.conf, where groups are the switches, or of lines HOST GROUP; a build without
// the planner reads lines only. file: for messages. Throws InputError if the text is invalid, or
// has no group of a host.
std::vector<std::string> described_groups(const std::string& text, const std::string& file,
                                          const std::vector<std::string>& hosts);

}  // namespace espalier::runtime
