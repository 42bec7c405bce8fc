// Hosts of a pull in one process, over loopback sockets and files.
#include "runtime/tcp/tcp_pull.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "support/files.hpp"

namespace espalier::runtime::tcp::tcp_pull_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr SegmentGrid kGrid{300'001, 4096};
constexpr std::uint64_t kIdentity = 17;

std::string message_text() {
  std::string text(kGrid.message, '\0');
  for (std::size_t at = 0; at < text.size(); ++at) {
    text[at] = static_cast<char>(at * 131 + at / 251);
  }
  return text;
}

// The files of one host, and its part in the pull.
struct Host {
  std::optional<InputFile> in{};
  std::optional<OutputFile> out{};
  std::optional<KeptMessage> message{};
  Descriptor listener{};
  std::unique_ptr<TcpPull> pull{};
};

class TcpPulls : public ::testing::Test {
 protected:
  TcpPulls() {
    std::string pattern = ::testing::TempDir() + "espalier-tcp-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    write_text(path("in"), message_text());
  }
  ~TcpPulls() override { fs::remove_all(folder_); }
  TcpPulls(const TcpPulls&) = delete;
  TcpPulls& operator=(const TcpPulls&) = delete;
  TcpPulls(TcpPulls&&) = delete;
  TcpPulls& operator=(TcpPulls&&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string part_of(std::size_t rank) const {
    return path(".espalier-out" + std::to_string(rank) + ".part");
  }
  // Rank 0 is the source. What they have kept counts.
  void open(std::size_t count) {
    hosts_ = std::vector<Host>(count);
    for (std::size_t rank = 0; rank < count; ++rank) {
      Host& host = hosts_[rank];
      host.listener = listen_anywhere();
      if (rank == 0) {
        host.in.emplace(path("in"));
        host.message.emplace(&*host.in, nullptr, SegmentMap(kGrid));
        continue;
      }
      host.out.emplace(path("out" + std::to_string(rank)), FileLayout{kGrid.message, {}},
                       kIdentity);
      host.message.emplace(nullptr, &*host.out,
                           SegmentMap(part_of(rank) + ".segments", kIdentity, kGrid, true));
      host.message->check_claims([] {});
    }
  }
  void start(std::vector<std::size_t> dead = {}) {
    TcpSetting setting{.encrypts = encrypts_, .silence = Seconds{60}};
    for (const Host& host : hosts_) {
      setting.peers.push_back({"127.0.0.1", port_of(host.listener), true});
    }
    for (const std::size_t rank : dead) setting.peers[rank].is_alive = false;
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      setting.rank = rank;
      if (!setting.peers[rank].is_alive) continue;
      hosts_[rank].pull = std::make_unique<TcpPull>(setting, std::move(hosts_[rank].listener),
                                                    *hosts_[rank].message);
    }
  }
  // Turns all hosts that live, until `enough`.
  template <class Enough>
  void turn_until(const Enough& enough) {
    for (int turns = 0; !enough(); ++turns) {
      ASSERT_LT(turns, 20'000) << "it does not end";
      for (Host& host : hosts_) {
        if (host.pull) host.pull->turn(-1);
      }
    }
  }
  void finish() {
    turn_until([&] {
      for (const Host& host : hosts_) {
        if (host.pull && !host.pull->is_done()) return false;
      }
      return true;
    });
  }
  void kill(std::size_t rank) { hosts_[rank].pull.reset(); }
  void announce_death(std::size_t rank) {
    for (Host& host : hosts_) {
      if (host.pull) host.pull->died(rank);
    }
  }
  void expect_whole(std::size_t rank) {
    hosts_[rank].message->commit();
    EXPECT_EQ(read_text(path("out" + std::to_string(rank))), message_text());
    EXPECT_FALSE(fs::exists(part_of(rank) + ".segments"));
  }
  // Changes a byte in the middle of a segment, on the disk.
  void damage(const std::string& file, std::uint64_t segment) const {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(kGrid.offset(segment) + 100));
    stream.put('~');
    stream.close();
    ASSERT_TRUE(stream);
  }
  std::vector<Host>& hosts() { return hosts_; }
  void encrypt() { encrypts_ = true; }

 private:
  bool encrypts_ = false;
  fs::path folder_;
  std::vector<Host> hosts_;
};

TEST_F(TcpPulls, BringEveryByteToEveryHost) {
  open(4);
  start();
  finish();
  for (const std::size_t rank : {1U, 2U, 3U}) {
    EXPECT_TRUE(hosts()[rank].pull->is_complete());
    expect_whole(rank);
  }
}

TEST_F(TcpPulls, BringEveryByteEncryptedAlsoWithoutAHostThatDies) {
  open(4);
  encrypt();
  const std::uint16_t port = port_of(hosts()[1].listener);
  Stream plain(begin_to_connect("127.0.0.1", port), 64, nullptr);
  // The greeting of rank 2, with the right secret.
  std::vector<std::byte> greeting(20, std::byte{0});
  plain.put({2, 20, 0x3170637472617073}, std::move(greeting));
  start();
  turn_until([&] { return hosts()[2].pull->segments() >= 10; });
  kill(2);
  announce_death(2);
  bool is_closed = false;
  turn_until([&] {
    is_closed = is_closed || !plain.flush() || !plain.receive([](auto&&...) {});
    return is_closed;
  });
  finish();
  expect_whole(1);
  expect_whole(3);
}

TEST_F(TcpPulls, GoOnWithoutAHostThatDies) {
  open(4);
  start();
  turn_until([&] { return hosts()[2].pull->segments() >= 10; });
  kill(2);
  std::vector<Complaint> complaints;
  turn_until([&] {
    complaints = hosts()[1].pull->take_complaints();
    return !complaints.empty();
  });
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(complaints[0].about, 2U);
  EXPECT_EQ(complaints[0].reason, "connection lost");
  announce_death(2);
  finish();
  expect_whole(1);
  expect_whole(3);
}

TEST_F(TcpPulls, ShareWhatADeadSourceHasSent) {
  open(4);
  start();
  turn_until([&] { return hosts()[1].pull->segments() >= 20; });
  kill(0);
  announce_death(0);
  finish();
  EXPECT_GE(hosts()[1].pull->segments(), 20U);
  EXPECT_EQ(hosts()[1].pull->segments(), hosts()[2].pull->segments());
  EXPECT_EQ(hosts()[1].pull->segments(), hosts()[3].pull->segments());
  const std::uint64_t kept = hosts()[1].pull->segments();

  // Started again, with the source.
  open(4);
  start();
  EXPECT_EQ(hosts()[2].pull->segments(), kept);
  finish();
  for (const std::size_t rank : {1U, 2U, 3U}) expect_whole(rank);
}

TEST_F(TcpPulls, FetchDamagedPartsAgain) {
  open(2);
  start();
  finish();
  damage(part_of(1), 7);
  open(2);
  EXPECT_FALSE(hosts()[1].message->map().contains(7));
  EXPECT_TRUE(hosts()[1].message->map().contains(6));
  start();
  EXPECT_EQ(hosts()[1].pull->segments(), kGrid.count() - 1);
  finish();
  expect_whole(1);
}

TEST_F(TcpPulls, RefuseBytesThatWereDamagedOnTheSendersDisk) {
  open(2);
  start();
  finish();
  open(3);
  damage(part_of(1), 7);  // after it was checked
  start({0});
  std::vector<Complaint> complaints;
  turn_until([&] {
    complaints = hosts()[2].pull->take_complaints();
    return !complaints.empty();
  });
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(complaints[0].about, 1U);
  EXPECT_EQ(complaints[0].reason, "sends damaged bytes (segment 7)");
  EXPECT_FALSE(hosts()[2].message->map().contains(7));
}

TEST_F(TcpPulls, DoNotHearStrangers) {
  open(3);
  const std::uint16_t port = port_of(hosts()[1].listener);
  Stream wrong_token(begin_to_connect("127.0.0.1", port), 64, nullptr);
  wrong_token.put({2, 20, 0x3170637472617073}, std::vector<std::byte>(20, std::byte{1}));
  Stream too_long(begin_to_connect("127.0.0.1", port), 64, nullptr);
  too_long.put({2, UINT32_MAX, 0}, {});
  start();
  bool is_closed = false;
  turn_until([&] {
    wrong_token.flush();
    too_long.flush();
    is_closed = !wrong_token.receive([](auto&&...) {}) && !too_long.receive([](auto&&...) {});
    return is_closed;
  });
  finish();
  expect_whole(1);
  expect_whole(2);
}

TEST_F(TcpPulls, ComplainAboutAHostThatIsSilent) {
  open(2);
  std::vector<TcpPeer> peers;
  for (const Host& host : hosts()) peers.push_back({"127.0.0.1", port_of(host.listener), true});
  // Rank 0 is never turned.
  TcpPull one({.rank = 1, .peers = peers, .silence = Seconds{0.01}}, std::move(hosts()[1].listener),
              *hosts()[1].message);
  std::vector<Complaint> complaints;
  for (int turns = 0; turns < 20'000 && complaints.empty(); ++turns) {
    one.turn(-1);
    complaints = one.take_complaints();
  }
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_THAT(complaints[0].reason, HasSubstr("silent for 10"));
}

TEST(GivenUp, IsTheHostThatNobodyReaches) {
  // All others complain about host 3, which complains about them.
  EXPECT_THAT(given_up({{3, 0}, {3, 1}, {3, 2}, {0, 3}, {1, 3}, {2, 3}}, 0), ElementsAre(3));
}

TEST(GivenUp, IsTheSourceLast) {
  EXPECT_THAT(given_up({{1, 0}, {0, 1}}, 0), ElementsAre(1));
  EXPECT_THAT(given_up({{1, 0}}, 0), ElementsAre(1));
}

TEST(GivenUp, LeavesNoTwoThatDoNotReachEachOther) {
  EXPECT_THAT(given_up({{1, 2}, {3, 4}}, 0), ElementsAre(4, 2));
  EXPECT_THAT(given_up({}, 0), IsEmpty());
}

}  // namespace
}  // namespace espalier::runtime::tcp::tcp_pull_test
