#include "cli/espalier_mpi/reports/probe_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/espalier_mpi/reports/report.hpp"
#include "runtime/measure/platform_file.hpp"
#include "support/quantities.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

namespace espalier::cli {
namespace {

using runtime::probe::Estimate;
using runtime::probe::Link;

constexpr std::size_t kMostCapsNamed = 8;

Quartiles spread_of_links(const Estimate& estimate, double Link::*figure) {
  std::vector<double> figures;
  for (const Link& link : estimate.links) figures.push_back(link.*figure);
  return quartiles_of(std::move(figures));
}

// "1 ms to 2 ms, median 1.5 ms", as `show` writes each.
Cell spread_cell(const Quartiles& spread, const auto& show) {
  return {fmt::format("{} to {}, median {}", show(spread.least), show(spread.greatest),
                      show(spread.median)),
          Json{{"least", spread.least}, {"median", spread.median}, {"greatest", spread.greatest}}};
}

std::string caps_text(const Estimate& estimate, const std::vector<std::optional<double>>& caps,
                      std::string_view does) {
  Listing capped(kMostCapsNamed);
  for (std::size_t rank = 0; rank < caps.size(); ++rank) {
    if (!caps[rank]) continue;
    capped.add([&] { return estimate.nodes[rank] + " " + short_rate({*caps[rank]}); });
  }
  if (capped.count() == 0) return {};
  return fmt::format("{}, all at once: {}\n", does, capped.text());
}

}  // namespace

Report forecast_report(const std::vector<std::string>& hosts, double effort) {
  const runtime::probe::Forecast forecast = runtime::probe::forecast(hosts.size(), effort);
  const std::size_t distinct = std::set<std::string>(hosts.begin(), hosts.end()).size();
  Report report;
  report.write("operation", "probe");
  report.add("ranks", "ranks",
             Cell(fmt::format("{} on {}", hosts.size(), counted(distinct, "host")), hosts.size()));
  report.write("hosts", distinct);
  report.add("steps", "steps", forecast.steps);
  report.add("fast links", "least_s", forecast.least);
  report.add("slow links", "most_s", forecast.most);
  report.add("links that share", "alone_s",
             Cell("up to " + format_duration(forecast.alone) + " more", forecast.alone.value));
  return report;
}

Report probe_report(const Estimate& estimate, double seconds) {
  const auto rate = [](double value) { return short_rate({value}); };
  const auto time = [](double value) { return format_duration({value}); };
  const std::string model(estimate.fits[estimate.best].model);
  Report report;
  report.write("operation", "probe");
  report.write("ranks", estimate.nodes.size());
  report.write("seconds", seconds);
  report.write("model", model);
  Rows fits({written("model"), written("typical_factor"), written("worst_factor")});
  std::string fits_text = fmt::format("model: {}\n", model);
  for (const auto& fit : estimate.fits) {
    fits.add({fit.model, decimal(fit.typical), decimal(fit.worst)});
    fits_text += fmt::format("  {:<23} off by a factor of {:.2f}, at worst {:.2f}\n", fit.model,
                             fit.typical, fit.worst);
  }
  report.write("models", fits.json());
  Rows nodes(
      {written("name"), written("send_Bps"), written("receive_Bps"), written("send_overhead_s")});
  const auto cap = [](const std::optional<double>& value) {
    return value ? decimal(*value) : Cell("-", Json());
  };
  for (std::size_t rank = 0; rank < estimate.nodes.size(); ++rank) {
    nodes.add({estimate.nodes[rank], cap(estimate.send_Bps[rank]), cap(estimate.receive_Bps[rank]),
               decimal(estimate.sender_s[rank])});
  }
  report.write("nodes", nodes.json());
  report.write("links", estimate.links.size());
  report.write("measured_links", estimate.measured);
  std::string text = fmt::format(
      "{}, {}, measured in {}, repeats within {:.1f} %\n", counted(estimate.nodes.size(), "rank"),
      counted(estimate.links.size(), "link"), format_duration({seconds}), 100 * estimate.noise);
  if (estimate.measured < estimate.links.size()) {
    text += fmt::format(
        "{} of the links were measured; the others are as those between the same "
        "clusters\n",
        estimate.measured);
  }
  const auto add_spread = [&](const char* name, const char* key, double Link::*figure,
                              const auto& show) {
    const Cell cell = spread_cell(spread_of_links(estimate, figure), show);
    text += fmt::format("{} {}\n", name, cell.text);
    report.write(key, *cell.json);
  };
  add_spread("bandwidth", "bandwidth_Bps", &Link::bandwidth_Bps, rate);
  add_spread("latency", "latency_s", &Link::latency_s, time);
  add_spread("overhead of a message", "overhead_s", &Link::overhead_s, time);
  text += caps_text(estimate, estimate.send_Bps, "send");
  text += caps_text(estimate, estimate.receive_Bps, "receive");
  Rows shared({written("name"), written("bandwidth_Bps"), written("links")});
  for (const auto& link : estimate.shared_links) {
    const std::string name = runtime::probe::shared_link_name(estimate, link);
    shared.add({name, BytesPerSecond{link.bandwidth_Bps}, link.arcs.size()});
    text += fmt::format("shared link of {} from {}\n", rate(link.bandwidth_Bps), name);
  }
  report.write("shared", shared.json());
  report.write("noise", estimate.noise);
  report.write("disturbed_links", estimate.disturbed);
  report.write("doubtful_links", estimate.doubtful);
  if (estimate.doubtful > 0) {
    text += fmt::format(
        "{} links may be faster than measured: there was no time to measure them one by one; "
        "increase --effort\n",
        estimate.doubtful);
  }
  report.say(text + fits_text);
  return report;
}

ProbeProgress::ProbeProgress(bool enabled)
    : line_("espalier-mpi: ", enabled, enabled && stderr_reaches_terminal()) {}

void ProbeProgress::show_forecast(std::size_t ranks, double effort) {
  if (!line_.is_enabled()) return;
  const runtime::probe::Forecast forecast = runtime::probe::forecast(ranks, effort);
  line_.print(watch_.elapsed(),
              fmt::format("{}, {}: {} on fast links, {} on slow ones; up to {} more if links share",
                          counted(ranks, "rank"), counted(forecast.steps, "step"),
                          format_duration(forecast.least), format_duration(forecast.most),
                          format_duration(forecast.alone)));
}

void ProbeProgress::show(const runtime::probe::Progress& progress) {
  const Seconds elapsed = watch_.elapsed();
  if (!line_.due(elapsed)) return;
  std::string text =
      fmt::format("{}: {} of {} done", progress.doing, progress.done, progress.planned);
  if (progress.seconds_left >= 0) text += fmt::format(", {:.0f} s left", progress.seconds_left);
  line_.print(elapsed, text);
}

}  // namespace espalier::cli
