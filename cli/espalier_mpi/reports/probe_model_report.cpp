#include <fmt/format.h>

#include "cli/espalier_mpi/reports/probe_report.hpp"
#include "cost_models/parameters_json.hpp"
#include "support/quantities.hpp"

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
  report.write("parameters",
               Json::parse(cost_models::parameters_json({found.parameters}, found.name)));
  report.say(fmt::format("gap between consecutive 1-byte messages: {}\n{}",
                         format_duration({found.times.gap_s}),
                         parameters_text(found.parameters, found.times.sizes.back().bytes)));
  return report;
}

}  // namespace espalier::cli
