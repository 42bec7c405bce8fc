// Measurements of pairs of hosts, one file a pair, and the platform that many of them make. Not
// installed.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platforms/formats/formats.hpp"

namespace espalier::platforms {

inline constexpr double kMicrosecond = 1e-6;  // in seconds

// Gathers what files say, each file one call or more, and makes the platform of it. Where a pair
// was measured several times the median counts.
class PairMeasurements {
 public:
  // What `from` sent and `to` got, per second. Hosts are known by any name that is theirs alone,
  // an address or a host name. A measurement of a host with itself is only counted. Throws
  // InputError (reason only) when the rate is not finite and positive or a name is unfit.
  void add_bandwidth(const std::string& from, const std::string& to, BytesPerSecond bandwidth);
  // One way; counts for the other direction as well where that has none of its own. Throws
  // InputError (reason only) when it is not finite or negative.
  void add_latency(const std::string& from, const std::string& to, Seconds latency);
  // A file whose measurement failed, and why.
  void add_failure(const std::string& file, const std::string& reason);
  // That people call this host so. It becomes the node's name where the host has no other such
  // name, nor the name another host.
  void add_name(const std::string& host, const std::string& name);
  // Something to say of how many measurements it holds: "{} of ...".
  void add_remark(const std::string& remark) { ++remarks_[remark]; }

  // The platform called `name`; hosts stand in the order of their names as text. `place`, the file
  // or folder, is for messages. Throws InputError when nothing was measured between two hosts.
  [[nodiscard]] ReadResult result(std::string_view format, std::string name,
                                  const std::string& place) &&;

 private:
  using Pair = std::pair<std::string, std::string>;
  struct Failure {
    std::size_t count = 0;
    std::string file;  // of the first
    std::string reason;
  };
  [[nodiscard]] std::map<std::string, std::string> node_names() const;
  [[nodiscard]] std::string nothing_measured(const std::string& place) const;
  void note_left_out(std::vector<std::string>& notes) const;

  std::map<Pair, std::vector<double>> bandwidths_;  // bytes per second
  std::map<Pair, std::vector<double>> latencies_;   // seconds
  std::map<std::string, std::vector<std::string>> names_;
  std::map<std::string, std::size_t> remarks_;
  Failure failed_;
  std::size_t self_pairs_ = 0;
};

}  // namespace espalier::platforms
