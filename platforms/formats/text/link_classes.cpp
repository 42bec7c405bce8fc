#include "platforms/formats/text/link_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>

#include "platforms/core/platform.hpp"
#include "platforms/formats/text/csv.hpp"
#include "support/files.hpp"

namespace espalier::platforms {

namespace {

// The index of the first column with one of `names`, or, if `with_unit`, one of them and a unit.
std::size_t column(const CsvReader& csv, std::initializer_list<std::string_view> names,
                   bool with_unit) {
  for (std::size_t i = 0; i < csv.fields().size(); ++i) {
    for (const std::string_view name : names) {
      const std::string_view field = csv.fields()[i];
      if (field == name) return i;
      if (with_unit && field.starts_with(name) && field.substr(name.size()).starts_with('_')) {
        return i;
      }
    }
  }
  csv.refuse(fmt::format("there is no column '{}'", *names.begin()));
}

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
  std::uint64_t number = 0;
  const char* const last = cell.data() + cell.size();
  const auto [end, fault] = std::from_chars(cell.data(), last, number);
  if (fault != std::errc{} || end != last) {
    throw InputError(fmt::format("a class is a whole number, not {}", in_quotes(cell)));
  }
  return number;
}

}  // namespace

LinkClasses parse_link_classes(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  if (!csv.next()) throw InputError(file, {}, "there is no header line");
  const std::size_t width = csv.fields().size();
  const std::size_t class_at = column(csv, {"class", "tiers_class"}, false);
  const std::size_t bandwidth_at = column(csv, {"bandwidth"}, true);
  const std::size_t latency_at = column(csv, {"latency"}, true);
  const auto bandwidth = csv.at_place([&] {
    return QuantityColumn<BytesPerSecond>(with_slash(csv.fields()[bandwidth_at]), &parse_rate);
  });
  const auto latency = csv.at_place([&] {
    return QuantityColumn<Seconds>(with_slash(csv.fields()[latency_at]), &parse_duration);
  });
  LinkClasses classes;
  while (csv.next()) {
    const auto& fields = csv.fields();
    if (fields.size() != width) {
      csv.refuse(fmt::format("{} fields where the header has {}", fields.size(), width));
    }
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
