// Reading and writing platforms: one registry of formats feeds detection, --from, help and
// `list formats`. docs/formats.md describes each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/platform.hpp"
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

struct ReadOptions {
  std::string format;            // a registry name; empty: detected from the content
  std::string tier = "PREMIUM";  // Skyplane: the network tier that counts, both ends; empty: any
  std::string latencies;         // Skyplane: file of a latency grid, joined by pair; empty: none
  std::string classes;           // Tiers: a table of measured links (link_classes.hpp); empty: none
  std::uint64_t classes_seed = 1;  // Tiers: which of them each link gets
  std::string
      missing_bandwidth;  // GraphML, DOT: of links without a speed, "1 Gbit/s"; empty: left out
  std::string name;       // for formats that hold no name; empty: the file's stem
};

struct ReadResult {
  Platform platform;
  std::string format;              // the registry's name of what it was
  std::vector<std::string> notes;  // what was merged, left out, doubled; one line each
};

// Reads platform file `file` ("-": standard input). Throws InputError (file, place, reason).
ReadResult read_platform(const std::string& file, const ReadOptions& options = {});
// The same from text that is already in memory; `file` is for messages and the default name.
ReadResult parse_platform(std::string_view text, const std::string& file,
                          const ReadOptions& options = {});

// A copy with send/receive caps set by name prefix. A prefix that no node has is refused
// (InputError).
Platform with_caps(const Platform& platform, std::span<const PrefixCap> send,
                   std::span<const PrefixCap> receive);

struct FormatEntry {
  std::string_view name;     // "json", "edges", ...
  std::string_view summary;  // one line
  bool (*detects)(std::string_view text);
  ReadResult (*parse)(std::string_view text, const std::string& file, const ReadOptions& options);
  std::string (*write)(const Platform& platform);  // null: read only
  std::string_view extensions;                     // comma-separated, for `convert -o`: ".json"
};
std::span<const FormatEntry> formats();

// The platform as text of format `name`. Throws InputError when that is unknown or read-only, or
// when it cannot say what the platform has: relays, caps, groups, shared wires.
std::string write_platform(const Platform& platform, std::string_view format);

}  // namespace espalier::platforms
