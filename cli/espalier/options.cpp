#include "cli/espalier/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "planner/problem/reach.hpp"
#include "platforms/core/warnings.hpp"
#include "platforms/formats/text/prices.hpp"
#include "support/files.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

// Adds the node of that name. If there is none, `text` is a list of names separated by commas.
// what: it should be, for a message.
void add_nodes(const platforms::Platform& platform, const std::string& text, std::string_view what,
               std::vector<platforms::NodeId>& nodes) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos || platform.find_node(text)) {
    nodes.push_back(planner::source_named(platform, text, what));
    return;
  }
  add_nodes(platform, text.substr(0, comma), what, nodes);
  add_nodes(platform, text.substr(comma + 1), what, nodes);
}

// The hosts of such texts, without repetition.
std::vector<platforms::NodeId> hosts_named(const platforms::Platform& platform,
                                           const std::vector<std::string>& texts) {
  std::vector<platforms::NodeId> hosts;
  for (const std::string& text : texts) add_nodes(platform, text, "host", hosts);
  return in_order(std::move(hosts));
}

void require_all_reached(const platforms::Platform& platform, platforms::NodeId source) {
  constexpr std::size_t kMostListed = 8;
  try {
    planner::require_reachable(platform, source);
  } catch (const InfeasibleError& fault) {
    const std::vector<char> is_reached = planner::reached_from(platform, source);
    std::vector<std::string_view> names;
    for (const platforms::NodeId host : platform.hosts()) {
      if (is_reached[index_of(host)] == 0 || host == source) continue;
      names.push_back(platform.node(host).name);
    }
    if (names.empty()) throw;
    throw InfeasibleError(fmt::format("{}; to those that can be reached: --to {}", fault.what(),
                                      names.size() > kMostListed
                                          ? fmt::format("with their {} names", names.size())
                                          : fmt::format("{}", fmt::join(names, ","))));
  }
}

}  // namespace

void add_console_options(Arguments& app, Console& console) {
  app.add("-q,--quiet", console.quiet, "No notes, warnings or progress on stderr");
  app.add("-v,--verbose", console.verbose, "Report on stderr what was read and done");
}

std::string algorithm_choices() {
  std::vector<std::string_view> outer;
  for (const planner::AlgorithmEntry& entry : planner::algorithms()) {
    if (entry.takes_inner()) outer.push_back(entry.name);
  }
  return fmt::format(
      "{}; these take an inner single-tree algorithm, as in {}:grow (default {}): {}",
      one_of(names_of(planner::algorithms())), outer.front(), planner::kDefaultInner,
      fmt::join(outer, ", "));
}

void add_file(Arguments& app, const std::string& name, std::string& file) {
  const std::string kind = name == "plan" ? "Plan" : "Platform";
  app.add(name, file, kind + " file; '-' is standard input",
          {.type = name == "plan" ? "PLAN" : "PLATFORM", .required = true});
}

void require_one_stdin(std::string_view command, std::string_view plan, std::string_view platform) {
  if (plan != "-" || platform != "-") return;
  throw InputError(fmt::format("{}: plan and platform cannot both be standard input", command));
}

void PlatformOptions::add_to(Arguments& app, bool in_help) {
  const auto style = [in_help](const char* type) {
    return Style{.type = type, .group = "Reading the platform", .hidden = !in_help};
  };
  app.add("--from", options.format,
          "The platform's format, " + one_of(names_of(platforms::formats())) +
              "; default: detected" +
              (in_help ? "" : ". 'convert --help' has the options of single formats"),
          {.type = "FORMAT", .group = in_help ? "Reading the platform" : ""});
  app.add("--tier", options.tier, "Skyplane grids: the network tier to read", style("TIER"));
  app.add("--latencies", options.latencies,
          "Skyplane grids, StarPU: add the latencies in this file", style("FILE"));
  app.add(
      "--classes", options.classes,
      "Tiers: draw each link's bandwidth and latency from this table of measured links, by class",
      style("FILE"));
  app.add("--classes-seed", options.classes_seed, "Tiers: seed of these draws", style("N"));
  app.add("--missing-bandwidth", options.missing_bandwidth,
          "GraphML, DOT: bandwidth of links without a speed; default: they are left out",
          style("RATE"));
  app.add("--table", options.table,
          "nvbandwidth, p2pBandwidthLatencyTest: the matrix to read, by a part of its name",
          style("NAME"));
  app.add("--class-rate", options.class_rates, platforms::parse_class_rate,
          "nvidia-smi topo: bandwidth of a class of links, e.g. NV=25GB/s (per link), PIX=12GB/s, "
          "SYS=none; repeatable, or separated by commas",
          style("CLASS=RATE"));
  app.add("--osu-size", options.osu_size,
          "osu_bw: the message size whose bandwidth is used; default: the fastest", style("SIZE"));
  app.add("--level-bandwidth", options.level_bandwidth,
          "Slurm: the links' bandwidths by level from the hosts up, e.g. 100Gbit/s,400Gbit/s",
          style("RATE,RATE"));
  app.add("--link-speed-unit", options.link_speed_unit,
          "Slurm: what LinkSpeed=1 of a switch means, e.g. 1Gbit/s; its links downwards have that "
          "speed, others --level-bandwidth",
          style("RATE"));
  app.add("--topology", options.topology,
          "Slurm: which topology of a file; default: the cluster's default, or the first",
          style("NAME"));
  app.add("--prices", prices,
          "Take the links' prices from this table: CSV with the headings src,dest,cost, in USD per "
          "GB",
          style("FILE"));
  const auto add_caps = [&](const char* name, auto& caps, const char* verb) {
    app.add(name, caps, platforms::parse_prefix_cap,
            fmt::format("Nodes called PREFIX or PREFIX:... {} at most RATE, e.g. aws=5Gbit/s; "
                        "repeatable, or separated by commas",
                        verb),
            style("PREFIX=RATE"));
  };
  add_caps("--send-cap", send_caps, "send");
  add_caps("--receive-cap", receive_caps, "receive");
}

platforms::Platform PlatformOptions::read(const std::string& file, const Console& console) const {
  platforms::ReadResult result = read_all(file, console);
  for (const std::string& note : result.notes) console.note(note);
  return std::move(result.platform);
}

platforms::ReadResult PlatformOptions::read_all(const std::string& file,
                                                const Console& console) const {
  return finish(platforms::read_platform(file, options), display_name(file), console);
}

platforms::ReadResult PlatformOptions::parse(std::string_view text, const std::string& file,
                                             const Console& console) const {
  return finish(platforms::parse_platform(text, file, options), file, console);
}

platforms::ReadResult PlatformOptions::finish(platforms::ReadResult result, const std::string& file,
                                              const Console& console) const {
  console.detail(fmt::format("{}: {} platform '{}': {} hosts, {} relays, {} links, {} shared links",
                             file, result.format, result.platform.name(),
                             result.platform.hosts().size(),
                             result.platform.nodes().size() - result.platform.hosts().size(),
                             result.platform.arcs().size(), result.platform.shared_links().size()));
  if (!prices.empty()) {
    result.platform = platforms::with_price_table(result.platform, read_text(prices),
                                                  display_name(prices), result.notes);
  }
  if (!send_caps.empty() || !receive_caps.empty()) {
    result.platform = platforms::with_caps(result.platform, send_caps, receive_caps);
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
  for (const std::string& text : texts) add_nodes(platform, text, "source", sources);
  return sources;
}

std::vector<std::optional<platforms::NodeId>> roots_of(const platforms::Platform& platform,
                                                       planner::Operation operation,
                                                       const std::vector<std::string>& texts) {
  const bool is_any = texts.empty() || is_any_root(texts);
  if (is_any && !planner::needs_root(operation)) return {std::nullopt};
  const std::vector<platforms::NodeId> sources = sources_of(platform, texts);
  return {sources.begin(), sources.end()};
}

void ModelOptions::add_to(Arguments& app) {
  app.add("--model", given_model, platforms::parse_model,
          "Contention model, " + one_of(names_of(platforms::models())),
          {.type = "MODEL", .shown = shown(model())});
  add_occupation_to(app);
}

void ModelOptions::add_occupation_to(Arguments& app) {
  static constexpr std::array<std::string_view, 2> kChoices{"delays", "occupies"};
  app.add("--segment,--slice", given_segment, read_nonempty_size,
          "Size of the segments that the message is cut into; matters where links have overheads",
          {.shown = shown(planner::kDefaultSegment)});
  app.add("--latency", latency_occupies, one_named<bool>("choice", kChoices),
          "Whether latency 'delays' a segment only, or 'occupies' the ports as well (Bhat's model)",
          {.type = "WHAT", .shown = "delays"});
}

void add_time_limit(Arguments& app, std::optional<Seconds>& limit, const std::string& help) {
  app.add("--time-limit", limit, read_positive_duration, help);
}

void add_limits(Arguments& app, planner::AlgorithmOptions& limits) {
  app.add("--time-limit", limits.deadline,
          [](const std::string& text) { return Deadline(read_positive_duration(text)); },
          "Stop proof and searches after this time, e.g. 10s; default: no limit", {.type = "TIME"});
  app.add("--gap", limits.gap, "Stop when the throughput is this close to the bound, relative",
          {.type = "GAP"});
  app.check([&limits] {
    const double gap = limits.gap;
    if (!(gap >= 0 && gap < 1)) throw InputError({}, "--gap", "must be at least 0 and below 1");
    if (gap != planner::AlgorithmOptions{}.gap) limits.dense_gap = gap;  // asked for
  });
}

void add_guide(Arguments& app, planner::AlgorithmOptions& limits) {
  app.add("--guided-by", limits.guided_by, platforms::parse_model,
          "lp-grow and lp-prune: follow the optimum under this model instead of the problem's own, "
          "as HBT does under multi-port with one-port",
          {.type = "MODEL", .shown = ""});
}

void refuse_given(std::initializer_list<GivenOption> options, const std::string& reason) {
  for (const auto& [option, is_given] : options) {
    if (is_given) throw InputError({}, option, reason);
  }
}

void refuse_source_without_root(planner::Operation operation, bool given) {
  if (planner::may_have_root(operation) || !given) return;
  throw InputError(
      {}, "--source",
      fmt::format("{} has no source: every host is a root", planner::with_article(operation)));
}

void SharesOption::add_to(Arguments& app, const planner::Operation& operation) {
  app.add(
      "--counts", file,
      "Where each host has a part: a file with a number for each host, in the platform's order, "
      "to which the sizes of the parts are proportional (for an alltoall a row for each sender "
      "with a number for each receiver); default: equal parts",
      {.type = "FILE", .shown = ""});
  app.check([this, &operation] {
    if (file.empty() || planner::has_parts(operation)) return;
    throw InputError({}, "--counts",
                     fmt::format("{} has one message, not one part for each host",
                                 planner::with_article(operation)));
  });
}

std::vector<double> SharesOption::read(const platforms::Platform& platform,
                                       planner::Operation operation) const {
  std::vector<double> shares;
  if (file.empty()) return shares;
  const std::string text = read_text(file);
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      line += text[at++] == '\n' ? 1 : 0;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    at_place(display_name(file), fmt::format("line {}", line),
             [&] { shares.push_back(parse_number(text.substr(at, end - at))); });
    at = end;
  }
  const std::size_t hosts = platform.hosts().size();
  const std::size_t wanted = operation == planner::Operation::kAlltoall ? hosts * hosts : hosts;
  const bool is_positive = std::ranges::all_of(shares, [](double share) { return share >= 0; }) &&
                           std::ranges::any_of(shares, [](double share) { return share > 0; });
  if (shares.size() != wanted || !is_positive) {
    throw InputError(fmt::format("{}: expected {}, not negative and not all 0; it has {}",
                                 display_name(file), counted(wanted, "number"), shares.size()));
  }
  return shares;
}

void ReceiversOption::add_to(Arguments& app, const planner::Operation& operation) {
  operation_ = &operation;
  app.add("--to", to,
          "Of a broadcast: the hosts that need the message, repeatable, or separated by commas; "
          "default: all",
          {.type = "NAME"});
  app.add("--helpers", helpers,
          "With --to: which other hosts may receive and copy parts of the message on the way, "
          "'all', 'none', or names separated by commas",
          {.type = "NAMES"});
  app.check([this, &operation] {
    if (to.empty()) {
      if (helpers != "all") throw InputError({}, "--helpers", "needs --to NAME");
      return;
    }
    if (operation == planner::Operation::kBroadcast) return;
    throw InputError(
        {}, "--to",
        fmt::format("is for a broadcast; {} concerns all hosts", planner::with_article(operation)));
  });
}

std::optional<platforms::Platform> ReceiversOption::part_of(
    const platforms::Platform& whole, std::optional<platforms::NodeId> source,
    platforms::Model model, const platforms::OccupationOptions& occupation) const {
  if (!source || *operation_ != planner::Operation::kBroadcast) return std::nullopt;
  if (to.empty()) {
    require_all_reached(whole, *source);
    return std::nullopt;
  }
  std::vector<platforms::NodeId> others;
  if (helpers == "all") {
    others.assign(whole.hosts().begin(), whole.hosts().end());
  } else if (helpers != "none") {
    others = hosts_named(whole, {helpers});
  }
  return planner::part_for(whole, model, occupation, *source, hosts_named(whole, to), others);
}

std::vector<platforms::NodeId> ReceiversOption::on(const platforms::Platform& part) const {
  if (to.empty()) return {};
  std::vector<platforms::NodeId> receivers = hosts_named(part, to);
  if (receivers.size() + 1 == part.hosts().size()) receivers.clear();
  return receivers;
}

platforms::Platform ProblemOptions::read(const Console& console) const {
  platforms::Platform whole = reading.read(platform, console);
  auto part = receivers.part_of(whole, root_on(whole), model.model(), model.occupation());
  return part ? *std::move(part) : std::move(whole);
}

std::optional<platforms::NodeId> ProblemOptions::root_on(const platforms::Platform& network) const {
  if (source.empty()) return std::nullopt;
  return planner::source_named(network, source);
}

void ProblemOptions::add_to(Arguments& app) {
  add_file(app, "platform", platform);
  add_every_operation(app, operation);
  app.add(
      "--source,--root", source,
      "The node that has the data, or that gets it: required for broadcast, reduce, scatter and "
      "gather. An allreduce may have 'any' roots, as many as are best, which is the default; a "
      "barrier has the best one",
      {.type = "NAME", .shown = ""});
  app.check([this] {
    const bool is_free = planner::goes_both_ways(operation);
    if (is_free && source == kAnyRoot) source.clear();
    if (planner::needs_root(operation) && source.empty()) {
      throw InputError("--source is required");
    }
    refuse_source_without_root(operation, !source.empty());
  });
  shares.add_to(app, operation);
  receivers.add_to(app, operation);
  model.add_to(app);
  add_limits(app, limits);
  reading.add_to(app);
}

}  // namespace espalier::cli
