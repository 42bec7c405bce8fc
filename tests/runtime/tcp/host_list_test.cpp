#include "runtime/tcp/host_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::runtime::tcp::host_list_test {
namespace {

using espalier::testing::refusal;
using ::testing::ElementsAre;

TEST(HostList, HasAHostALine) {
  EXPECT_THAT(parse_hosts("# rack 1\n a \nb slots=4 # two sockets\n\nc\taddress=10.0.0.3 "
                          "max_slots=2\r\na",
                          "hosts"),
              ElementsAre(HostEntry{"a", "a"}, HostEntry{"b", "b"}, HostEntry{"c", "10.0.0.3"},
                          HostEntry{"a", "a"}));
}

TEST(HostList, RefusalNamesTheLine) {
  EXPECT_EQ(refusal([] { parse_hosts("a\nb port=3\n", "hosts"); }),
            "hosts: line 2: 'port=3' is not known; a line is NAME, or NAME address=ADDRESS");
  EXPECT_EQ(refusal([] { parse_hosts("a address=\n", "hosts"); }),
            "hosts: line 1: 'address=' is not known; a line is NAME, or NAME address=ADDRESS");
  EXPECT_EQ(refusal([] { parse_hosts("-oProxyCommand\n", "hosts"); }),
            "hosts: line 1: '-oProxyCommand' is not the name of a host");
  EXPECT_EQ(refusal([] { parse_hosts("# none\n", "hosts"); }), "hosts: names no host");
}

}  // namespace
}  // namespace espalier::runtime::tcp::host_list_test
