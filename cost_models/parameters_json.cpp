#include "cost_models/parameters_json.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/json.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cost_models {

namespace {

constexpr const char* kComputation = "computation_s_per_byte";

double figure(const JsonCursor& at) {
  const double value = at.number();
  if (value < 0) at.refuse(fmt::format("{} is below 0", value));
  return value;
}

PiecewiseLinear table(const JsonCursor& at, PiecewiseLinear::Beyond beyond) {
  if (!at.value().is_array()) return {figure(at)};
  std::vector<PiecewiseLinear::Point> points;
  for (const JsonCursor& element : at.elements()) {
    const std::vector<JsonCursor> pair = element.elements();
    if (pair.size() != 2) element.refuse("expected [bytes, value]");
    points.push_back({{pair[0].unsigned_integer()}, figure(pair[1])});
  }
  return at.at_place([&] { return PiecewiseLinear(std::move(points), beyond); });
}

Hockney read_hockney(const JsonCursor& root) {
  root.expect_object({"name", "model", kComputation, "alpha_s", "beta_s_per_byte"});
  constexpr auto kBeyond = PiecewiseLinear::Beyond::kConstant;
  return {table(root.at("alpha_s"), kBeyond), table(root.at("beta_s_per_byte"), kBeyond)};
}

LogGP read_loggp(const JsonCursor& root) {
  root.expect_object(
      {"name", "model", kComputation, "latency_s", "overhead_s", "gap_s", "gap_per_byte_s"});
  return {{figure(root.at("latency_s"))},
          {figure(root.at("overhead_s"))},
          {figure(root.at("gap_s"))},
          {figure(root.at("gap_per_byte_s"))}};
}

PLogP read_plogp(const JsonCursor& root) {
  root.expect_object({"name", "model", kComputation, "latency_s", "send_overhead_s",
                      "receive_overhead_s", "gap_s"});
  constexpr auto kBeyond = PiecewiseLinear::Beyond::kLastSlope;
  PLogP model{{figure(root.at("latency_s"))},
              table(root.at("send_overhead_s"), kBeyond),
              table(root.at("receive_overhead_s"), kBeyond),
              table(root.at("gap_s"), kBeyond)};
  root.at_place([&] { check(model); });
  return model;
}

// A table with one point is written as a number: it is constant.
Json json_of(const PiecewiseLinear& table) {
  if (table.points().size() == 1) return table.points()[0].value;
  Json points = Json::array();
  for (const PiecewiseLinear::Point& point : table.points()) {
    points.push_back(Json::array({point.size.value, point.value}));
  }
  return points;
}

Parameters read_model(const JsonCursor& root) {
  const JsonCursor model = root.at("model");
  if (model.string() == "hockney") return read_hockney(root);
  if (model.string() == "loggp") return read_loggp(root);
  if (model.string() == "plogp") return read_plogp(root);
  model.refuse(unknown_name("model", model.string(), kModelNames));
}

}  // namespace

NetworkParameters parse_parameters(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  const JsonCursor root(document, file);
  NetworkParameters network{read_model(root)};
  if (const auto computation = root.find(kComputation)) {
    network.computation = {figure(*computation)};
  }
  return network;
}

std::string parameters_json(const NetworkParameters& network, const std::string& name) {
  const Parameters& parameters = network.parameters;
  Json json;
  if (!name.empty()) json["name"] = name;
  json["model"] = kModelNames[parameters.index()];
  if (const auto* const hockney = std::get_if<Hockney>(&parameters)) {
    json["alpha_s"] = json_of(hockney->alpha_s);
    json["beta_s_per_byte"] = json_of(hockney->beta_s_per_byte);
  } else if (const auto* const loggp = std::get_if<LogGP>(&parameters)) {
    json["latency_s"] = loggp->latency.value;
    json["overhead_s"] = loggp->overhead.value;
    json["gap_s"] = loggp->gap.value;
    json["gap_per_byte_s"] = loggp->gap_per_byte.value;
  } else {
    const auto& plogp = std::get<PLogP>(parameters);
    json["latency_s"] = plogp.latency.value;
    json["send_overhead_s"] = json_of(plogp.send_overhead_s);
    json["receive_overhead_s"] = json_of(plogp.receive_overhead_s);
    json["gap_s"] = json_of(plogp.gap_s);
  }
  if (network.computation) json[kComputation] = network.computation->value;
  // One key per line; otherwise each point of a table would take four lines.
  std::string text;
  for (const auto& [key, value] : json.items()) {
    text += fmt::format("{} {}: {}", text.empty() ? "{" : ",\n ", Json(key).dump(), value.dump());
  }
  return text + " }\n";
}

}  // namespace espalier::cost_models
