#include "platforms/formats/text/link_classes.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "platforms/core/platform.hpp"
#include "platforms/formats/text/csv.hpp"
#include "support/files.hpp"

namespace espalier::platforms {

namespace {

// Converts "bandwidth_kbit_per_s" to the spelling of the edge list, "bandwidth_kbit/s".
std::string with_slash(std::string_view heading) {
  constexpr std::string_view kPer = "_per_";
  std::string text(heading);
  if (const std::size_t at = text.find(kPer); at != std::string::npos) {
    text.replace(at, kPer.size(), "/");
  }
  return text;
}

std::uint64_t parse_class(std::string_view cell) {
  if (const auto number = parse_whole<std::uint64_t>(cell)) return *number;
  throw InputError(fmt::format("a class is a whole number, not {}", in_quotes(cell)));
}

}  // namespace

LinkClasses parse_link_classes(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  csv.start();
  const std::size_t class_at = csv.column({"class", "tiers_class"});
  const std::size_t bandwidth_at = csv.column({"bandwidth"}, /*with_unit=*/true);
  const std::size_t latency_at = csv.column({"latency"}, /*with_unit=*/true);
  const auto bandwidth = csv.at_place([&] {
    return QuantityColumn<BytesPerSecond>(with_slash(csv.fields()[bandwidth_at]), &parse_rate);
  });
  const auto latency = csv.at_place([&] {
    return QuantityColumn<Seconds>(with_slash(csv.fields()[latency_at]), &parse_duration);
  });
  LinkClasses classes;
  while (csv.next_full()) {
    const auto& fields = csv.fields();
    csv.at_place([&] {
      const MeasuredLink link{bandwidth.read(fields[bandwidth_at]),
                              latency.read(fields[latency_at])};
      require_rate(link.bandwidth, "a bandwidth");
      require_duration(link.latency, "a latency");
      classes[parse_class(fields[class_at])].push_back(link);
    });
  }
  if (classes.empty()) throw InputError(file, {}, "there are no links below the header");
  return classes;
}

LinkClasses read_link_classes(const std::string& file) {
  return parse_link_classes(read_text(file), display_name(file));
}

}  // namespace espalier::platforms
