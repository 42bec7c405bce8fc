// Which hosts share a group (a rack, a site, an island of switches), as a file says it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::runtime {

// Each host's group by the host's name; "lyon/rack1" is a group in a group.
using HostGroups = std::map<std::string, std::string, std::less<>>;

// Lines HOST GROUP; comments begin with #. file: for messages. Throws InputError that names the
// line, also if a host has two groups, or there is no host.
HostGroups parse_host_groups(std::string_view text, const std::string& file);

// The group of each of these hosts. As in maps of ranks to a plan's nodes, a host that is not there
// by its whole name is looked up by its name up to the first dot. Throws InputError that names the
// host without a group.
std::vector<std::string> groups_of_hosts(const HostGroups& groups,
                                         std::span<const std::string> hosts,
                                         const std::string& file);

}  // namespace espalier::runtime
