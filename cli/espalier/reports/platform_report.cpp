#include "cli/espalier/reports/platform_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/common/report.hpp"
#include "platforms/core/summary.hpp"
#include "support/quantities.hpp"
#include "support/text.hpp"

namespace espalier::cli {

namespace {

using platforms::Platform;
using platforms::Summary;

constexpr std::size_t kMostNamed = 8;  // groups, links; JSON contains all

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

// By a power of 1000, because the bits of the largest rate would overflow.
BytesPerSecond start_of(int power) {
  return {power < 300 ? std::pow(10.0, power) / 8 : std::pow(10.0, power - 3) / 8 * 1000};
}

// Quartiles of the links' figures; null without links.
Json spread_json(const Quartiles& spread, bool none) {
  if (none) return {};
  return {{"least", spread.least},
          {"lower_quartile", spread.lower},
          {"median", spread.median},
          {"upper_quartile", spread.upper},
          {"greatest", spread.greatest}};
}

Cell caps_cell(const platforms::CapCount& caps) {
  const bool none = caps.nodes == 0;
  return {none ? "" : caps_text(caps),
          Json{{"nodes", caps.nodes},
               {"least_Bps", none ? Json() : Json(caps.least.value)},
               {"greatest_Bps", none ? Json() : Json(caps.greatest.value)}}};
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

void add_links(Report& report, const Summary& summary, const Platform& platform) {
  report.add("links", "links",
             Cell(fmt::format("{}: {} in both directions, {} in one", summary.arcs,
                              counted(summary.both_ways, "pair"), summary.one_way),
                  summary.arcs));
  report.write("pairs_both_ways", summary.both_ways);
  report.write("one_way_links", summary.one_way);
  report.add("density", "density", decimal(summary.density));
  report.write("bandwidth_Bps", spread_json(summary.bandwidth_Bps, summary.arcs == 0));
  Rows decades({written("from_Bps"), written("links")});
  for (const platforms::Decade& decade : summary.decades) {
    decades.add({start_of(decade.power), decade.arcs});
  }
  report.write("decades", decades.json());
  report.add("asymmetry", "asymmetry",
             Cell(asymmetry_text(summary, platform), asymmetry_json(summary, platform)));
  report.add("components", "components",
             Cell(summary.components == 1
                      ? "1 (strongly connected)"
                      : fmt::format("{} (strongly connected), the largest with {}",
                                    summary.components, counted(summary.largest_component, "node")),
                  summary.components));
  report.write("largest_component", summary.largest_component);
}

// Groups and shared links: the first of them in text, all in JSON.
void add_named(Report& report, const Summary& summary, const Platform& platform) {
  Rows groups({written("group"), written("nodes")});
  Listing group_names(kMostNamed);
  for (const platforms::GroupCount& one : summary.groups) {
    groups.add({one.group, one.nodes});
    group_names.add([&] { return fmt::format("{} ({})", one.group, counted(one.nodes, "node")); });
  }
  const std::size_t count = summary.groups.size();
  report.add(count == 0 ? "" : "groups", "groups",
             Cell(fmt::format("{}: {}", count, group_names.text()), groups.json()));
  const auto links = platform.shared_links();
  Rows shared({written("name"), written("bandwidth_Bps"), written("links")});
  Listing link_names(kMostNamed);
  for (const platforms::SharedLink& one : links) {
    shared.add({one.name, one.bandwidth, one.arcs.size()});
    link_names.add([&] {
      return fmt::format("{} ({}, {})", one.name, short_rate(one.bandwidth),
                         counted(one.arcs.size(), "link"));
    });
  }
  report.add(links.empty() ? "" : "shared links", "shared",
             Cell(fmt::format("{}: {}", links.size(), link_names.text()), shared.json()));
  for (const auto& [name, key, caps] :
       {std::tuple("send caps", "send_caps", &summary.send_caps),
        std::tuple("receive caps", "receive_caps", &summary.receive_caps)}) {
    report.add(caps->nodes > 0 ? name : "", key, caps_cell(*caps));
  }
}

// Quartiles of the links' figures, one row per kind; kinds that no link has are left out.
Rows spreads(const Summary& summary) {
  Rows rows({left("of links", ""),
             {"least", ""},
             {"quarter", ""},
             {"median", ""},
             {"three quarters", ""},
             {"greatest", ""}});
  const auto add = [&]<class Unit>(const char* what, const Quartiles& spread, Unit) {
    rows.add({what, Unit{spread.least}, Unit{spread.lower}, Unit{spread.median}, Unit{spread.upper},
              Unit{spread.greatest}});
  };
  add("bandwidth", summary.bandwidth_Bps, BytesPerSecond{});
  add("latency", summary.latency_s, Seconds{});
  if (summary.overhead_s.greatest > 0) add("overhead", summary.overhead_s, Seconds{});
  return rows;
}

Rows histogram(const Summary& summary) {
  constexpr double kLongest = 40;
  std::size_t most = 0;
  for (const platforms::Decade& decade : summary.decades) most = std::max(most, decade.arcs);
  Rows rows({{"from", ""}, {"to below", ""}, {"links", ""}, left("", "")});
  for (const platforms::Decade& decade : summary.decades) {
    const double length =
        std::ceil(kLongest * static_cast<double>(decade.arcs) / static_cast<double>(most));
    rows.add({short_rate(start_of(decade.power)), short_rate(start_of(decade.power + 1)),
              decade.arcs, std::string(static_cast<std::size_t>(length), '#')});
  }
  return rows;
}

}  // namespace

Report platform_report(const platforms::ReadResult& read) {
  const Summary summary = platforms::summary_of(read.platform);
  const bool none = summary.arcs == 0;
  Report report;
  report.add("platform", "platform", read.platform.name());
  report.add("format", "format", read.format);
  report.add("hosts", "hosts", summary.hosts);
  report.add("relays", "relays", summary.relays);
  add_links(report, summary, read.platform);
  add_named(report, summary, read.platform);
  report.write("latency_s", spread_json(summary.latency_s, none));
  report.write("overhead_s", spread_json(summary.overhead_s, none));
  report.write("notes", read.notes);
  if (!none) {
    report.add("", spreads(summary));
    report.add("", histogram(summary));
  }
  std::string notes;
  for (const std::string& note : read.notes) notes += "note: " + printable(note) + '\n';
  report.say(notes);
  return report;
}

}  // namespace espalier::cli
