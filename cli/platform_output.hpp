// Writing a platform where and as what the user asks: -o, --to.
#pragma once

#include <string>

#include "cli/arguments.hpp"
#include "platforms/platform.hpp"

namespace espalier::cli {

class PlatformOutput {
 public:
  // `required`: whether -o must be given; standard output otherwise.
  void add_to(Arguments& app, bool required = false);
  // The format that --to names, or the file's extension; JSON on standard output. Throws InputError
  // when neither tells, the format cannot be written, or the file cannot. Ask before the work.
  [[nodiscard]] std::string format() const;
  void write(const platforms::Platform& platform, const std::string& format) const;

 private:
  std::string file_ = "-";
  std::string to_;
};

}  // namespace espalier::cli
