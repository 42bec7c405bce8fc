#include "runtime/tcp/reach.hpp"

#include <gtest/gtest.h>

#include "runtime/tcp/stream.hpp"
#include "support/errors.hpp"

namespace espalier::runtime::tcp::reach_test {
namespace {

TEST(Reach, TellsOpenPortsFromClosedOnes) {
  const Descriptor listener = listen_anywhere();
  Descriptor closed = listen_anywhere();
  const std::uint16_t none = port_of(closed);
  closed.close();
  const std::vector<std::string> reasons = try_to_connect(
      std::vector<Port>{{"127.0.0.1", port_of(listener)}, {"127.0.0.1", none}, {"::1::", 1}},
      Seconds{5});
  ASSERT_EQ(reasons.size(), 3U);
  EXPECT_EQ(reasons[0], "");
  EXPECT_NE(reasons[1].find("Connection refused"), std::string::npos) << reasons[1];
  EXPECT_NE(reasons[2], "");
  EXPECT_TRUE(try_to_connect({}, Seconds{5}).empty());
}

TEST(Reach, ListensWithinARange) {
  const Descriptor first = listen_anywhere();
  const std::uint16_t taken = port_of(first);
  EXPECT_THROW(listen_anywhere(taken, taken), InputError);
  const Descriptor next = listen_anywhere(taken, 65535);
  EXPECT_GT(port_of(next), taken);
}

}  // namespace
}  // namespace espalier::runtime::tcp::reach_test
