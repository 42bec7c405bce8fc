#include "cli/espalier/reports/platform_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "platforms/core/warnings.hpp"
#include "platforms/formats/formats.hpp"
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
  const std::vector<std::string_view> all = split(extensions, ',');
  return std::ranges::find(all, extension) != all.end();
}

// The first extension of a writable format, ".json". Throws InputError for other formats.
std::string extension_of(const std::string& format) {
  for (const platforms::FormatEntry& entry : platforms::formats()) {
    if (entry.write == nullptr || entry.name != format) continue;
    return std::string(entry.extensions.substr(0, entry.extensions.find(',')));
  }
  throw InputError({}, "--to", unknown_name("format", format, writable_formats()));
}

void write_to(const std::string& file, const platforms::Platform& platform,
              const std::string& format, const Console& console) {
  write_text(file, platforms::write_platform(platform, format));
  const auto& entry =
      *std::ranges::find(platforms::formats(), format, &platforms::FormatEntry::name);
  const bool has_prices = platform.has_prices() || platform.price_per_hour() > 0;
  if (has_prices && format != "json" && !console.quiet) {
    console.note(fmt::format("{}: {} has no prices; they are left out, only JSON keeps everything",
                             display_name(file), format));
  }
  const std::size_t shared = platform.shared_links().size();
  if (shared == 0 || !entry.leaves_out_shared_links || console.quiet) return;
  console.note(fmt::format("{}: {} has no shared links; {} left out, only JSON keeps everything",
                           display_name(file), format,
                           shared == 1 ? "one is" : fmt::format("{} are", shared)));
}

}  // namespace

void PlatformOutput::add_to(Arguments& app, bool required) {
  app.add("-o,--output", file_, "Write the platform to this file; '-' is standard output",
          {.type = "FILE", .required = required});
  app.add("--to", to_,
          "Its format, " + one_of(writable_formats()) + "; default: by FILE's extension",
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
  throw InputError(file_, {}, "unknown extension; add --to, " + one_of(names));
}

void PlatformOutput::write(const platforms::Platform& platform, const std::string& format,
                           const Console& console) const {
  write_to(file_, platform, format, console);
}

void PlatformOutput::add_series_to(Arguments& app) {
  add_to(app);
  app.add("--count", count_,
          "Write N platforms into the folder of -o, with the seeds SEED, SEED + 1, ...");
}

void PlatformOutput::write_series(
    const std::string& stem, const std::function<platforms::Platform(std::uint64_t)>& make,
    const std::function<void(const std::string&, const platforms::Platform&)>& report,
    const Console& console) const {
  if (count_ == 0) {
    const std::string chosen = format();
    const platforms::Platform platform = make(0);
    write(platform, chosen, console);
    note_warnings(platform, console);
    return report(file_, platform);
  }
  if (file_ == "-") throw InputError({}, "--count", "a series goes into a folder; add -o FOLDER");
  const std::string chosen = to_.empty() ? "json" : to_;
  const std::string extension = extension_of(chosen);
  const std::filesystem::path folder(file_);
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault || !std::filesystem::is_directory(folder)) {
    throw InputError(file_, {}, "cannot create this folder for --count; name another");
  }
  const std::size_t width = std::max<std::size_t>(3, std::to_string(count_).size());
  std::uint64_t noted = 0;
  for (std::uint64_t i = 0; i < count_; ++i) {
    const std::string file =
        (folder / fmt::format("{}-{:0{}}{}", stem, i + 1, width, extension)).string();
    const platforms::Platform platform = make(i);
    write_to(file, platform, chosen, console);
    report(file, platform);
    const std::vector<std::string> lines = platforms::warnings(platform);
    if (lines.empty() || ++noted > 1) continue;
    for (const std::string& line : lines) console.note(fmt::format("{}: {}", file, line));
  }
  if (noted > 1) console.note(fmt::format("{} of the {} platforms have such notes", noted, count_));
}

}  // namespace espalier::cli
