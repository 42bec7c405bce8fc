#include "cli/espalier/commands/generate_family.hpp"

#include <fmt/format.h>

#include <charconv>

#include "cli/espalier/options.hpp"

namespace espalier::cli {

void SpreadOptions::add_to(Arguments& app) {
  app.add("--heterogeneity", heterogeneity_,
          "Standard deviation of the links' bandwidths relative to their means; Gaussian; 0: equal",
          {.type = "SHARE"});
  app.add("--slow-hosts", slow_,
          "A random SHARE of the hosts has links that are FACTOR times slower, e.g. 0.25/4; "
          "repeatable, or separated by commas",
          {.type = "SHARE/FACTOR"});
  app.add("--seed", seed_, "The same seed gives the same platform everywhere", {.type = "N"});
}

platforms::Spread SpreadOptions::read() const {
  platforms::Spread spread;
  spread.heterogeneity = heterogeneity_;
  spread.seed = seed_;
  for (const std::string& text : slow_) {
    for (const std::string& one : split_list(text)) {
      spread.slow.push_back(parse_option("--slow-hosts", one, platforms::parse_slow_hosts));
    }
  }
  return spread;
}

void FamilyOptions::add_to(Arguments& app) {
  spread.add_to(app);
  output.add_series_to(app);
  add_console_options(app, console);
}

void FamilyOptions::write(
    std::string_view stem,
    const std::function<platforms::Platform(const platforms::Spread&)>& make) const {
  const platforms::Spread first = spread.read();
  output.write_series(
      std::string(stem),
      [&](std::uint64_t draw) {
        platforms::Spread drawn = first;
        drawn.seed += draw;
        return make(drawn);
      },
      [&](const std::string& file, const platforms::Platform& platform) {
        const std::size_t hosts = platform.hosts().size();
        console.detail(fmt::format("{}: {}: {} hosts, {} relays, {} links, {} shared links", file,
                                   platform.name(), hosts, platform.nodes().size() - hosts,
                                   platform.arcs().size(), platform.shared_links().size()));
      },
      console);
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return parts;
}

std::vector<BytesPerSecond> parse_rates(const std::string& text) {
  std::vector<BytesPerSecond> rates;
  for (const std::string& one : split_list(text)) rates.push_back(parse_rate(one));
  return rates;
}

std::size_t parse_count(const std::string& text) {
  std::size_t count = 0;
  const char* const last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data(), last, count);
  if (fault == std::errc{} && end == last) return count;
  throw InputError(fmt::format("{} is not a whole number", in_quotes(text)));
}

}  // namespace espalier::cli
