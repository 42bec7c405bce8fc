// Descriptions of operations for error messages.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/transport.hpp"

namespace espalier::engine {

// "receiving segment 7 (number 3 of tree 1) from rank 2". index: of the segment in the message;
// unset: the empty message that ends the tree.
std::string name_of(const Operation& operation, std::optional<std::uint64_t> index, int peer);

// What a rank without progress waits for: the oldest operation of each edge, receives first,
// limited to a few. outstanding: in the order of trees, edges and segments. describe: name_of.
// comparing: what else is in progress; empty if nothing is.
std::string waiting_for(std::span<const Operation> outstanding,
                        const std::function<std::string(const Operation&)>& describe,
                        const std::string& comparing);

// " (5 more in progress, first: receiving ...)"; empty when there are none.
std::string others_of(std::span<const Operation> outstanding,
                      const std::function<std::string(const Operation&)>& describe);

}  // namespace espalier::engine
