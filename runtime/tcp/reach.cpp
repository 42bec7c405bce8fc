#include "runtime/tcp/reach.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "runtime/tcp/stream.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"

namespace espalier::runtime::tcp {
namespace {

// Of a socket that connects and has become writable; empty: it is connected.
std::string outcome_of(int socket) {
  int fault = 0;
  socklen_t length = sizeof fault;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &fault, &length);
  return fault == 0 ? std::string() : std::generic_category().message(fault);
}

}  // namespace

std::vector<std::string> try_to_connect(std::span<const Port> ports, Seconds most) {
  std::vector<std::string> reasons(ports.size(),
                                   fmt::format("no answer within {}", format_duration(most)));
  std::vector<Descriptor> sockets(ports.size());
  std::vector<pollfd> waiting(ports.size(), {-1, POLLOUT, 0});  // -1: poll() skips it
  for (std::size_t i = 0; i < ports.size(); ++i) {
    try {
      sockets[i] = begin_to_connect(ports[i].address, ports[i].number);
      waiting[i].fd = sockets[i].get();
    } catch (const InputError& fault) {  // no route: the reason stands after the address
      const std::string text = fault.what();
      reasons[i] = text.substr(text.rfind(": ") == std::string::npos ? 0 : text.rfind(": ") + 2);
    }
  }
  const Stopwatch since;
  const auto is_open = [](const pollfd& one) { return one.fd >= 0; };
  while (std::ranges::any_of(waiting, is_open)) {
    const double left_s = most.value - since.elapsed().value;
    if (left_s <= 0) break;
    static_cast<void>(::poll(waiting.data(), waiting.size(), static_cast<int>(left_s * 1e3) + 1));
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      reasons[i] = outcome_of(waiting[i].fd);
      waiting[i] = {-1, POLLOUT, 0};
    }
  }
  return reasons;
}

}  // namespace espalier::runtime::tcp
