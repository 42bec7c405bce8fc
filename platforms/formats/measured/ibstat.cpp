// Output of `ibstat` (rdma-core, infiniband-diags/ibstat.c) of several hosts, each line with its
// host in front, as pdsh and clush print it (docs/formats.md).
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/text_lines.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kAdapter = "CA '";
constexpr double kBytesPerRate = 1e9 / 8;  // "Rate: 100" is 100 Gbit/s

// "n1: \tState: Active" as "n1" and "State: Active"; a line without a host has none.
struct HostLine {
  std::string_view host;
  std::string_view rest;
};
HostLine split_host(std::string_view line) {
  const std::size_t mark = line.find(": ");
  const bool has_host = mark != std::string_view::npos && mark > 0 &&
                        kBlank.find(line.front()) == std::string_view::npos &&
                        !line.starts_with(kAdapter);
  if (!has_host) return {{}, trimmed(line)};
  return {line.substr(0, mark), trimmed(line.substr(mark + 2))};
}

class IbstatReader : LineReader {
 public:
  using LineReader::LineReader;

  Platform platform() {
    lines_.each([&](std::string_view line) { read_line(split_host(line)); });
    source_.at({}, [&] { end_port(); });
    if (rates_.empty()) source_.refuse("no port is active");
    std::map<std::string, NodeId> fabrics;
    source_.at({}, [&] {
      for (const auto& [ends, rate] : rates_) {
        const auto& [host, layer] = ends;
        const auto [fabric, is_new] = fabrics.try_emplace(layer, NodeId{});
        if (is_new) fabric->second = builder_.add_node({.name = layer + " fabric", .relay = true});
        builder_.add_both_ways({builder_.node_named(host), fabric->second, {rate}, {}, {}});
      }
    });
    source_.note_counted(inactive_, "port", "left out {} that are not active");
    source_.note("the fabric has no limits of its own: ibstat does not show its switches");
    return source_.build(std::move(builder_));
  }

 private:
  void read_line(const HostLine& line) {
    if (line.rest.empty()) return;
    if (line.host.empty()) {
      throw InputError(
          "no host in front of the line; run ibstat on all hosts at once: pdsh -w HOSTS ibstat");
    }
    if (line.rest.starts_with(kAdapter)) return end_port();
    const std::size_t mark = line.rest.find(':');
    if (mark == std::string_view::npos) return;
    const std::string_view key = line.rest.substr(0, mark);
    const std::string_view value = trimmed(line.rest.substr(mark + 1));
    if (key.starts_with("Port ") && value.empty()) {
      end_port();
      port_ = Port{std::string(line.host)};
    } else if (port_ && line.host != port_->host) {
      throw InputError(fmt::format("a line of {} in a port of {}; sort the lines by host",
                                   in_quotes(line.host), in_quotes(port_->host)));
    } else if (port_ && key == "State") {
      port_->is_active = value == "Active";
    } else if (port_ && key == "Link layer") {
      port_->layer = value;
    } else if (port_ && key == "Rate") {
      const auto rate = parse_whole<std::uint32_t>(value);
      if (!rate || *rate == 0) {
        throw InputError(fmt::format("Rate {} is not a number above 0", in_quotes(value)));
      }
      port_->rate = *rate * kBytesPerRate;
    }
  }

  // Ports of a host into the same fabric are used together.
  void end_port() {
    if (!port_) return;
    const Port port = *std::exchange(port_, std::nullopt);
    if (!port.is_active) {
      ++inactive_;
    } else {
      if (port.rate == 0) throw InputError("an active port has no Rate");
      rates_[{port.host, port.layer}] += port.rate;
    }
  }

  struct Port {
    std::string host;
    bool is_active = false;
    double rate = 0;
    std::string layer = "InfiniBand";
  };
  std::optional<Port> port_;
  std::map<std::pair<std::string, std::string>, double> rates_;  // of host and link layer
  std::size_t inactive_ = 0;
};

bool detects_ibstat(std::string_view text) {
  const std::string unnamed;
  TextLines lines(head_of(text), unnamed);
  while (const auto line = lines.next()) {
    const HostLine split = split_host(*line);
    if (split.rest.starts_with("CA type:")) return true;
  }
  return false;
}

}  // namespace

constinit const FormatEntry kIbstatFormat{
    "ibstat", "Ports of hosts as ibstat prints them, each line with its host in front (pdsh)",
    detects_ibstat, [](Source& source) { return IbstatReader(source).platform(); }, 64};

}  // namespace espalier::platforms
