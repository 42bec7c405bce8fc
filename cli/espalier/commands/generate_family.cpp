#include "cli/espalier/commands/generate_family.hpp"

#include <fmt/format.h>

namespace espalier::cli {

void add_spread(Arguments& app, platforms::Spread& spread) {
  app.add("--heterogeneity", spread.heterogeneity,
          "Standard deviation of the links' bandwidths relative to their means; Gaussian; 0: equal",
          {.type = "SHARE"});
  app.add("--slow-hosts", spread.slow, platforms::parse_slow_hosts,
          "A random SHARE of the hosts has links that are FACTOR times slower, e.g. 0.25/4; "
          "repeatable, or separated by commas",
          {.type = "SHARE/FACTOR"});
}

void describe_network(const std::string& file, const platforms::Platform& platform,
                      const Console& console) {
  const std::size_t hosts = platform.hosts().size();
  console.detail(fmt::format("{}: {}: {} hosts, {} relays, {} links, {} shared links", file,
                             platform.name(), hosts, platform.nodes().size() - hosts,
                             platform.arcs().size(), platform.shared_links().size()));
}

}  // namespace espalier::cli
