// Frames over a TCP connection, without waiting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/tcp/encryption.hpp"
#include "support/descriptor.hpp"

namespace espalier::runtime::tcp {

using espalier::Descriptor;

// Machines of one byte order understand each other.
struct FrameHeader {
  std::uint32_t number;  // what the frame is about: a segment, a rank
  std::uint32_t length;  // bytes that follow
  std::uint64_t mark;    // the segment's checksum
};

class Stream {
 public:
  Stream() = default;
  // socket: connected, or about to be; does not block. most: bytes of the longest frame to come.
  // encrypted: of the socket; null: bytes are sent as they are.
  Stream(Descriptor socket, std::size_t most, std::unique_ptr<EncryptedSocket> encrypted)
      : socket_(std::move(socket)), encrypted_(std::move(encrypted)), most_(most) {}

  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] std::size_t unsent() const { return unsent_; }
  // Whether receive() may find something, although the socket has nothing to read.
  [[nodiscard]] bool holds_bytes() const { return encrypted_ && encrypted_->holds_bytes(); }
  void set_most(std::size_t most) { most_ = most; }
  void close();

  void put(const FrameHeader& header, std::vector<std::byte> body);
  // Sends what the system takes. False: the connection is broken.
  bool flush();
  // Hands over the frames that are there, at most a few, so that other connections have their turn.
  // False: the connection is broken, has ended, or carries something else than frames.
  using Take = std::function<void(const FrameHeader&, std::span<const std::byte>)>;
  bool receive(const Take& take);

 private:
  // How many bytes were moved without waiting; unset: the connection is broken or has ended.
  [[nodiscard]] std::optional<std::size_t> write(std::span<const std::byte> bytes);
  [[nodiscard]] std::optional<std::size_t> read(std::span<std::byte> bytes);

  Descriptor socket_;
  std::unique_ptr<EncryptedSocket> encrypted_{};
  std::size_t most_ = 0;
  std::deque<std::vector<std::byte>> out_{};  // frames
  std::size_t sent_ = 0;                      // of the first of them
  std::size_t unsent_ = 0;                    // of all
  FrameHeader header_{};
  std::size_t got_ = 0;  // of header and body
  std::vector<std::byte> body_{};
};

// A socket that listens at all addresses, at the first free port of a range; 0: any port. Throws
// InputError with the system's reason.
Descriptor listen_anywhere(std::uint16_t first = 0, std::uint16_t last = 0);
std::uint16_t port_of(const Descriptor& listener);
// Begins to connect; whether it succeeds, the stream's first flush() shows. Throws InputError.
Descriptor begin_to_connect(const std::string& address, std::uint16_t port);
// The next connection, if there is one.
Descriptor accept_one(const Descriptor& listener);

}  // namespace espalier::runtime::tcp
