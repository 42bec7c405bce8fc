// Whether other hosts' ports can be connected to: what a firewall forbids.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/quantities.hpp"

namespace espalier::runtime::tcp {

struct Port {
  std::string address;
  std::uint16_t number;
};

// Connects to all of them at once, and closes the connections again. For each, empty if it was
// connected, else the reason: the system's, or that there was no answer within `most`.
std::vector<std::string> try_to_connect(std::span<const Port> ports, Seconds most);

}  // namespace espalier::runtime::tcp
