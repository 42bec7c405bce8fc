// Combines measurements of pairs of hosts, one file per pair, into a platform. Not installed.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platforms/formats/readers.hpp"

namespace espalier::platforms {

inline constexpr double kMicrosecond = 1e-6;  // in seconds

// Collects the measurements of files (one or more calls per file) and builds the platform. If a
// pair was measured more than once, the median is used.
class PairMeasurements {
 public:
  // The rate from `from` to `to`. A host is identified by any unique name, an address or a host
  // name. A measurement of a host with itself is only counted. Throws InputError (reason only) if
  // the rate is not finite and positive or a name is invalid.
  void add_bandwidth(const std::string& from, const std::string& to, BytesPerSecond bandwidth);
  // One-way latency; also used for the opposite direction if that has none of its own. Throws
  // InputError (reason only) if it is negative or not finite.
  void add_latency(const std::string& from, const std::string& to, Seconds latency);
  // A file whose measurement failed, and the reason.
  void add_failure(const std::string& file, const std::string& reason);
  // A name that users gave to this host. It becomes the node's name if the host has only one such
  // name and no other host has the same.
  void add_name(const std::string& host, const std::string& name);
  // A note with the number of measurements to which it applies: "{} measurements ...".
  void add_remark(const std::string& remark) { ++remarks_[remark]; }

  // The platform called `name`; hosts are in the alphabetical order of their names. Throws
  // InputError if there is no measurement between two hosts.
  [[nodiscard]] Platform platform(Source& source, std::string name) &&;

 private:
  using Pair = std::pair<std::string, std::string>;
  struct Failure {
    std::size_t count = 0;
    std::string file;  // of the first
    std::string reason;
  };
  [[nodiscard]] std::map<std::string, std::string> node_names() const;
  [[nodiscard]] std::string nothing_measured(const std::string& place) const;
  void note_left_out(Source& source) const;

  std::map<Pair, std::vector<double>> bandwidths_;  // bytes per second
  std::map<Pair, std::vector<double>> latencies_;   // seconds
  std::map<std::string, std::vector<std::string>> names_;
  std::map<std::string, std::size_t> remarks_;
  Failure failed_;
  std::size_t self_pairs_ = 0;
};

}  // namespace espalier::platforms
