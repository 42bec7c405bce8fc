// Output of `iperf3 -J` for one pair of hosts, from the client or the server (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "platforms/formats/measured/pair_measurements.hpp"
#include "support/json.hpp"

namespace espalier::platforms {

namespace {

// On an IPv6 socket, iperf3 prints IPv4 addresses as ::ffff:10.0.0.1, at one end only.
std::string address_of(const JsonCursor& host) {
  constexpr std::string_view kMapped = "::ffff:";
  const std::string& text = host.string();
  return text.starts_with(kMapped) ? text.substr(kMapped.size()) : text;
}

// One direction of a run.
struct Flow {
  std::string_view suffix;  // of the keys in "end"
  bool local_sends;
};

class Run {
 public:
  Run(const JsonCursor& root, const std::string& file, PairMeasurements& into)
      : start_(root.at("start")), end_(root.at("end")), file_(file), into_(into) {}

  void gather() {
    const auto connected = start_.at("connected").elements();
    if (connected.empty()) return into_.add_failure(file_, "no connection was made");
    local_ = address_of(connected.front().at("local_host"));
    remote_ = address_of(connected.front().at("remote_host"));
    at_server_ = start_.has("accepted_connection");
    if (const auto target = start_.find("connecting_to")) {
      into_.add_name(remote_, address_of(target->at("host")));
    }
    const JsonCursor test = start_.at("test_start");
    const auto reverse = test.find("reverse");
    const bool is_reverse = reverse && reverse->number() != 0;
    udp_ = test.at("protocol").string() == "UDP";
    const bool both = has_sums("_bidir_reverse");
    add({"", at_server_ == is_reverse}, both);
    if (both) add({"_bidir_reverse", at_server_}, both);
    add_latency();
  }

 private:
  [[nodiscard]] bool has_sums(std::string_view suffix) const {
    return end_.has(fmt::format("sum_received{}", suffix)) ||
           end_.has(fmt::format("sum_sent{}", suffix)) || end_.has(fmt::format("sum{}", suffix));
  }

  [[nodiscard]] std::optional<double> bits_of(std::string_view key, std::string_view suffix) const {
    const auto sum = end_.find(fmt::format("{}{}", key, suffix));
    if (!sum) return std::nullopt;
    return sum->at("bits_per_second").number();
  }

  void add(const Flow& flow, bool both) {
    const bool only_sent_is_known = flow.local_sends && at_server_;
    auto bits = bits_of("sum_received", flow.suffix);
    if (!bits || only_sent_is_known) {
      const auto sent = bits_of("sum_sent", flow.suffix);
      if (sent) into_.add_remark("reported what was sent, not what was received");
      bits = sent ? sent : udp_sum(flow.suffix);
    }
    if (!bits || *bits == 0) return into_.add_failure(file_, "nothing was received");
    end_.at_place([&] {
      into_.add_bandwidth(flow.local_sends ? local_ : remote_, flow.local_sends ? remote_ : local_,
                          {*bits / 8});
    });
    if (udp_) into_.add_remark("used UDP: the rate is limited by -b");
    if (both) into_.add_remark("ran in both directions at once (--bidir)");
  }

  // iperf3 before 3.6: one sum of the data sent, and the percentage lost.
  [[nodiscard]] std::optional<double> udp_sum(std::string_view suffix) const {
    const auto bits = bits_of("sum", suffix);
    if (!bits) return std::nullopt;
    const auto lost = end_.at(fmt::format("sum{}", suffix)).find("lost_percent");
    return *bits * (1 - (lost ? std::clamp(lost->number(), 0., 100.) : 0) / 100);
  }

  // Only the sender measures the round-trip time; TCP at the receiver estimates it.
  void add_latency() {
    const auto streams = end_.find("streams");
    if (!streams) return;
    double sum = 0;
    std::size_t count = 0;
    for (const JsonCursor& stream : streams->elements()) {
      const auto sender = stream.find("sender");
      const auto sends = sender ? sender->find("sender") : std::nullopt;
      const auto rtt = sender ? sender->find("mean_rtt") : std::nullopt;
      if (!sends || !sends->boolean() || !rtt || rtt->number() == 0) continue;
      sum += rtt->number();
      ++count;
    }
    if (count == 0) return;
    end_.at_place([&] {
      into_.add_latency(local_, remote_, {sum / static_cast<double>(count) / 2 * kMicrosecond});
    });
  }

  JsonCursor start_;
  JsonCursor end_;
  const std::string& file_;
  PairMeasurements& into_;
  std::string local_;
  std::string remote_;
  bool at_server_ = false;
  bool udp_ = false;
};

// The first key of the object at the start of the text; empty if there is none.
std::string_view first_key(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  for (const char mark : {'{', '"'}) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (!text.starts_with(mark)) return {};
    text.remove_prefix(1);
  }
  return text.substr(0, text.find('"'));
}

bool detects_iperf3(std::string_view text) {
  constexpr std::size_t kEnough = 4096;
  constexpr std::array<std::string_view, 4> kFirst{"start", "title", "extra_data", "event"};
  return std::ranges::find(kFirst, first_key(text)) != kFirst.end() &&
         text.substr(0, kEnough).find("\"start\"") != std::string_view::npos;
}

void gather_iperf3(Source& source, PairMeasurements& into) {
  if (first_key(source.text) == "event") {
    source.refuse("the output of iperf3 --json-stream is not supported; run it with -J");
  }
  // iperf3 prints some TCP options twice.
  const Json document = parse_json(source.text, source.file, DuplicateKeys::kFirstCounts);
  const JsonCursor root(document, source.file);
  if (const auto error = root.find("error")) {
    return into.add_failure(source.file, printable(error->string()));
  }
  Run(root, source.file, into).gather();
}

}  // namespace

constinit const FormatEntry kIperf3Format{
    "iperf3",
    "Output of iperf3 -J for a pair of hosts; a folder of such files is a platform",
    detects_iperf3,
    nullptr,
    8,
    "",
    nullptr,
    gather_iperf3};

}  // namespace espalier::platforms
