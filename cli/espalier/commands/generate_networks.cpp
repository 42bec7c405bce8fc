// espalier generate star, loggp, two-clusters, multi-region.
#include <fmt/format.h>

#include <array>

#include "cli/espalier/commands/generate_family.hpp"
#include "cost_models/presets.hpp"

namespace espalier::cli {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kForms{"switches", "gateways", "shared-link"};

platforms::TwoClustersFamily::Form read_form(const std::string& text) {
  // "shared-wire" is the old name.
  return static_cast<platforms::TwoClustersFamily::Form>(
      place_of("form", text == "shared-wire" ? "shared-link" : text, kForms));
}

// Two values, or one for both clusters.
template <class Value>
std::array<Value, 2> read_pair(const std::string& text) {
  const std::vector<std::string_view> parts = split(text, ',');
  if (parts.size() > 2) {
    throw InputError(fmt::format("got {} values for two clusters; give one or two", parts.size()));
  }
  return {Quantity<Value>::read(parts.front()), Quantity<Value>::read(parts.back())};
}

}  // namespace

void add_options(Arguments& app, platforms::StarFamily& family) {
  app.add("--hosts", family.hosts, "Hosts");
  app.add("--bandwidth", family.bandwidth,
          "Mean bandwidths of the hosts' links, in order; the last applies to all further hosts",
          {.type = "RATE,..."});
  app.add("--upload", family.upload,
          "Mean bandwidths out of the hosts if different, in the same form", {.type = "RATE,..."});
  app.add("--latency", family.latency, "Latency of each link");
  app.add("--master", family.master,
          "Host h0 takes the switch's place; bandwidths are those of h1, h2, ...");
}

void add_options(Arguments& app, platforms::LogGPFamily& family) {
  const std::vector<std::string_view> presets = names_of(cost_models::presets());
  app.add("--hosts", family.hosts, "Hosts");
  app.add("--link-latency", family.latency, read_span, "L");
  app.add("--overhead", family.overhead, read_span,
          "o: of a segment, on the processors of both ends");
  app.add("--gap", family.gap, read_span, "g: of a segment, on the interfaces of both ends");
  app.add("--per-byte", family.per_byte, read_span, "G: of a further byte on the interfaces");
  app.add_text(
      "--preset",
      [&family](const std::string& name) {
        const cost_models::LogGP& loggp = cost_models::find_preset(name).loggp;
        family.latency = loggp.latency;
        family.overhead = loggp.overhead;
        family.gap = loggp.gap;
        family.per_byte = {loggp.gap_per_byte.value};
      },
      "Instead of the four times, those of a network with published parameters, " + one_of(presets),
      {.type = "NAME"}, "boba");
  app.add_footer(
      "Plan with --model one-port-unidirectional: docs/models.md, \"LogGP in the simulator\".");
}

void add_options(Arguments& app, platforms::TwoClustersFamily& family) {
  app.add("--hosts", family.hosts, read_pair<std::size_t>, "Hosts of both clusters, or of each",
          {.type = "N,N"});
  app.add("--bandwidth", family.bandwidth, read_pair<BytesPerSecond>,
          "Mean bandwidth of the links in both clusters, or in each", {.type = "RATE,RATE"});
  app.add("--latency", family.latency, "Latency of each link in a cluster");
  app.add("--thin", family.thin_bandwidth, "Mean bandwidth of the link between the clusters");
  app.add("--thin-latency", family.thin_latency, "Latency of that link");
  app.add(
      "--form", family.form, read_form,
      "'switches': a relay for each cluster, the thin link between them; 'gateways': hosts of a "
      "cluster all linked, the thin link between its first hosts; 'shared-link': all hosts "
      "linked, a shared link for the links between clusters",
      {.type = "FORM", .shown = std::string(kForms.front())});
  app.add("--half-duplex", family.half_duplex,
          "Both directions of the thin link share its bandwidth");
  app.add("--interleaved", family.interleaved,
          "Number the hosts of the clusters in turn, not one cluster after the other");
}

void add_options(Arguments& app, platforms::MultiRegionFamily& family) {
  app.add("--regions", family.regions, "Regions");
  app.add("--hosts", family.hosts, "Hosts in each");
  app.add("--bandwidth", family.bandwidth, "Mean bandwidth between a host and its gateway");
  app.add("--latency", family.latency, "Latency between a host and its gateway");
  app.add_text(
      "--wan",
      [&family](const std::string& text) {
        const std::size_t dots = text.find("..");
        family.least_wan = parse_rate(text.substr(0, dots));
        family.most_wan =
            dots == std::string::npos ? family.least_wan : parse_rate(text.substr(dots + 2));
      },
      "Range of bandwidths between gateways, drawn log-uniformly per direction; or one for all",
      {.type = "RATE..RATE"}, shown(family.least_wan) + ".." + shown(family.most_wan));
  app.add("--egress", family.egress,
          "Maximum total rate out of a region; several: one per provider, whose regions alternate",
          {.type = "RATE,..."});
  app.add("--ingress", family.ingress, "Maximum total rate into a region, in the same form",
          {.type = "RATE,..."});
}

}  // namespace espalier::cli
