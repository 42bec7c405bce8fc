// Writing a platform where and as what the user asks: -o, --to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/espalier/arguments.hpp"
#include "cli/espalier/console.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::cli {

class PlatformOutput {
 public:
  // `required`: whether -o must be given; standard output otherwise.
  void add_to(Arguments& app, bool required = false);
  // The format that --to names, or the file's extension; JSON on standard output. Throws InputError
  // when neither tells, the format cannot be written, or the file cannot. Ask before the work.
  [[nodiscard]] std::string format() const;
  void write(const platforms::Platform& platform, const std::string& format) const;

  // -o, --to and --count: one platform, or a numbered series of draws in a folder.
  void add_series_to(Arguments& app);
  // Draw i (from 0) of `make`, where it goes, as what: once, or --count times, into -o's folder,
  // made if it is not there, as STEM-001.json and so on. `tell` hears each draw's file and
  // platform. What looks wrong with the platform goes to `console` as notes; of a series only the
  // first one's that has any, and how many have. Throws InputError as format() does, and when
  // --count is given without a folder.
  void write_series(const std::string& stem,
                    const std::function<platforms::Platform(std::uint64_t)>& make,
                    const std::function<void(const std::string&, const platforms::Platform&)>& tell,
                    const Console& console) const;

 private:
  std::string file_ = "-";
  std::string to_;
  std::uint64_t count_ = 0;
};

}  // namespace espalier::cli
