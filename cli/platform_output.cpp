#include "cli/platform_output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "cli/console.hpp"
#include "cli/options.hpp"
#include "platforms/formats.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {

namespace {

std::vector<std::string_view> writable_formats() {
  std::vector<std::string_view> names;
  for (const platforms::FormatEntry& entry : platforms::formats()) {
    if (entry.write != nullptr) names.push_back(entry.name);
  }
  return names;
}

// Whether `extension` (".csv") is one of a comma-separated list.
bool lists(std::string_view extensions, std::string_view extension) {
  while (!extensions.empty()) {
    const std::size_t comma = extensions.find(',');
    if (extensions.substr(0, comma) == extension) return true;
    extensions =
        comma == std::string_view::npos ? std::string_view{} : extensions.substr(comma + 1);
  }
  return false;
}

}  // namespace

void PlatformOutput::add_to(Arguments& app, bool required) {
  app.add("-o,--output", file_, "Where the platform goes; '-' is standard output",
          {.type = "FILE", .required = required});
  app.add("--to", to_, "Its format, " + one_of(writable_formats()) + "; else by FILE's extension",
          {.type = "FORMAT"});
}

std::string PlatformOutput::format() const {
  require_writable(file_);
  const std::vector<std::string_view> names = writable_formats();
  if (!to_.empty()) {
    if (std::find(names.begin(), names.end(), to_) != names.end()) return to_;
    throw InputError({}, "--to", unknown_name("format", to_, names));
  }
  if (file_ == "-") return "json";
  const std::string extension = std::filesystem::path(file_).extension().string();
  for (const platforms::FormatEntry& entry : platforms::formats()) {
    if (entry.write != nullptr && lists(entry.extensions, extension)) {
      return std::string(entry.name);
    }
  }
  throw InputError(file_, {}, "its name does not tell the format; add --to, " + one_of(names));
}

void PlatformOutput::write(const platforms::Platform& platform, const std::string& format) const {
  write_text(file_, platforms::write_platform(platform, format));
}

}  // namespace espalier::cli
