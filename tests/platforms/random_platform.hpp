// Random platforms that use all properties of a platform.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platforms/core/platform.hpp"

namespace espalier::testing {

// Names that need care in some formats: markup, quotes, backslashes, blanks, keywords.
inline std::string odd_name(std::size_t index) {
  constexpr std::array<std::string_view, 10> kOdd{"node",   "a <b> & \"c\"", "two words", " blank",
                                                  "Zürich", "a\\b\\n",       "{x}->[y];", "50 %",
                                                  "'",      "aws:us-east-1"};
  const std::string_view stem = kOdd[index % kOdd.size()];
  return index < kOdd.size() ? std::string(stem) : fmt::format("{} {}", stem, index);
}

// 2 to 13 nodes, relays among them, with caps, groups, positions and shared links at random. The
// same seed gives the same platform.
inline platforms::Platform random_platform(std::uint64_t seed, bool link_rates = false) {
  using namespace platforms;
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t count) { return random() % count; };
  const auto rate = [&] {
    return BytesPerSecond{static_cast<double>(1 + below(1'000'000)) / 7e-3};
  };
  const auto span = [&] {
    return Seconds{below(2) == 0 ? 0 : static_cast<double>(below(999)) / 7e6};
  };
  PlatformBuilder builder("random \"" + odd_name(seed) + "\"");
  const std::size_t nodes = 2 + below(12);
  for (std::size_t i = 0; i < nodes; ++i) {
    Node node;
    node.name = odd_name(i);
    node.relay = i > 0 && below(3) == 0;
    if (below(3) == 0) node.send = rate();
    if (below(3) == 0) node.receive = rate();
    if (below(2) == 0) node.group = odd_name(below(9)) + "/rack";
    if (below(2) == 0) node.position = Position{rate().value - 7e7, -rate().value * 1e-9};
    builder.add_node(std::move(node));
  }
  std::vector<std::pair<NodeId, NodeId>> pairs;
  for (std::uint32_t from = 0; from < nodes; ++from) {
    for (std::uint32_t to = 0; to < nodes; ++to) {
      if (from == to || below(3) > 0) continue;
      Arc arc{NodeId{from}, NodeId{to}, rate(), span(), span()};
      if (link_rates && below(4) == 0) arc.send = rate();
      if (link_rates && below(4) == 0) arc.receive = rate();
      builder.add_arc(arc);
      pairs.emplace_back(NodeId{from}, NodeId{to});
    }
  }
  for (std::size_t link = 0; link < below(4) && !pairs.empty(); ++link) {
    std::vector<std::pair<NodeId, NodeId>> members;
    for (const auto& pair : pairs) {
      if (members.empty() || below(2) == 0) members.push_back(pair);
    }
    builder.add_shared_link("link " + odd_name(link + seed % 9), rate(), std::move(members));
  }
  return std::move(builder).build();
}

}  // namespace espalier::testing
