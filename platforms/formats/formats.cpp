#include "platforms/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "platforms/formats/measured/pair_measurements.hpp"
#include "platforms/formats/readers.hpp"
#include "support/choice.hpp"
#include "support/files.hpp"

namespace espalier::platforms {

namespace {

const FormatEntry& detected(std::string_view text, const std::string& file) {
  if (const FormatEntry* const found = detected_format(text)) return *found;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputError(file, {}, "the file is empty");
  }
  throw InputError(file, {},
                   fmt::format("cannot tell the format from the content; name it, one of: {}",
                               fmt::join(names_of(formats()), ", ")));
}

// The two sides of an option NAME=VALUE; `what` it is, and what was expected, are for errors.
std::pair<std::string_view, std::string_view> split_assignment(std::string_view text,
                                                               std::string_view what,
                                                               std::string_view expected) {
  const std::size_t mark = text.rfind('=');
  if (mark != std::string_view::npos && mark > 0) {
    return {text.substr(0, mark), text.substr(mark + 1)};
  }
  throw InputError(fmt::format("{} {}: expected {}", what, in_quotes(text), expected));
}

BytesPerSecond checked_rate(std::string_view rate, std::string_view text, std::string_view what) {
  const BytesPerSecond parsed = parse_rate(rate);
  require_rate(parsed, fmt::format("{} {}: the rate", what, in_quotes(text)));
  return parsed;
}

bool matches(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == ':');
}

// The caps by node index; empty if no prefix matches.
std::vector<std::optional<BytesPerSecond>> caps_of(const Platform& platform,
                                                   std::span<const PrefixCap> caps) {
  std::vector<std::optional<BytesPerSecond>> found(platform.nodes().size());
  std::vector<std::size_t> length(found.size(), 0);
  for (const PrefixCap& cap : caps) {
    bool used = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!matches(platform.nodes()[i].name, cap.prefix)) continue;
      used = true;
      if (cap.prefix.size() < length[i]) continue;
      length[i] = cap.prefix.size();
      found[i] = cap.cap;
    }
    if (!used) {
      throw InputError(fmt::format("no node is named {} or starts with {}", in_quotes(cap.prefix),
                                   in_quotes(cap.prefix + ":")));
    }
  }
  return found;
}

// Adds the file to the error of rates that are too far apart: not all readers add it.
ReadResult read_with(const FormatEntry& format, Source source) {
  require_size(format, source);
  try {
    Platform platform;
    if (format.gather != nullptr) {
      PairMeasurements measurements;
      format.gather(source, measurements);
      platform = std::move(measurements).platform(source, source.default_name());
    } else {
      platform = format.parse(source);
    }
    return {std::move(platform), std::string(format.name), std::move(source.notes)};
  } catch (const SpreadError& fault) {
    source.refuse(fault.what());
  }
}

}  // namespace

std::span<const FormatEntry> formats() {
  // Espalier's own first: it accepts any JSON, so the others are tried before it.
  static const std::array kFormats{
      kJsonFormat,          kEdgesFormat,      kMatrixFormat,   kSkyplaneFormat,
      kTiersFormat,         kSimgridFormat,    kGraphmlFormat,  kDotFormat,
      kIbnetdiscoverFormat, kIbstatFormat,     kMpigraphFormat, kNvbandwidthFormat,
      kP2pbandwidthFormat,  kNvidiatopoFormat, kNccltopoFormat, kNcclgraphFormat,
      kStarpuFormat,        kGpufabricFormat,  kIperf3Format,   kOsuFormat,
      kSlurmConfFormat,     kSlurmYamlFormat};
  return kFormats;
}

const FormatEntry& format_named(std::string_view name) {
  return choice_named("format", formats(), name);
}

const FormatEntry* detected_format(std::string_view text) {
  const auto others = formats().subspan(1);
  const auto found =
      std::ranges::find_if(others, [&](const FormatEntry& entry) { return entry.detects(text); });
  if (found != others.end()) return &*found;
  return detects_json(text) ? &formats().front() : nullptr;
}

void require_size(const FormatEntry& format, const Source& source) {
  const std::size_t most = format.most_MiB << 20U;
  if (source.text.size() <= most) return;
  source.refuse(fmt::format("larger than {}, the size limit of this format", format_size({most})));
}

void require_plain(const Platform& platform, std::string_view format) {
  const auto refuse = [&](std::string_view what) {
    throw InputError(fmt::format("{} cannot represent {}; write JSON instead", format, what));
  };
  const std::string& name = platform.name();
  if (name.starts_with(' ') || name.ends_with(' ')) {
    refuse(fmt::format("the blanks around the name {}", in_quotes(name)));
  }
  for (const Node& node : platform.nodes()) {
    if (node.relay) refuse(fmt::format("relay {}", in_quotes(node.name)));
    if (node.send || node.receive) refuse(fmt::format("the caps of {}", in_quotes(node.name)));
    if (!node.group.empty()) refuse(fmt::format("the group of {}", in_quotes(node.name)));
  }
  if (!platform.shared_links().empty()) {
    refuse(fmt::format("shared link {}", in_quotes(platform.shared_links().front().name)));
  }
}

ReadResult parse_platform(std::string_view text, const std::string& file,
                          const ReadOptions& options) {
  const FormatEntry& format =
      options.format.empty() ? detected(text, file) : format_named(options.format);
  return read_with(format, {text, file, options});
}

ReadResult read_platform(const std::string& file, const ReadOptions& options) {
  if (!options.format.empty()) format_named(options.format);  // fail before a long read
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) {
    return read_folder(file, options);
  }
  return parse_platform(read_text(file), display_name(file), options);
}

std::string write_platform(const Platform& platform, std::string_view format) {
  const FormatEntry& entry = format_named(format);
  if (entry.write == nullptr) {
    throw InputError(fmt::format("format '{}' is read only", entry.name));
  }
  return entry.write(platform);
}

ClassRate parse_class_rate(std::string_view text) {
  const auto [name, rate] = split_assignment(text, "class rate", "CLASS=RATE, such as NV=25GB/s");
  if (rate == "none") return {std::string(name), std::nullopt};
  return {std::string(name), checked_rate(rate, text, "class rate")};
}

PrefixCap parse_prefix_cap(std::string_view text) {
  const auto [prefix, rate] = split_assignment(text, "cap", "PREFIX=RATE, such as aws=5Gbit/s");
  return {std::string(prefix), checked_rate(rate, text, "cap")};
}

Platform with_caps(const Platform& platform, std::span<const PrefixCap> send,
                   std::span<const PrefixCap> receive) {
  const auto send_caps = caps_of(platform, send);
  const auto receive_caps = caps_of(platform, receive);
  std::vector<Node> nodes(platform.nodes().begin(), platform.nodes().end());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (send_caps[i]) nodes[i].send = send_caps[i];
    if (receive_caps[i]) nodes[i].receive = receive_caps[i];
  }
  std::vector<BytesPerSecond> shared;
  for (const SharedLink& link : platform.shared_links()) shared.push_back(link.bandwidth);
  return with_figures(platform, std::move(nodes), platform.arcs(), shared);
}

}  // namespace espalier::platforms
