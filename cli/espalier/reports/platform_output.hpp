// Writes platforms to the file and in the format of -o and --to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/common/arguments.hpp"
#include "cli/espalier/console.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::cli {

class PlatformOutput {
 public:
  // `required`: whether -o must be given; standard output otherwise.
  void add_to(Arguments& app, bool required = false);
  // The format of --to or of the file's extension; JSON on standard output. Throws InputError if
  // neither determines it, or if format or file cannot be written. Call before the work.
  [[nodiscard]] std::string format() const;
  // Notes what the format has no place for.
  void write(const platforms::Platform& platform, const std::string& format,
             const Console& console) const;

  // -o, --to and --count: one platform, or a numbered series of draws in a folder.
  void add_series_to(Arguments& app);
  // Writes draw 0 of `make`, or the draws 0, 1, ... of --count into the folder of -o as
  // STEM-001.json and so on, and calls `report` with each. Notes suspicious properties; of a series
  // only the first platform's, and how many have some. Throws InputError as format() does, and for
  // --count without a folder.
  void write_series(
      const std::string& stem, const std::function<platforms::Platform(std::uint64_t)>& make,
      const std::function<void(const std::string&, const platforms::Platform&)>& report,
      const Console& console) const;

 private:
  std::string file_ = "-";
  std::string to_;
  std::uint64_t count_ = 0;
};

}  // namespace espalier::cli
