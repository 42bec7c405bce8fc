// Where OpenSSL was not there when this was built.
#include "runtime/tcp/encryption.hpp"
#include "support/errors.hpp"

namespace espalier::runtime::tcp {

Encryption::Encryption(std::span<const std::byte> /*secret*/) {
  throw InputError("cannot encrypt: espalier was built without OpenSSL");
}

std::unique_ptr<EncryptedSocket> Encryption::of(int /*socket*/, bool /*connects*/) const {
  return nullptr;
}

}  // namespace espalier::runtime::tcp
