// Reading and writing platforms. One registry of formats serves detection, --from, help and
// `list formats`. docs/formats.md describes each format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

// A cap for every node whose name is `prefix` or starts with it and a colon: "aws" matches
// "aws:us-east-1", not "awsome". Parsed from "aws=5Gbit/s". If several match, the longest prefix is
// used.
struct PrefixCap {
  std::string prefix;
  BytesPerSecond cap;
};
PrefixCap parse_prefix_cap(std::string_view text);

// The rate of a link of a class in each direction; for "NV" that of one NVLink. Parsed from
// "NV=25GB/s", or from "SYS=none", which leaves such links out.
struct ClassRate {
  std::string name;
  std::optional<BytesPerSecond> rate;  // unset: none
};
ClassRate parse_class_rate(std::string_view text);

struct ReadOptions {
  std::string format;            // a registry name; empty: detected from the content
  std::string tier = "PREMIUM";  // Skyplane: required network tier of both ends; empty: any
  std::string latencies;         // Skyplane, StarPU: file of latencies by pair; empty: none
  std::string classes;           // Tiers: a table of measured links (link_classes.hpp); empty: none
  std::uint64_t classes_seed = 1;  // Tiers: seed of the draw from this table
  // GraphML, DOT: bandwidth of links without a speed, "1 Gbit/s"; empty: they are left out.
  std::string missing_bandwidth;
  // nvbandwidth, p2pBandwidthLatencyTest: which matrix, by its name or a unique part of it; empty:
  // the one most similar to a broadcast.
  std::string table;
  std::vector<ClassRate> class_rates;  // nvidia-smi topo -m: override the defaults
  std::string osu_size;         // osu_bw: use messages of this size, "1 MiB"; empty: the fastest
  std::string level_bandwidth;  // Slurm: of links by level from the hosts up, "100Gbit/s,400Gbit/s"
  bool any_speed = false;       // Slurm: without speeds, all links have one; for the groups alone
  std::string link_speed_unit;  // Slurm: what LinkSpeed=1 means, "1Gbit/s"; empty: left out
  std::string topology;         // Slurm: which of several topologies; empty: Slurm's default
  std::string name;             // for formats without a name; empty: the file's stem
};

struct ReadResult {
  Platform platform;
  std::string format;              // registry name of the format that was read
  std::vector<std::string> notes;  // what was merged or left out; one line each
};

// Reads the platform file `file` ("-": standard input; a folder: all its files, each of which
// measures a pair of hosts). Throws InputError (file, place, reason).
ReadResult read_platform(const std::string& file, const ReadOptions& options = {});
// The same from text in memory; `file` is for messages and the default name.
ReadResult parse_platform(std::string_view text, const std::string& file,
                          const ReadOptions& options = {});

// A copy with send/receive caps set by name prefix. Throws InputError if a prefix matches no node.
Platform with_caps(const Platform& platform, std::span<const PrefixCap> send,
                   std::span<const PrefixCap> receive);

struct Source;
class PairMeasurements;

// Each reader exports its own (platforms/formats/readers.hpp).
struct FormatEntry {
  std::string_view name;     // "json", "edges", ...
  std::string_view summary;  // one line
  bool (*detects)(std::string_view text);
  Platform (*parse)(Source& source) = nullptr;  // null: see gather
  std::size_t most_MiB = 1024;                  // the size limit of a file
  std::string_view extensions = "";             // comma-separated, for `convert -o`: ".json"
  std::string (*write)(const Platform& platform) = nullptr;  // null: read only
  // Adds the measurements of one file for a pair of hosts; null: a file is a whole platform.
  void (*gather)(Source& source, PairMeasurements& into) = nullptr;
  bool leaves_out_shared_links = false;  // `write` does, for want of a place
};
std::span<const FormatEntry> formats();

// The platform as text in format `name`. Throws InputError if the format is unknown or read-only,
// or cannot represent the platform's relays, caps, groups or shared links.
std::string write_platform(const Platform& platform, std::string_view format);

}  // namespace espalier::platforms
