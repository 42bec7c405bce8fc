#include "runtime/tcp/encryption.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::runtime::tcp {
namespace {

template <auto kFree>
struct FreedBy {
  template <class Object>
  void operator()(Object* object) const {
    kFree(object);
  }
};
using Connection = std::unique_ptr<SSL, FreedBy<&SSL_free>>;
using Session = std::unique_ptr<SSL_SESSION, FreedBy<&SSL_SESSION_free>>;

constexpr std::string_view kIdentity = "espalier";
constexpr std::array<unsigned char, 2> kAes128GcmSha256{0x13, 0x01};

void require(bool worked, const char* what) {
  if (worked) return;
  std::array<char, 256> reason{};
  ::ERR_error_string_n(::ERR_get_error(), reason.data(), reason.size());
  throw std::runtime_error(std::string(what) + ": " + reason.data());
}

using Secret = std::vector<unsigned char>;

// What both ends know beforehand; the caller owns it.
SSL_SESSION* known_session(SSL* connection) {
  const auto* secret =
      static_cast<const Secret*>(SSL_CTX_get_app_data(::SSL_get_SSL_CTX(connection)));
  Session session(::SSL_SESSION_new());
  const SSL_CIPHER* cipher = ::SSL_CIPHER_find(connection, kAes128GcmSha256.data());
  const bool is_set =
      session && cipher != nullptr &&
      ::SSL_SESSION_set1_master_key(session.get(), secret->data(), secret->size()) == 1 &&
      ::SSL_SESSION_set_cipher(session.get(), cipher) == 1 &&
      ::SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) == 1;
  return is_set ? session.release() : nullptr;
}

// The types of these two are OpenSSL's.
int offer_session(SSL* connection, const EVP_MD* hash, const unsigned char** identity,
                  std::size_t* length, SSL_SESSION** session) {
  *session = nullptr;
  if (hash != nullptr && hash != ::EVP_sha256()) return 1;  // of another cipher
  *session = known_session(connection);
  *identity = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *length = kIdentity.size();
  return *session != nullptr ? 1 : 0;
}

int find_session(SSL* connection, const unsigned char* identity, std::size_t length,
                 SSL_SESSION** session) {
  const bool is_ours =
      length == kIdentity.size() && std::memcmp(identity, kIdentity.data(), length) == 0;
  *session = is_ours ? known_session(connection) : nullptr;
  return 1;
}

class TlsSocket : public EncryptedSocket {
 public:
  explicit TlsSocket(Connection connection) : connection_(std::move(connection)) {}

  std::optional<std::size_t> write(std::span<const std::byte> bytes) override {
    std::size_t taken = 0;
    ::ERR_clear_error();
    const int result = ::SSL_write_ex(connection_.get(), bytes.data(), bytes.size(), &taken);
    return moved(result, taken);
  }
  std::optional<std::size_t> read(std::span<std::byte> bytes) override {
    std::size_t given = 0;
    ::ERR_clear_error();
    const int result = ::SSL_read_ex(connection_.get(), bytes.data(), bytes.size(), &given);
    return moved(result, given);
  }
  [[nodiscard]] bool holds_bytes() const override { return ::SSL_pending(connection_.get()) > 0; }

 private:
  [[nodiscard]] std::optional<std::size_t> moved(int result, std::size_t bytes) const {
    if (result == 1) return bytes;
    const int fault = ::SSL_get_error(connection_.get(), result);
    const bool would_wait = fault == SSL_ERROR_WANT_READ || fault == SSL_ERROR_WANT_WRITE;
    return would_wait ? std::optional<std::size_t>(0) : std::nullopt;
  }

  Connection connection_;
};

}  // namespace

struct Encryption::Keys {
  Secret secret;
  std::shared_ptr<SSL_CTX> context;
};

Encryption::Encryption(std::span<const std::byte> secret) {
  const auto keys = std::make_shared<Keys>();
  for (const std::byte one : secret) keys->secret.push_back(std::to_integer<unsigned char>(one));
  keys->context.reset(::SSL_CTX_new(::TLS_method()), &::SSL_CTX_free);
  SSL_CTX* const context = keys->context.get();
  require(context != nullptr, "TLS");
  require(::SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1, "TLS 1.3");
  require(::SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1, "AES");
  // A session is not resumed, and a ticket would be one more message to be read.
  require(::SSL_CTX_set_num_tickets(context, 0) == 1, "tickets of TLS");
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_app_data(context, &keys->secret);
  ::SSL_CTX_set_psk_use_session_callback(context, &offer_session);
  ::SSL_CTX_set_psk_find_session_callback(context, &find_session);
  keys_ = keys;
}

std::unique_ptr<EncryptedSocket> Encryption::of(int socket, bool connects) const {
  Connection connection(::SSL_new(keys_->context.get()));
  require(connection && ::SSL_set_fd(connection.get(), socket) == 1, "TLS on a socket");
  connects ? ::SSL_set_connect_state(connection.get()) : ::SSL_set_accept_state(connection.get());
  return std::make_unique<TlsSocket>(std::move(connection));
}

}  // namespace espalier::runtime::tcp
