#include "cli/espalier/reports/platform_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/common/table.hpp"
#include "platforms/core/summary.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

using platforms::Platform;
using platforms::Summary;

constexpr std::size_t kMostNamed = 8;  // groups, links; JSON contains all

// "a (3 nodes), b (2 nodes) and 4 more".
template <typename Name>
std::string named(std::size_t count, Name name) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + name(i);
  }
  if (count > kMostNamed) text += fmt::format(" and {} more", count - kMostNamed);
  return text;
}

std::string asymmetry_text(const Summary& summary, const Platform& platform) {
  const platforms::Asymmetry& asymmetry = summary.asymmetry;
  if (asymmetry.pairs == 0) return "no links in both directions";
  if (!(asymmetry.greatest > 1)) return "none";
  const platforms::Arc& arc = platform.arc(asymmetry.fastest);
  return fmt::format("median {:.2f}, greatest {:.2f} ({} -> {} over the reverse)", asymmetry.median,
                     asymmetry.greatest, platform.node(arc.from).name, platform.node(arc.to).name);
}

std::string caps_text(const platforms::CapCount& caps) {
  const std::string nodes = counted(caps.nodes, "node");
  if (caps.least == caps.greatest) return fmt::format("{}: {}", nodes, short_rate(caps.least));
  return fmt::format("{}: {} to {}", nodes, short_rate(caps.least), short_rate(caps.greatest));
}

std::string facts(const platforms::ReadResult& read, const Summary& summary) {
  const Platform& platform = read.platform;
  Table table({{"platform", Table::Align::kLeft}, {platform.name(), Table::Align::kLeft}});
  table.add_row({"format", read.format});
  table.add_row({"hosts", std::to_string(summary.hosts)});
  table.add_row({"relays", std::to_string(summary.relays)});
  table.add_row({"links", fmt::format("{}: {} in both directions, {} in one", summary.arcs,
                                      counted(summary.both_ways, "pair"), summary.one_way)});
  table.add_row({"density", fixed(summary.density, 4)});
  table.add_row({"asymmetry", asymmetry_text(summary, platform)});
  table.add_row({"components", summary.components == 1
                                   ? "1 (strongly connected)"
                                   : fmt::format("{} (strongly connected), the largest with {}",
                                                 summary.components,
                                                 counted(summary.largest_component, "node"))});
  if (!summary.groups.empty()) {
    table.add_row({"groups", fmt::format("{}: {}", summary.groups.size(),
                                         named(summary.groups.size(), [&](std::size_t i) {
                                           const platforms::GroupCount& group = summary.groups[i];
                                           return fmt::format("{} ({})", group.group,
                                                              counted(group.nodes, "node"));
                                         }))});
  }
  const auto links = platform.shared_links();
  if (!links.empty()) {
    table.add_row({"shared links",
                   fmt::format("{}: {}", links.size(), named(links.size(), [&](std::size_t i) {
                                 return fmt::format("{} ({}, {})", links[i].name,
                                                    short_rate(links[i].bandwidth),
                                                    counted(links[i].arcs.size(), "link"));
                               }))});
  }
  if (summary.send_caps.nodes > 0) table.add_row({"send caps", caps_text(summary.send_caps)});
  if (summary.receive_caps.nodes > 0) {
    table.add_row({"receive caps", caps_text(summary.receive_caps)});
  }
  return table.text();
}

// Quartiles of the links' figures, one row per kind; kinds that no link has are left out.
std::string spreads(const Summary& summary) {
  Table table({{"of links", Table::Align::kLeft},
               {"least"},
               {"quarter"},
               {"median"},
               {"three quarters"},
               {"greatest"}});
  const auto add = [&](const char* what, const Quartiles& spread, const auto& shown) {
    table.add_row({what, shown(spread.least), shown(spread.lower), shown(spread.median),
                   shown(spread.upper), shown(spread.greatest)});
  };
  const auto time = [](double seconds) { return format_duration({seconds}); };
  add("bandwidth", summary.bandwidth_Bps, [](double rate) { return format_rate({rate}); });
  add("latency", summary.latency_s, time);
  if (summary.overhead_s.greatest > 0) add("overhead", summary.overhead_s, time);
  return table.text();
}

// By a power of 1000, because the bits of the largest rate would overflow.
BytesPerSecond start_of(int power) {
  return {power < 300 ? std::pow(10.0, power) / 8 : std::pow(10.0, power - 3) / 8 * 1000};
}

std::string histogram(const Summary& summary) {
  constexpr double kLongest = 40;
  std::size_t most = 0;
  for (const platforms::Decade& decade : summary.decades) most = std::max(most, decade.arcs);
  Table table({{"from"}, {"to below"}, {"links"}, {"", Table::Align::kLeft}});
  for (const platforms::Decade& decade : summary.decades) {
    const double length =
        std::ceil(kLongest * static_cast<double>(decade.arcs) / static_cast<double>(most));
    table.add_row({short_rate(start_of(decade.power)), short_rate(start_of(decade.power + 1)),
                   std::to_string(decade.arcs),
                   std::string(static_cast<std::size_t>(length), '#')});
  }
  return table.text();
}

Json spread_json(const Quartiles& spread) {
  return {{"least", spread.least},
          {"lower_quartile", spread.lower},
          {"median", spread.median},
          {"upper_quartile", spread.upper},
          {"greatest", spread.greatest}};
}

Json caps_json(const platforms::CapCount& caps) {
  const bool none = caps.nodes == 0;
  return {{"nodes", caps.nodes},
          {"least_Bps", none ? Json() : Json(caps.least.value)},
          {"greatest_Bps", none ? Json() : Json(caps.greatest.value)}};
}

Json asymmetry_json(const Summary& summary, const Platform& platform) {
  const platforms::Asymmetry& asymmetry = summary.asymmetry;
  if (asymmetry.pairs == 0) return {};
  Json json{{"median", asymmetry.median}, {"greatest", asymmetry.greatest}, {"link", Json()}};
  if (asymmetry.greatest > 1) {
    const platforms::Arc& arc = platform.arc(asymmetry.fastest);
    json["link"] = {platform.node(arc.from).name, platform.node(arc.to).name};
  }
  return json;
}

}  // namespace

std::string platform_tables(const platforms::ReadResult& read) {
  const Summary summary = platforms::summary_of(read.platform);
  std::string text = facts(read, summary);
  if (summary.arcs > 0) text += '\n' + spreads(summary) + '\n' + histogram(summary);
  if (!read.notes.empty()) text += '\n';
  for (const std::string& note : read.notes) text += "note: " + printable(note) + '\n';
  return text;
}

Json platform_json(const platforms::ReadResult& read) {
  const Platform& platform = read.platform;
  const Summary summary = platforms::summary_of(platform);
  const bool none = summary.arcs == 0;
  Json decades = Json::array();
  for (const platforms::Decade& decade : summary.decades) {
    decades.push_back({{"from_Bps", start_of(decade.power).value}, {"links", decade.arcs}});
  }
  Json groups = Json::array();
  for (const platforms::GroupCount& group : summary.groups) {
    groups.push_back({{"group", group.group}, {"nodes", group.nodes}});
  }
  Json links = Json::array();
  for (const platforms::SharedLink& link : platform.shared_links()) {
    links.push_back({{"name", link.name},
                     {"bandwidth_Bps", link.bandwidth.value},
                     {"links", link.arcs.size()}});
  }
  return {{"platform", platform.name()},
          {"format", read.format},
          {"hosts", summary.hosts},
          {"relays", summary.relays},
          {"links", summary.arcs},
          {"pairs_both_ways", summary.both_ways},
          {"one_way_links", summary.one_way},
          {"density", summary.density},
          {"bandwidth_Bps", none ? Json() : spread_json(summary.bandwidth_Bps)},
          {"decades", std::move(decades)},
          {"asymmetry", asymmetry_json(summary, platform)},
          {"components", summary.components},
          {"largest_component", summary.largest_component},
          {"groups", std::move(groups)},
          {"shared", std::move(links)},
          {"send_caps", caps_json(summary.send_caps)},
          {"receive_caps", caps_json(summary.receive_caps)},
          {"latency_s", none ? Json() : spread_json(summary.latency_s)},
          {"overhead_s", none ? Json() : spread_json(summary.overhead_s)},
          {"notes", read.notes}};
}

}  // namespace espalier::cli
