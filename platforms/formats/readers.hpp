// What the readers of all formats have in common, and the entries of the registry. Not installed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platforms/formats/formats.hpp"

namespace espalier::platforms {

// A text to read, and what its errors and notes need.
struct Source {
  std::string_view text;
  const std::string& file;
  const ReadOptions& options;
  std::vector<std::string> notes{};

  // The name of a platform whose text has none: the option's, otherwise the file's stem.
  [[nodiscard]] std::string default_name() const;

  // Throws InputError(file, reason).
  [[noreturn]] void refuse(const std::string& reason) const { throw InputError(file, {}, reason); }
  // Runs `step`, whose errors have a reason only, and adds the file and the place.
  template <class Step>
  decltype(auto) at(const std::string& place, Step&& step) const {
    return at_place(file, place, std::forward<Step>(step));
  }

  template <class... Values>
  void note(fmt::format_string<Values...> form, Values&&... values) {
    notes.push_back(fmt::format(form, std::forward<Values>(values)...));
  }
  // Notes `count` things, the first value of the text, if there are any.
  template <class... Values>
  void note_count(std::size_t count, fmt::format_string<std::size_t&, Values...> form,
                  Values&&... values) {
    if (count > 0) notes.push_back(fmt::format(form, count, std::forward<Values>(values)...));
  }
  // The same with a noun: "3 links".
  template <class... Values>
  void note_counted(std::size_t count, std::string_view noun,
                    fmt::format_string<std::string, Values...> form, Values&&... values) {
    if (count == 0) return;
    notes.push_back(fmt::format(form, counted(count, noun), std::forward<Values>(values)...));
  }

  // The platform, without a place in its errors; notes what was merged.
  Platform build(PlatformBuilder&& builder) { return std::move(builder).build(&notes); }
};

// The registry's entry called `name`. Throws InputError, with the nearest name, if there is none.
const FormatEntry& format_named(std::string_view name);
// The format detected from `text`; null: none.
const FormatEntry* detected_format(std::string_view text);

// Throws InputError if the text is above the format's limit.
void require_size(const FormatEntry& format, const Source& source);

// The platform of the measurements in the files of `folder`. Throws InputError.
ReadResult read_folder(const std::string& folder, const ReadOptions& options);

// Throws InputError that names the first property of `platform` that an edge list or matrix cannot
// represent. `format` is "an edge list" or "a matrix".
void require_plain(const Platform& platform, std::string_view format);

bool detects_json(std::string_view text);
ReadResult parse_json_format(std::string_view text, const std::string& file,
                             const ReadOptions& options);

// Of formats whose writers have files of their own.
std::string write_simgrid(const Platform& platform);
std::string write_graphml(const Platform& platform);
std::string write_dot(const Platform& platform);

extern const FormatEntry kJsonFormat;
extern const FormatEntry kEdgesFormat;
extern const FormatEntry kMatrixFormat;
extern const FormatEntry kSkyplaneFormat;
extern const FormatEntry kTiersFormat;
extern const FormatEntry kSimgridFormat;
extern const FormatEntry kGraphmlFormat;
extern const FormatEntry kDotFormat;
extern const FormatEntry kIbnetdiscoverFormat;
extern const FormatEntry kIbstatFormat;
extern const FormatEntry kMpigraphFormat;
extern const FormatEntry kNvbandwidthFormat;
extern const FormatEntry kP2pbandwidthFormat;
extern const FormatEntry kNvidiatopoFormat;
extern const FormatEntry kNccltopoFormat;
extern const FormatEntry kNcclgraphFormat;
extern const FormatEntry kStarpuFormat;
extern const FormatEntry kGpufabricFormat;
extern const FormatEntry kIperf3Format;
extern const FormatEntry kOsuFormat;
extern const FormatEntry kSlurmConfFormat;
extern const FormatEntry kSlurmYamlFormat;

}  // namespace espalier::platforms
