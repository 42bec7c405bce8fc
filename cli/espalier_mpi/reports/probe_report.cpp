#include "cli/espalier_mpi/reports/probe_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/espalier_mpi/reports/report.hpp"
#include "runtime/measure/platform_file.hpp"
#include "support/json.hpp"
#include "support/quantities.hpp"
#include "support/statistics.hpp"

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

Json spread_json(const Quartiles& spread) {
  return {{"least", spread.least}, {"median", spread.median}, {"greatest", spread.greatest}};
}

std::string spread_text(const Quartiles& spread, const auto& format) {
  return fmt::format("{} to {}, median {}", format(spread.least), format(spread.greatest),
                     format(spread.median));
}

std::string caps_text(const Estimate& estimate, const std::vector<std::optional<double>>& caps,
                      std::string_view does) {
  std::string text;
  std::size_t named = 0;
  const auto capped = static_cast<std::size_t>(
      std::count_if(caps.begin(), caps.end(), [](const auto& cap) { return cap.has_value(); }));
  for (std::size_t rank = 0; rank < caps.size() && named < kMostCapsNamed; ++rank) {
    if (!caps[rank]) continue;
    text += fmt::format("{}{} {}", named++ == 0 ? "" : ", ", estimate.nodes[rank],
                        short_rate({*caps[rank]}));
  }
  if (text.empty()) return {};
  if (named < capped) text += fmt::format(" and {} more", capped - named);
  return fmt::format("{}, all at once: {}\n", does, text);
}

}  // namespace

std::string probe_json(const Estimate& estimate, double seconds) {
  Json fits = Json::array();
  for (const auto& fit : estimate.fits) {
    Json one = {{"model", fit.model}, {"typical_factor", fit.typical}, {"worst_factor", fit.worst}};
    fits.push_back(std::move(one));
  }
  Json nodes = Json::array();
  for (std::size_t rank = 0; rank < estimate.nodes.size(); ++rank) {
    const auto cap = [](const std::optional<double>& rate) { return rate ? Json(*rate) : Json(); };
    Json one = {{"name", estimate.nodes[rank]},
                {"send_Bps", cap(estimate.send_Bps[rank])},
                {"receive_Bps", cap(estimate.receive_Bps[rank])},
                {"send_overhead_s", estimate.sender_s[rank]}};
    nodes.push_back(std::move(one));
  }
  Json shared = Json::array();
  for (const auto& shared_link : estimate.shared_links) {
    Json one = {{"name", runtime::probe::shared_link_name(estimate, shared_link)},
                {"bandwidth_Bps", shared_link.bandwidth_Bps},
                {"links", shared_link.arcs.size()}};
    shared.push_back(std::move(one));
  }
  Json json;
  json["operation"] = "probe";
  json["ranks"] = estimate.nodes.size();
  json["seconds"] = seconds;
  json["model"] = estimate.fits[estimate.best].model;
  json["models"] = std::move(fits);
  json["nodes"] = std::move(nodes);
  json["links"] = estimate.links.size();
  json["bandwidth_Bps"] = spread_json(spread_of_links(estimate, &Link::bandwidth_Bps));
  json["latency_s"] = spread_json(spread_of_links(estimate, &Link::latency_s));
  json["overhead_s"] = spread_json(spread_of_links(estimate, &Link::overhead_s));
  json["shared"] = std::move(shared);
  json["noise"] = estimate.noise;
  json["disturbed_links"] = estimate.disturbed;
  json["doubtful_links"] = estimate.doubtful;
  return json.dump(2) + "\n";
}

std::string probe_text(const Estimate& estimate, double seconds) {
  const auto rate = [](double value) { return short_rate({value}); };
  const auto time = [](double value) { return format_duration({value}); };
  std::string text = fmt::format(
      "{}, {}, measured in {}, repeats within {:.1f} %\n"
      "bandwidth {}\nlatency {}\noverhead of a message {}\n",
      counted(estimate.nodes.size(), "rank"), counted(estimate.links.size(), "link"),
      format_duration({seconds}), 100 * estimate.noise,
      spread_text(spread_of_links(estimate, &Link::bandwidth_Bps), rate),
      spread_text(spread_of_links(estimate, &Link::latency_s), time),
      spread_text(spread_of_links(estimate, &Link::overhead_s), time));
  text += caps_text(estimate, estimate.send_Bps, "send");
  text += caps_text(estimate, estimate.receive_Bps, "receive");
  for (const auto& shared_link : estimate.shared_links) {
    text += fmt::format("shared link of {} from {}\n", short_rate({shared_link.bandwidth_Bps}),
                        runtime::probe::shared_link_name(estimate, shared_link));
  }
  if (estimate.doubtful > 0) {
    text += fmt::format(
        "{} links may be faster than measured: there was no time to measure them one by one; "
        "increase --effort\n",
        estimate.doubtful);
  }
  text += fmt::format("model: {}\n", estimate.fits[estimate.best].model);
  for (const auto& fit : estimate.fits) {
    text += fmt::format("  {:<23} off by a factor of {:.2f}, at worst {:.2f}\n", fit.model,
                        fit.typical, fit.worst);
  }
  return text;
}

ProbeProgress::ProbeProgress(bool enabled)
    : line_("espalier-mpi: ", enabled, enabled && stderr_reaches_terminal()) {}

void ProbeProgress::show(const runtime::probe::Progress& progress) {
  const Seconds elapsed{std::chrono::duration<double>(Clock::now() - begun_).count()};
  if (!line_.due(elapsed)) return;
  std::string text =
      fmt::format("{}: {} of {} done", progress.doing, progress.done, progress.planned);
  if (progress.seconds_left >= 0) text += fmt::format(", {:.0f} s left", progress.seconds_left);
  line_.print(elapsed, text);
}

}  // namespace espalier::cli
