#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/espalier_mpi/reports/probe_report.hpp"
#include "cost_models/parameters_json.hpp"
#include "support/quantities.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {
namespace {

using runtime::probe::SizeTimes;

std::string parameters_text(const cost_models::Parameters& parameters, std::uint64_t largest) {
  const auto bytes = static_cast<double>(largest);
  const auto time = [](double value_s) { return format_duration({value_s}); };
  if (const auto* const model = std::get_if<cost_models::Hockney>(&parameters)) {
    const double beta = model->beta_s_per_byte.at(bytes);
    return fmt::format("hockney: alpha {}, beta {:.4g} ns a byte in {}\n",
                       time(model->alpha_s.at(bytes)), 1e9 * beta, format_size({largest}));
  }
  if (const auto* const model = std::get_if<cost_models::LogGP>(&parameters)) {
    return fmt::format("loggp: L {}, o {}, g {}, G {:.4g} ns a byte\n", time(model->latency.value),
                       time(model->overhead.value), time(model->gap.value),
                       1e9 * model->gap_per_byte.value);
  }
  const auto& model = std::get<cost_models::PLogP>(parameters);
  return fmt::format("plogp: L {}, g {} for a byte, {} for {}\n", time(model.latency.value),
                     time(model.gap_s.at(1)), time(model.gap_s.at(bytes)), format_size({largest}));
}

// A number of destinations is a row for people, and one for each size for programs.
void add_gaps(Report& report, const std::vector<runtime::probe::GapInTurn>& gaps) {
  Rows all({{"", "destinations"}, {"", "message_bytes"}, {"", "gap_s"}});
  std::map<std::uint64_t, std::string> titles;  // by size
  std::map<std::size_t, std::vector<Cell>> rows;
  for (const auto& [destinations, bytes, gap_s] : gaps) {
    all.add({destinations, Bytes{bytes}, Seconds{gap_s}});
    titles[bytes] = "gap for " + format_size({bytes});
    std::vector<Cell>& row = rows[destinations];
    if (row.empty()) row.emplace_back(destinations);
    row.emplace_back(Seconds{gap_s});
  }
  report.write("gap_by_destinations", all.json());
  if (gaps.empty()) return;
  std::vector<Column> columns{{"destinations", "destinations"}};
  for (const auto& [bytes, title] : titles) columns.push_back({title, title});
  Rows shown(columns);
  for (auto& [destinations, row] : rows) shown.add(row);
  report.add("", shown);
}

std::string combining_text(const std::vector<runtime::probe::Combining>& combining) {
  std::string text = "combining:";
  for (const auto& [bytes, s_per_byte] : combining) {
    text += fmt::format("{} {:.4g} ns a byte in {}", text.back() == ':' ? "" : ",",
                        1e9 * s_per_byte, format_size({bytes}));
  }
  return text + '\n';
}

// How many deviations were not small enough, and the largest; with the default, nothing.
void add_deviations(Report& report, const runtime::probe::Repeats& repeats) {
  using Deviation = runtime::probe::Repeats::Deviation;
  report.write("statistics",
               runtime::probe::kStatistics[static_cast<std::size_t>(repeats.statistics())]);
  const std::vector<Deviation>& all = repeats.deviations();
  if (all.empty()) return;
  const Deviation& worst = *std::ranges::max_element(all, {}, &Deviation::relative);
  report.write("worst_deviation", worst.relative);
  Json unsteady = Json::array();
  for (const auto& [name, relative, is_steady] : all) {
    if (!is_steady) unsteady.push_back({{"value", name}, {"deviation", relative}});
  }
  report.write("unsteady", unsteady);
  report.say(fmt::format("largest standard deviation: {:.1f} % of the mean, {}\n"
                         "not steady ({:g} % or more): {} of {}\n",
                         100 * worst.relative, worst.name, 100 * SteadyRule{}.deviation,
                         unsteady.size(), counted(all.size(), "value")),
             /*joined=*/true);
}

}  // namespace

Report report_of(const ModelReport& found) {
  Report report;
  report.write("operation", "probe");
  report.write("ranks", found.ranks);
  report.write("hosts", found.hosts);
  report.write("seconds", found.seconds);
  Json pairs = Json::array();
  for (const auto& pair : found.pairs) pairs.push_back(Json::array({pair.from, pair.to}));
  report.write("pairs", std::move(pairs));
  report.write("of_pairs", found.of_pairs);
  report.write("gap_s", found.times.gap_s);
  const std::string which = found.of_pairs == 1
                                ? fmt::format("one pair, {}", found.which)
                                : fmt::format("median of {} of {} pairs {}", found.pairs.size(),
                                              found.of_pairs, found.which);
  report.say(fmt::format("{} on {}, {}, measured in {}\n", counted(found.ranks, "rank"),
                         counted(found.hosts, "host"), which, format_duration({found.seconds})),
             /*joined=*/true);
  Rows sizes({{"message", "message_bytes"},
              {"round trip", "round_trip_s"},
              {"sending", "send_s"},
              {"receiving", "receive_s"}});
  for (const SizeTimes& size : found.times.sizes) {
    sizes.add({Bytes{size.bytes}, Seconds{size.times.round_trip_s}, Seconds{size.times.send_s},
               Seconds{size.times.receive_s}});
  }
  report.add("sizes", sizes, /*joined=*/true);
  report.write("parameters", Json::parse(cost_models::parameters_json(found.network, found.name)));
  Rows combining({{"", "message_bytes"}, {"", "computation_s_per_byte"}});
  for (const auto& [bytes, s_per_byte] : found.combining) {
    combining.add({Bytes{bytes}, written_only(s_per_byte)});
  }
  report.write("combining", combining.json());
  report.say(
      fmt::format("gap between consecutive 1-byte messages: {}\n{}{}",
                  format_duration({found.times.gap_s}), combining_text(found.combining),
                  parameters_text(found.network.parameters, found.times.sizes.back().bytes)));
  add_gaps(report, found.gaps);
  add_deviations(report, found.repeats);
  return report;
}

}  // namespace espalier::cli
