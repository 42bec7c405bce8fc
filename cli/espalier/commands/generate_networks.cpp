// espalier generate star, two-clusters, multi-region.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "cli/espalier/commands/generate_family.hpp"
#include "cli/espalier/options.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {

namespace {

struct StarOptions {
  FamilyOptions common;
  platforms::StarFamily family;
  std::string bandwidth = "1Gbit/s";
  std::string upload;
  std::string latency = "20us";
};

ExitStatus run_star(const StarOptions& options) {
  platforms::StarFamily family = options.family;
  family.bandwidth = parse_option("--bandwidth", options.bandwidth, parse_rates);
  if (!options.upload.empty()) {
    family.upload = parse_option("--upload", options.upload, parse_rates);
  }
  family.latency = parse_option("--latency", options.latency, parse_duration);
  options.common.write("star", [&](const platforms::Spread& spread) {
    family.spread = spread;
    return platforms::generate_star(family);
  });
  return ExitStatus::kDone;
}

struct TwoClustersOptions {
  FamilyOptions common;
  std::string hosts = "8,8";
  std::string bandwidth = "1Gbit/s";
  std::string latency = "20us";
  std::string thin = "100Mbit/s";
  std::string thin_latency = "5ms";
  std::string form = "switches";
  bool half_duplex = false;
  bool interleaved = false;
};

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kForms{"switches", "gateways", "shared-link"};

platforms::TwoClustersFamily::Form parse_form(const std::string& text) {
  // "shared-wire" is the old name.
  const auto* const found = std::ranges::find(kForms, text == "shared-wire" ? "shared-link" : text);
  if (found == kForms.end()) throw InputError(unknown_name("form", text, kForms));
  return static_cast<platforms::TwoClustersFamily::Form>(found - kForms.begin());
}

// Two values, or one for both clusters.
template <typename Value>
std::array<Value, 2> pair_of(std::string_view option, const std::vector<Value>& values) {
  if (values.size() == 2) return {values[0], values[1]};
  if (values.size() == 1) return {values[0], values[0]};
  throw InputError({}, std::string(option),
                   fmt::format("got {} values for two clusters; give one or two", values.size()));
}

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (const std::string& one : split_list(text)) sizes.push_back(parse_count(one));
  return sizes;
}

ExitStatus run_two_clusters(const TwoClustersOptions& options) {
  platforms::TwoClustersFamily family;
  family.hosts = pair_of("--hosts", parse_option("--hosts", options.hosts, parse_sizes));
  family.bandwidth =
      pair_of("--bandwidth", parse_option("--bandwidth", options.bandwidth, parse_rates));
  family.latency = parse_option("--latency", options.latency, parse_duration);
  family.thin_bandwidth = parse_option("--thin", options.thin, parse_rate);
  family.thin_latency = parse_option("--thin-latency", options.thin_latency, parse_duration);
  family.form = parse_option("--form", options.form, parse_form);
  family.half_duplex = options.half_duplex;
  family.interleaved = options.interleaved;
  options.common.write("two-clusters", [&](const platforms::Spread& spread) {
    family.spread = spread;
    return platforms::generate_two_clusters(family);
  });
  return ExitStatus::kDone;
}

struct MultiRegionOptions {
  FamilyOptions common;
  platforms::MultiRegionFamily family;
  std::string bandwidth = "10Gbit/s";
  std::string latency = "100us";
  std::string wan = "100Mbit/s..10Gbit/s";
  std::string egress;
  std::string ingress;
};

struct RateRange {
  BytesPerSecond least;
  BytesPerSecond most;
};

RateRange parse_rate_range(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return {parse_rate(text), parse_rate(text)};
  return {parse_rate(text.substr(0, dots)), parse_rate(text.substr(dots + 2))};
}

ExitStatus run_multi_region(const MultiRegionOptions& options) {
  platforms::MultiRegionFamily family = options.family;
  family.bandwidth = parse_option("--bandwidth", options.bandwidth, parse_rate);
  family.latency = parse_option("--latency", options.latency, parse_duration);
  const RateRange wan = parse_option("--wan", options.wan, parse_rate_range);
  family.least_wan = wan.least;
  family.most_wan = wan.most;
  if (!options.egress.empty()) {
    family.egress = parse_option("--egress", options.egress, parse_rates);
  }
  if (!options.ingress.empty()) {
    family.ingress = parse_option("--ingress", options.ingress, parse_rates);
  }
  options.common.write("multi-region", [&](const platforms::Spread& spread) {
    family.spread = spread;
    return platforms::generate_multi_region(family);
  });
  return ExitStatus::kDone;
}

}  // namespace

Command add_star(Arguments& generate, const FamilyEntry& entry) {
  auto options = std::make_shared<StarOptions>();
  Arguments app = generate.add_command(std::string(entry.name), std::string(entry.summary));
  app.add("--hosts", options->family.hosts, "Hosts", {.type = "N"});
  app.add("--bandwidth", options->bandwidth,
          "Mean bandwidths of the hosts' links, in order; the last applies to all further hosts",
          {.type = "RATE,..."});
  app.add("--upload", options->upload,
          "Mean bandwidths out of the hosts if different, in the same form", {.type = "RATE,..."});
  app.add("--latency", options->latency, "Latency of each link", {.type = "TIME"});
  app.add_flag("--master", options->family.master,
               "Host h0 takes the switch's place; bandwidths are those of h1, h2, ...");
  options->common.add_to(app);
  return {app, [options] { return run_star(*options); }};
}

Command add_two_clusters(Arguments& generate, const FamilyEntry& entry) {
  auto options = std::make_shared<TwoClustersOptions>();
  Arguments app = generate.add_command(std::string(entry.name), std::string(entry.summary));
  app.add("--hosts", options->hosts, "Hosts of both clusters, or of each", {.type = "N,N"});
  app.add("--bandwidth", options->bandwidth,
          "Mean bandwidth of the links in both clusters, or in each", {.type = "RATE,RATE"});
  app.add("--latency", options->latency, "Latency of each link in a cluster", {.type = "TIME"});
  app.add("--thin", options->thin, "Mean bandwidth of the link between the clusters",
          {.type = "RATE"});
  app.add("--thin-latency", options->thin_latency, "Latency of that link", {.type = "TIME"});
  app.add(
      "--form", options->form,
      "'switches': a relay for each cluster, the thin link between them; 'gateways': hosts of a "
      "cluster all linked, the thin link between its first hosts; 'shared-link': all hosts "
      "linked, a shared link for the links between clusters",
      {.type = "FORM"});
  app.add_flag("--half-duplex", options->half_duplex,
               "Both directions of the thin link share its bandwidth");
  app.add_flag("--interleaved", options->interleaved,
               "Number the hosts of the clusters in turn, not one cluster after the other");
  options->common.add_to(app);
  return {app, [options] { return run_two_clusters(*options); }};
}

Command add_multi_region(Arguments& generate, const FamilyEntry& entry) {
  auto options = std::make_shared<MultiRegionOptions>();
  Arguments app = generate.add_command(std::string(entry.name), std::string(entry.summary));
  app.add("--regions", options->family.regions, "Regions", {.type = "N"});
  app.add("--hosts", options->family.hosts, "Hosts in each", {.type = "N"});
  app.add("--bandwidth", options->bandwidth, "Mean bandwidth between a host and its gateway",
          {.type = "RATE"});
  app.add("--latency", options->latency, "Latency between a host and its gateway",
          {.type = "TIME"});
  app.add("--wan", options->wan,
          "Range of bandwidths between gateways, drawn log-uniformly per direction; or one for all",
          {.type = "RATE..RATE"});
  app.add("--egress", options->egress,
          "Maximum total rate out of a region; several: one per provider, whose regions alternate",
          {.type = "RATE,..."});
  app.add("--ingress", options->ingress, "Maximum total rate into a region, in the same form",
          {.type = "RATE,..."});
  options->common.add_to(app);
  return {app, [options] { return run_multi_region(*options); }};
}

}  // namespace espalier::cli
