// Encryption of connections between hosts that share a secret: TLS 1.3 by OpenSSL, with the secret
// as its pre-shared key (RFC 8446, section 4.2.11) and a key exchange, so that who learns the
// secret later cannot read what was sent. Who does not know it does not get through the handshake.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace espalier::runtime::tcp {

// A connected socket, or one about to be. It does not own the socket.
class EncryptedSocket {
 public:
  EncryptedSocket() = default;
  virtual ~EncryptedSocket() = default;
  EncryptedSocket(const EncryptedSocket&) = delete;
  EncryptedSocket& operator=(const EncryptedSocket&) = delete;
  EncryptedSocket(EncryptedSocket&&) = delete;
  EncryptedSocket& operator=(EncryptedSocket&&) = delete;

  // How many bytes it took or gave without waiting, of as many as `bytes`; unset: the connection is
  // broken, has ended, or the other end does not know the secret. What was not taken is to be
  // offered again.
  virtual std::optional<std::size_t> write(std::span<const std::byte> bytes) = 0;
  virtual std::optional<std::size_t> read(std::span<std::byte> bytes) = 0;
  // Whether bytes have come in that the socket does not show any more.
  [[nodiscard]] virtual bool holds_bytes() const = 0;
};

class Encryption {
 public:
  // Throws InputError where this program was built without OpenSSL.
  explicit Encryption(std::span<const std::byte> secret);
  // connects: it began the connection. The socket lives as long as the result does.
  [[nodiscard]] std::unique_ptr<EncryptedSocket> of(int socket, bool connects) const;

 private:
  struct Keys;
  std::shared_ptr<const Keys> keys_;
};

}  // namespace espalier::runtime::tcp
