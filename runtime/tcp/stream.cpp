#include "runtime/tcp/stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "support/errors.hpp"

namespace espalier::runtime::tcp {
namespace {

constexpr int kFramesAtOnce = 4;
// What the system takes ahead of sending: the rest waits here, where it can be withdrawn.
constexpr int kUnsentBytes = 128 << 10;

std::string last_reason() {
  return std::generic_category().message(errno);
}

void set_options(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytes, sizeof kUnsentBytes);
}

bool would_wait() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOTCONN || errno == EINPROGRESS;
}

// To all addresses of this host; not open if the port is taken.
Descriptor bound_to(std::uint16_t port) {
  Descriptor listener(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  int fault = -1;
  if (listener.is_open()) {
    const int off = 0;  // IPv4, too
    ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    fault = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&six), sizeof six);
  }
  if (fault != 0) {  // a host without IPv6
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    listener = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    fault = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&four), sizeof four);
  }
  return fault == 0 ? std::move(listener) : Descriptor();
}

}  // namespace

void Stream::close() {
  encrypted_.reset();
  socket_.close();
  out_.clear();
  sent_ = unsent_ = 0;
}

void Stream::put(const FrameHeader& header, std::vector<std::byte> body) {
  std::vector<std::byte> head(sizeof header);
  std::memcpy(head.data(), &header, sizeof header);
  body.insert(body.begin(), head.begin(), head.end());
  unsent_ += body.size();
  out_.push_back(std::move(body));
}

std::optional<std::size_t> Stream::write(std::span<const std::byte> bytes) {
  if (encrypted_) return encrypted_->write(bytes);
  const int more = out_.size() > 1 ? MSG_MORE : 0;
  while (true) {
    const ssize_t put =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT | more);
    if (put >= 0) return static_cast<std::size_t>(put);
    if (errno != EINTR) return would_wait() ? std::optional<std::size_t>(0) : std::nullopt;
  }
}

std::optional<std::size_t> Stream::read(std::span<std::byte> bytes) {
  if (encrypted_) return encrypted_->read(bytes);
  while (true) {
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) return std::nullopt;
    if (errno != EINTR) return would_wait() ? std::optional<std::size_t>(0) : std::nullopt;
  }
}

bool Stream::flush() {
  while (!out_.empty()) {
    const std::vector<std::byte>& first = out_.front();
    const auto put = write(std::span(first).subspan(sent_));
    if (!put) return false;
    if (*put == 0) return true;
    sent_ += *put;
    unsent_ -= *put;
    if (sent_ < first.size()) continue;
    out_.pop_front();
    sent_ = 0;
  }
  return true;
}

bool Stream::receive(const Take& take) {
  for (int frames = 0; frames < kFramesAtOnce;) {
    const bool in_head = got_ < sizeof header_;
    std::byte* const to = in_head ? reinterpret_cast<std::byte*>(&header_) + got_
                                  : body_.data() + (got_ - sizeof header_);
    const std::size_t wanted = (in_head ? 0 : header_.length) + sizeof header_ - got_;
    if (wanted > 0) {
      const auto got = read({to, wanted});
      if (!got) return false;
      if (*got == 0) return true;
      got_ += *got;
    }
    if (got_ < sizeof header_) continue;
    if (in_head) {
      if (header_.length > most_) return false;
      body_.resize(header_.length);
    }
    if (got_ < sizeof header_ + header_.length) continue;
    got_ = 0;
    ++frames;
    take(header_, body_);
    if (!is_open()) return true;  // taken over, or closed by whoever took the frame
  }
  return true;
}

Descriptor listen_anywhere(std::uint16_t first, std::uint16_t last) {
  for (std::uint32_t port = first; port <= last; ++port) {
    Descriptor listener = bound_to(static_cast<std::uint16_t>(port));
    if (listener.is_open() && ::listen(listener.get(), SOMAXCONN) == 0) return listener;
  }
  throw InputError("cannot listen for connections: " + last_reason());
}

std::uint16_t port_of(const Descriptor& listener) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length);
  // The port is at the same place in both.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

Descriptor begin_to_connect(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(address.c_str(), fmt::format("{}", port).c_str(), &hints, &found);
  if (fault != 0) {
    throw InputError(fmt::format("{}: {}", in_quotes(address), ::gai_strerror(fault)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.is_open()) continue;
    set_options(socket.get());
    if (::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0 || errno == EINPROGRESS) {
      return socket;
    }
  }
  throw InputError(fmt::format("cannot connect to {}: {}", in_quotes(address), last_reason()));
}

Descriptor accept_one(const Descriptor& listener) {
  Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.is_open()) set_options(socket.get());
  return socket;
}

}  // namespace espalier::runtime::tcp
