// Checks that two platforms are equal in all properties.
#pragma once

#include <gtest/gtest.h>

#include "platforms/core/platform.hpp"

namespace espalier::testing {

inline void expect_same(const platforms::Platform& a, const platforms::Platform& b) {
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.currency(), b.currency());
  ASSERT_EQ(a.nodes().size(), b.nodes().size());
  for (std::size_t i = 0; i < a.nodes().size(); ++i) {
    const platforms::Node& left = a.nodes()[i];
    const platforms::Node& right = b.nodes()[i];
    EXPECT_EQ(left.name, right.name);
    EXPECT_EQ(left.relay, right.relay) << left.name;
    EXPECT_EQ(left.send, right.send) << left.name;
    EXPECT_EQ(left.receive, right.receive) << left.name;
    EXPECT_EQ(left.group, right.group) << left.name;
    EXPECT_EQ(left.position, right.position) << left.name;
    EXPECT_EQ(left.price_per_hour, right.price_per_hour) << left.name;
  }
  ASSERT_EQ(a.arcs().size(), b.arcs().size());
  for (std::size_t i = 0; i < a.arcs().size(); ++i) {
    const platforms::Arc& left = a.arcs()[i];
    const platforms::Arc& right = b.arcs()[i];
    EXPECT_EQ(left.from, right.from) << i;
    EXPECT_EQ(left.to, right.to) << i;
    EXPECT_EQ(left.bandwidth, right.bandwidth) << i;
    EXPECT_EQ(left.latency, right.latency) << i;
    EXPECT_EQ(left.overhead, right.overhead) << i;
    EXPECT_EQ(left.price_per_GB, right.price_per_GB) << i;
    EXPECT_EQ(left.send, right.send) << i;
    EXPECT_EQ(left.receive, right.receive) << i;
  }
  ASSERT_EQ(a.shared_links().size(), b.shared_links().size());
  for (std::size_t i = 0; i < a.shared_links().size(); ++i) {
    EXPECT_EQ(a.shared_links()[i].name, b.shared_links()[i].name);
    EXPECT_EQ(a.shared_links()[i].bandwidth, b.shared_links()[i].bandwidth);
    EXPECT_EQ(a.shared_links()[i].arcs, b.shared_links()[i].arcs);
  }
}

}  // namespace espalier::testing
