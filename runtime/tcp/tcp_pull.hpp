// One message that is pulled, on a host, over TCP: engine/pull/puller.hpp decides, this sends and
// receives. Whoever runs it decides which hosts are dead, the same for all (hosts may differ on
// whom they reach): see cli/espalier/hosts.
//
// Two connections to each other host, so that requests do not wait behind segments: one for
// bulletins, one for segments. Of each pair the one with the higher rank connects. A sender hands
// the system one segment at a time of each connection, and reads further ones when they go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/pull/puller.hpp"
#include "runtime/files/kept_message.hpp"
#include "runtime/tcp/stream.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime::tcp {

struct TcpPeer {
  std::string address;
  std::uint16_t port = 0;
  bool is_alive = true;
};

struct TcpSetting {
  std::size_t rank = 0;
  std::size_t source = 0;
  std::vector<TcpPeer> peers{};       // by rank, this one included
  std::array<std::byte, 16> token{};  // a secret of these hosts: others are not heard
  bool encrypts = false;              // all that the hosts send (runtime/tcp/encryption.hpp)
  Seconds silence{6};                 // after which a host is complained about
};

// A host cannot be reached, is silent, or sends what is wrong.
struct Complaint {
  std::size_t about;
  std::string reason;
};

class TcpPull {
 public:
  // What the map of `message` contains need not be sent. message: outlives this. Throws InputError
  // where this program cannot encrypt.
  TcpPull(const TcpSetting& setting, Descriptor listener, KeptMessage& message);

  // Does what there is to do, and then waits a short time for more, or for `also` to be readable.
  // Throws InputError when a file of this host fails.
  void turn(int also);
  // The dead must be the same for all hosts.
  void died(std::size_t rank);
  // New ones, one for each host.
  std::vector<Complaint> take_complaints();

  // Every living host has all segments that exist on living hosts, and knows it. It must still be
  // turned, as long as others may not be done.
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] bool is_complete() const { return puller_.is_complete(); }
  [[nodiscard]] std::uint64_t segments() const { return puller_.segments_of(rank_); }

 private:
  struct Peer {
    Stream control{};
    Stream data{};
    std::deque<std::uint32_t> to_send{};
    double silent_s = 0;
    double told_s = 0;
    bool is_lost = false;  // complained about, or dead
  };
  enum class Kind : std::uint32_t { kControl, kData };

  void connect_to(std::size_t peer);
  // connects: the connection was begun here.
  [[nodiscard]] Stream stream_on(Descriptor socket, std::size_t most, bool connects) const;
  void greet(Stream& stream, Kind kind);
  void admit_strangers();
  void move_all(double now);
  void receive_from(std::size_t peer);
  void hear(std::size_t peer, std::span<const std::byte> bytes);
  void take_segment(std::size_t peer, const FrameHeader& header, std::span<const std::byte> bytes);
  void serve(std::size_t peer);
  void tell(std::size_t peer, double now);
  void look_at_silence(double now);
  void lose(std::size_t peer, const std::string& reason);
  void wait(int also, double seconds) const;

  TcpSetting setting_;
  std::size_t rank_;
  std::optional<Encryption> encryption_{};
  Descriptor listener_;
  KeptMessage* message_;
  engine::pull::Puller puller_;
  std::vector<Peer> peers_;
  std::vector<Stream> strangers_{};  // have not said who they are
  std::vector<Complaint> complaints_{};
  bool has_moved_ = false;
  double chosen_s_ = 0;
  double moved_s_ = 0;
  double looked_s_ = 0;
};

// Which hosts had better be given up so that all others reach each other: as few as seems possible,
// `source` last. complaints: pairs of who complains and about whom. Deterministic.
struct Rift {
  std::size_t by;
  std::size_t about;
};
std::vector<std::size_t> given_up(std::vector<Rift> rifts, std::size_t source);

}  // namespace espalier::runtime::tcp
