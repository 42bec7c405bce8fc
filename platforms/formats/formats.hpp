// Reading and writing platforms: one registry of formats feeds detection, --from, help and
// `list formats`. docs/formats.md describes each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

// A cap for every node whose name is `prefix` or starts with it and a colon: "aws" is for
// "aws:us-east-1", not for "awsome". Parsed from "aws=5Gbit/s". Where several match, the longest
// prefix counts.
struct PrefixCap {
  std::string prefix;
  BytesPerSecond cap;
};
PrefixCap parse_prefix_cap(std::string_view text);

// What a link of a class carries, each way: of "NV" for one NVLink of the "NV#" there are. Parsed
// from "NV=25GB/s", or "SYS=none": such links are left out.
struct ClassRate {
  std::string name;
  std::optional<BytesPerSecond> rate;  // unset: none
};
ClassRate parse_class_rate(std::string_view text);

struct ReadOptions {
  std::string format;            // a registry name; empty: detected from the content
  std::string tier = "PREMIUM";  // Skyplane: the network tier that counts, both ends; empty: any
  std::string latencies;         // Skyplane, StarPU: file of latencies by pair; empty: none
  std::string classes;           // Tiers: a table of measured links (link_classes.hpp); empty: none
  std::uint64_t classes_seed = 1;  // Tiers: which of them each link gets
  std::string
      missing_bandwidth;  // GraphML, DOT: of links without a speed, "1 Gbit/s"; empty: left out
  std::string table;      // nvbandwidth, p2pBandwidthLatencyTest: which of several matrices, by its
                          // name or a part that no other has; empty: the likest to a broadcast
  std::vector<ClassRate> class_rates;  // nvidia-smi topo -m: instead of the defaults
  std::string osu_size;         // osu_bw: messages of this size count, "1 MiB"; empty: the fastest
  std::string level_bandwidth;  // Slurm: of links by level from the hosts up, "100Gbit/s,400Gbit/s"
  std::string topology;         // Slurm: which, where a file has several; empty: Slurm's default
  std::string name;             // for formats that hold no name; empty: the file's stem
};

struct ReadResult {
  Platform platform;
  std::string format;              // the registry's name of what it was
  std::vector<std::string> notes;  // what was merged, left out, doubled; one line each
};

// Reads platform file `file` ("-": standard input; a folder: all its files, each of which measures
// a pair of hosts). Throws InputError (file, place, reason).
ReadResult read_platform(const std::string& file, const ReadOptions& options = {});
// The same from text that is already in memory; `file` is for messages and the default name.
ReadResult parse_platform(std::string_view text, const std::string& file,
                          const ReadOptions& options = {});

// A copy with send/receive caps set by name prefix. A prefix that no node has is refused
// (InputError).
Platform with_caps(const Platform& platform, std::span<const PrefixCap> send,
                   std::span<const PrefixCap> receive);

class PairMeasurements;

struct FormatEntry {
  std::string_view name;     // "json", "edges", ...
  std::string_view summary;  // one line
  bool (*detects)(std::string_view text);
  ReadResult (*parse)(std::string_view text, const std::string& file, const ReadOptions& options);
  std::string (*write)(const Platform& platform);  // null: read only
  std::string_view extensions;                     // comma-separated, for `convert -o`: ".json"
  // Adds what one file tells of a pair of hosts; null: a file is a whole platform.
  void (*gather)(std::string_view text, const std::string& file, const ReadOptions& options,
                 PairMeasurements& into) = nullptr;
};
std::span<const FormatEntry> formats();

// The platform as text of format `name`. Throws InputError when that is unknown or read-only, or
// when it cannot say what the platform has: relays, caps, groups, shared links.
std::string write_platform(const Platform& platform, std::string_view format);

}  // namespace espalier::platforms
