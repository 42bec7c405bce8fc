#include "cli/espalier/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "platforms/core/warnings.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

// Parses each text: one value, or several separated by commas.
template <typename Parse>
auto parse_each(std::string_view option, const std::vector<std::string>& texts, Parse parse) {
  std::vector<decltype(parse(std::string_view{}))> all;
  for (const std::string& text : texts) {
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t comma = std::min(text.find(',', start), text.size());
      const std::string one = text.substr(start, comma - start);
      all.push_back(parse_option(option, one, parse));
      start = comma + 1;
    }
  }
  return all;
}

// Adds the node of that name. If there is none, `text` is a list of names separated by commas.
void add_sources(const platforms::Platform& platform, const std::string& text,
                 std::vector<platforms::NodeId>& sources) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos || platform.find_node(text)) {
    sources.push_back(planner::source_named(platform, text));
    return;
  }
  add_sources(platform, text.substr(0, comma), sources);
  add_sources(platform, text.substr(comma + 1), sources);
}

std::vector<std::string_view> operation_names() {
  std::vector<std::string_view> names;
  names.reserve(planner::kOperations.size());
  for (const planner::Operation operation : planner::kOperations) {
    names.push_back(planner::name_of(operation));
  }
  return names;
}

}  // namespace

void add_console_options(Arguments& app, Console& console) {
  app.add_flag("-q,--quiet", console.quiet, "No notes, warnings or progress on stderr");
  app.add_flag("-v,--verbose", console.verbose, "Report on stderr what was read and done");
}

std::string one_of(const std::vector<std::string_view>& names) {
  return fmt::format("one of: {}", fmt::join(names, ", "));
}

std::vector<std::string_view> algorithm_names() {
  std::vector<std::string_view> names;
  for (const planner::AlgorithmEntry& entry : planner::algorithms()) names.push_back(entry.name);
  return names;
}

std::string algorithm_choices() {
  std::vector<std::string_view> outer;
  for (const planner::AlgorithmEntry& entry : planner::algorithms()) {
    if (entry.takes_inner()) outer.push_back(entry.name);
  }
  return fmt::format(
      "{}; these take an inner single-tree algorithm, as in {}:grow (default {}): {}",
      one_of(algorithm_names()), outer.front(), planner::kDefaultInner, fmt::join(outer, ", "));
}

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const platforms::ModelEntry& entry : platforms::models()) names.push_back(entry.name);
  return names;
}

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const platforms::FormatEntry& entry : platforms::formats()) names.push_back(entry.name);
  return names;
}

void PlatformOptions::add_to(Arguments& app) {
  const std::string group = "Reading the platform";
  app.add("--from", options_.format, "Format, " + one_of(format_names()) + "; default: detected",
          {.type = "FORMAT", .group = group});
  app.add("--tier", options_.tier, "Skyplane grids: the network tier to read",
          {.type = "TIER", .group = group});
  app.add("--latencies", options_.latencies,
          "Skyplane grids, StarPU: add the latencies in this file",
          {.type = "FILE", .group = group});
  app.add(
      "--classes", options_.classes,
      "Tiers: draw each link's bandwidth and latency from this table of measured links, by class",
      {.type = "FILE", .group = group});
  app.add("--classes-seed", options_.classes_seed, "Tiers: seed of these draws",
          {.type = "N", .group = group});
  app.add("--missing-bandwidth", options_.missing_bandwidth,
          "GraphML, DOT: bandwidth of links without a speed; default: they are left out",
          {.type = "RATE", .group = group});
  app.add("--table", options_.table,
          "nvbandwidth, p2pBandwidthLatencyTest: the matrix to read, by a part of its name",
          {.type = "NAME", .group = group});
  app.add("--class-rate", class_rates_,
          "nvidia-smi topo: bandwidth of a class of links, e.g. NV=25GB/s (per link), PIX=12GB/s, "
          "SYS=none; repeatable, or separated by commas",
          {.type = "CLASS=RATE", .group = group});
  app.add("--osu-size", options_.osu_size,
          "osu_bw: the message size whose bandwidth is used; default: the fastest",
          {.type = "SIZE", .group = group});
  app.add("--level-bandwidth", options_.level_bandwidth,
          "Slurm: the links' bandwidths by level from the hosts up, e.g. 100Gbit/s,400Gbit/s",
          {.type = "RATE,RATE", .group = group});
  app.add("--topology", options_.topology,
          "Slurm: which topology of a file; default: the cluster's default, or the first",
          {.type = "NAME", .group = group});
  const auto add_caps = [&](const char* name, std::vector<std::string>& caps, const char* verb) {
    app.add(name, caps,
            fmt::format("Nodes called PREFIX or PREFIX:... {} at most RATE, e.g. aws=5Gbit/s; "
                        "repeatable, or separated by commas",
                        verb),
            {.type = "PREFIX=RATE", .group = group});
  };
  add_caps("--send-cap", send_caps_, "send");
  add_caps("--receive-cap", receive_caps_, "receive");
}

platforms::Platform PlatformOptions::read(const std::string& file, const Console& console) const {
  platforms::ReadResult result = read_all(file, console);
  for (const std::string& note : result.notes) console.note(note);
  return std::move(result.platform);
}

platforms::ReadOptions PlatformOptions::read_options() const {
  platforms::ReadOptions options = options_;
  options.class_rates = parse_each("--class-rate", class_rates_, platforms::parse_class_rate);
  return options;
}

platforms::ReadResult PlatformOptions::read_all(const std::string& file,
                                                const Console& console) const {
  return finish(platforms::read_platform(file, read_options()), display_name(file), console);
}

platforms::ReadResult PlatformOptions::parse(std::string_view text, const std::string& file,
                                             const Console& console) const {
  return finish(platforms::parse_platform(text, file, read_options()), file, console);
}

platforms::ReadResult PlatformOptions::finish(platforms::ReadResult result, const std::string& file,
                                              const Console& console) const {
  const auto send = parse_each("--send-cap", send_caps_, platforms::parse_prefix_cap);
  const auto receive = parse_each("--receive-cap", receive_caps_, platforms::parse_prefix_cap);
  console.detail(fmt::format("{}: {} platform '{}': {} hosts, {} relays, {} links, {} shared links",
                             file, result.format, result.platform.name(),
                             result.platform.hosts().size(),
                             result.platform.nodes().size() - result.platform.hosts().size(),
                             result.platform.arcs().size(), result.platform.shared_links().size()));
  if (!send.empty() || !receive.empty()) {
    result.platform = platforms::with_caps(result.platform, send, receive);
  }
  return result;
}

void note_warnings(const platforms::Platform& platform, const Console& console) {
  if (console.quiet) return;
  for (const std::string& line : platforms::warnings(platform)) console.note(line);
}

std::vector<platforms::NodeId> sources_of(const platforms::Platform& platform,
                                          const std::vector<std::string>& texts) {
  const auto hosts = platform.hosts();
  if (hosts.empty()) throw InfeasibleError(platform.name() + ": no host to send from");
  if (texts.empty()) return {hosts.front()};
  if (texts.size() == 1 && texts.front() == "each" && !platform.find_node("each")) {
    return {hosts.begin(), hosts.end()};
  }
  std::vector<platforms::NodeId> sources;
  for (const std::string& text : texts) add_sources(platform, text, sources);
  return sources;
}

void OperationOption::add_to(Arguments& app) {
  app.add("--operation", operation_, "The operation to plan, " + one_of(operation_names()),
          {.type = "OPERATION"});
}

planner::Operation OperationOption::read() const {
  for (const planner::Operation operation : planner::kOperations) {
    if (operation_ == planner::name_of(operation)) return operation;
  }
  throw InputError({}, "--operation", unknown_name("operation", operation_, operation_names()));
}

void ModelOptions::add_to(Arguments& app) {
  app.add("--model", model_, "Contention model, " + one_of(model_names()), {.type = "MODEL"});
  add_occupation_to(app);
}

void ModelOptions::add_occupation_to(Arguments& app) {
  app.add("--segment,--slice", segment_,
          "Size of the segments that the message is cut into; matters where links have overheads",
          {.type = "SIZE"});
  app.add("--latency", latency_,
          "Whether latency 'delays' a segment only, or 'occupies' the ports as well (Bhat's model)",
          {.type = "WHAT"});
}

platforms::Model ModelOptions::model() const {
  return parse_option("--model", model_, platforms::parse_model);
}

platforms::OccupationOptions ModelOptions::occupation() const {
  const Bytes segment = parse_option("--segment", segment_, parse_size);
  if (segment.value == 0) throw InputError({}, "--segment", "must be at least one byte");
  constexpr std::array<std::string_view, 2> kChoices{"delays", "occupies"};
  if (latency_ != kChoices[0] && latency_ != kChoices[1]) {
    throw InputError({}, "--latency", unknown_name("choice", latency_, kChoices));
  }
  return {.segment = segment, .latency_occupies = latency_ == kChoices[1]};
}

Seconds parse_span(std::string_view option, const std::string& text) {
  const Seconds span = parse_option(option, text, parse_duration);
  if (!(span.value >= 0) || !std::isfinite(span.value)) {
    throw InputError({}, std::string(option), "must not be negative");
  }
  return span;
}

std::optional<Seconds> parse_time_limit(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const Seconds limit = parse_option("--time-limit", text, parse_duration);
  if (!(limit.value > 0)) throw InputError({}, "--time-limit", "must be above zero");
  return limit;
}

void LimitOptions::add_to(Arguments& app) {
  app.add("--time-limit", time_limit_,
          "Stop proof and searches after this time, e.g. 10s; default: no limit", {.type = "TIME"});
  app.add("--gap", gap_, "Stop when the throughput is this close to the bound, relative",
          {.type = "GAP"});
}

planner::AlgorithmOptions LimitOptions::read() const {
  planner::AlgorithmOptions options;
  options.deadline = Deadline(parse_time_limit(time_limit_));
  if (!(gap_ >= 0 && gap_ < 1)) throw InputError({}, "--gap", "must be at least 0 and below 1");
  options.gap = gap_;
  return options;
}

void AlgorithmParameters::add_to(Arguments& app) {
  app.add("--chains", chains_, "How many chains k-chain makes", {.type = "K"});
  app.add("--message", message_,
          "Message size of the reported makespan (sent unsegmented); fnf and ecef plan for it",
          {.type = "SIZE"});
}

void AlgorithmParameters::write_to(planner::AlgorithmOptions& options) const {
  if (chains_ == 0) throw InputError({}, "--chains", "k-chain needs at least one chain");
  options.chains = chains_;
  options.message = parse_option("--message", message_, parse_size);
  if (options.message.value == 0) throw InputError({}, "--message", "must be at least one byte");
}

void ProblemOptions::add_to(Arguments& arguments) {
  arguments.add("platform", platform, "Platform file; '-' is standard input",
                {.type = "PLATFORM", .required = true});
  operation.add_to(arguments);
  arguments.add("--source", source, "The node that has the data, or to which it is reduced",
                {.type = "NAME", .required = true});
  model.add_to(arguments);
  limits.add_to(arguments);
  reading.add_to(arguments);
}

}  // namespace espalier::cli
