#include "platforms/formats/text/prices.hpp"

#include <fmt/format.h>

#include "platforms/formats/text/csv.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kTableCurrency = "USD";

double price_in(std::string_view cell) {
  const auto number = parse_number(cell);
  if (!number) throw InputError(fmt::format("expected a price, got {}", in_quotes(cell)));
  require_price(*number, "a price");
  return *number;
}

}  // namespace

Platform with_price_table(const Platform& platform, std::string_view text, const std::string& file,
                          std::vector<std::string>& notes) {
  if (!platform.currency().empty() && platform.currency() != kTableCurrency) {
    throw InputError(file, {},
                     fmt::format("its prices are in {}, those of platform '{}' in {}",
                                 kTableCurrency, platform.name(), platform.currency()));
  }
  std::vector<double> prices;
  for (const Arc& arc : platform.arcs()) prices.push_back(arc.price_per_GB);
  std::vector<bool> listed(prices.size());
  std::size_t others = 0;
  CsvReader csv(text, file);
  csv.start();
  const std::size_t from = csv.column({"src", "from"});
  const std::size_t to = csv.column({"dest", "to"});
  const std::size_t price = csv.column({"cost", "price_per_GB"});
  while (csv.next_full()) {
    csv.at_place([&] {
      const auto& fields = csv.fields();
      const double value = price_in(fields[price]);
      const auto tail = platform.find_node(fields[from]);
      const auto head = platform.find_node(fields[to]);
      const auto arc = tail && head ? platform.find_arc(*tail, *head) : std::nullopt;
      if (!arc) {
        ++others;
        return;
      }
      if (listed[index_of(*arc)]) {
        throw InputError(fmt::format("the price of {} -> {} is given twice",
                                     in_quotes(fields[from]), in_quotes(fields[to])));
      }
      listed[index_of(*arc)] = true;
      prices[index_of(*arc)] = value;
    });
  }
  std::size_t without = 0;
  for (const bool is_listed : listed) without += is_listed ? 0 : 1;
  if (without == prices.size()) {
    throw InputError(file, {},
                     fmt::format("no row is about a link of platform '{}'", platform.name()));
  }
  if (without > 0) {
    notes.push_back(fmt::format("{}: no price for {} of {} links", file, without, prices.size()));
  }
  if (others > 0) {
    notes.push_back(fmt::format("{}: left out {} about links that the platform does not have", file,
                                counted(others, "row")));
  }
  return with_prices(platform, prices, std::string(kTableCurrency));
}

}  // namespace espalier::platforms
