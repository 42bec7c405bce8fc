#include <fmt/format.h>

#include "cli/common/table.hpp"
#include "cli/espalier_mpi/reports/probe_report.hpp"
#include "cost_models/parameters_json.hpp"
#include "support/json.hpp"
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

std::string model_json(const ModelReport& report) {
  Json json;
  json["operation"] = "probe";
  json["ranks"] = report.ranks;
  json["hosts"] = report.hosts;
  json["seconds"] = report.seconds;
  json["pairs"] = Json::array();
  for (const auto& pair : report.pairs) json["pairs"].push_back(Json::array({pair.from, pair.to}));
  json["of_pairs"] = report.of_pairs;
  json["gap_s"] = report.times.gap_s;
  json["sizes"] = Json::array();
  for (const SizeTimes& size : report.times.sizes) {
    Json one = {{"message_bytes", size.bytes},
                {"round_trip_s", size.times.round_trip_s},
                {"send_s", size.times.send_s},
                {"receive_s", size.times.receive_s}};
    json["sizes"].push_back(std::move(one));
  }
  json["parameters"] = Json::parse(cost_models::parameters_json(report.parameters, report.name));
  return json.dump(2) + "\n";
}

std::string model_text(const ModelReport& report) {
  using Align = Table::Align;
  Table table({{"message", Align::kRight},
               {"round trip", Align::kRight},
               {"sending", Align::kRight},
               {"receiving", Align::kRight}});
  for (const SizeTimes& size : report.times.sizes) {
    table.add_row({format_size({size.bytes}), format_duration({size.times.round_trip_s}),
                   format_duration({size.times.send_s}), format_duration({size.times.receive_s})});
  }
  const std::size_t pairs = report.pairs.size();
  std::string text =
      fmt::format("{} on {}, ", counted(report.ranks, "rank"), counted(report.hosts, "host"));
  text += report.of_pairs == 1
              ? fmt::format("one pair, {}", report.which)
              : fmt::format("median of {} of {} pairs {}", pairs, report.of_pairs, report.which);
  return text + fmt::format(", measured in {}\n", format_duration({report.seconds})) +
         table.text() +
         fmt::format("gap between consecutive 1-byte messages: {}\n",
                     format_duration({report.times.gap_s})) +
         parameters_text(report.parameters, report.times.sizes.back().bytes);
}

}  // namespace espalier::cli
