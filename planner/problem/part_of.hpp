// A part of a platform: some of its hosts, and what connects them.
#pragma once

#include <span>

#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner {

// The part of a platform that consists of `members`, ranked in the order given, of all relays, and
// of the links, caps and shared links among these. Other hosts are left out, except way_points,
// which only forward. model, occupation: of the whole, for the load that its other links put on a
// member. members: at least two hosts, none twice. way_points: hosts that are not members.
platforms::Platform part_of(const platforms::Platform& whole, platforms::Model model,
                            const platforms::Occupation& occupation,
                            std::span<const platforms::NodeId> members,
                            std::span<const platforms::NodeId> way_points = {});

}  // namespace espalier::planner
