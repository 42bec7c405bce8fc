// The hosts that `espalier run` is given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::runtime::tcp {

struct HostEntry {
  std::string name;     // by which it is logged in to
  std::string address;  // at which other hosts reach it; its name if none is given
  bool operator==(const HostEntry&) const = default;
};

// A host a line: NAME [address=ADDRESS], and what mpirun's files have (slots=N, max_slots=N), which
// does not matter. Comments begin with #. file: for messages. Throws InputError that names the
// line, also if there is no host.
std::vector<HostEntry> parse_hosts(std::string_view text, const std::string& file);

// Whether it is this host by one of the names that need no login: localhost, 127.0.0.1, ::1, and
// what gethostname(2) says.
bool is_this_host(std::string_view name);

}  // namespace espalier::runtime::tcp
