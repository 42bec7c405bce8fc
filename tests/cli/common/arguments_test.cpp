// Options bind to variables by their type; what a text may be is part of the declaration.
#include "cli/common/arguments.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace espalier::cli::arguments_test {
namespace {

constexpr std::string_view kColours[]{"red", "green"};
enum class Colour { kRed, kGreen };

struct Paint {
  BytesPerSecond rate{1e6};
  std::optional<Seconds> time{};
  std::vector<Bytes> sizes{};
  Colour shade = Colour::kRed;
  std::uint64_t coats = 2;
  bool dry = true;
  bool checked = false;

  void add_to(Arguments& app) {
    app.add("--rate", rate, "a rate");
    app.add("--time", time, read_positive_duration, "a time");
    app.add("--size", sizes, "sizes");
    app.add("-s,--shade", shade, one_named<Colour>("shade", kColours), "a shade");
    app.add("--coats", coats, "a number", {.range = Range{1, 3, "coats"}});
    app.add("!--wet", dry, "a flag");
  }
  void check() { checked = true; }
  [[nodiscard]] ExitStatus run() const;
};

Paint last;
ExitStatus Paint::run() const {
  last = *this;
  return ExitStatus::kDone;
}

// The options after parsing these words; the refusal in `fault`.
Paint parsed(const std::string& words, std::string& fault) {
  last = {};
  CommandLine line("test", "test", "1");
  line.root().add_command<Paint>("paint", "paints");
  std::vector<std::string> texts{"test", "paint"};
  std::istringstream stream(words);
  for (std::string word; stream >> word;) texts.push_back(word);
  std::vector<const char*> arguments;
  for (const std::string& text : texts) arguments.push_back(text.c_str());
  try {
    EXPECT_EQ(line.parse(static_cast<int>(arguments.size()), arguments.data()), "");
    EXPECT_EQ(line.run(), ExitStatus::kDone);
  } catch (const InputError& error) {
    fault = error.what();
  }
  return last;
}

TEST(Arguments, VariablesKeepTheirValuesUnlessGiven) {
  std::string fault;
  const Paint none = parsed("", fault);
  EXPECT_EQ(fault, "");
  EXPECT_EQ(none.rate.value, 1e6);
  EXPECT_FALSE(none.time);
  EXPECT_TRUE(none.sizes.empty());
  EXPECT_TRUE(none.dry);
  EXPECT_TRUE(none.checked);
}

TEST(Arguments, TypesSayHowTextIsRead) {
  std::string fault;
  const Paint all =
      parsed("--rate 8Mbit/s --time 2ms --size 1KiB,3 --size 2 -s green --coats 3 --wet", fault);
  EXPECT_EQ(fault, "");
  EXPECT_EQ(all.rate.value, 1e6);
  EXPECT_EQ(all.time->value, 2e-3);
  EXPECT_EQ(all.sizes, (std::vector<Bytes>{{1024}, {3}, {2}}));
  EXPECT_EQ(all.shade, Colour::kGreen);
  EXPECT_EQ(all.coats, 3U);
  EXPECT_FALSE(all.dry);
  EXPECT_EQ(parsed("--time 3", fault).time->value, 3);  // seconds
  EXPECT_EQ(parsed("--time 0.5", fault).time->value, 0.5);
  EXPECT_EQ(fault, "");
}

TEST(Arguments, RefusalsNameTheOption) {
  const auto refusal = [](const std::string& words) {
    std::string fault;
    parsed(words, fault);
    return fault;
  };
  EXPECT_EQ(refusal("--time 0s"), "--time: must be above zero");
  EXPECT_EQ(refusal("--shade rde"),
            "--shade: unknown shade 'rde'; did you mean 'red'? one of: red, green");
  EXPECT_EQ(refusal("--coats 4"), "--coats: 4 is not from 1 to 3 coats");
  EXPECT_TRUE(refusal("--rate 3").starts_with("--rate: "));
  EXPECT_TRUE(refusal("--size 1,,2").starts_with("--size: "));
  EXPECT_EQ(refusal("--ratee 3"),
            "paint: unknown option '--ratee'; did you mean '--rate'? one of: --help, -h, --rate, "
            "--time, --size, --shade, -s, --coats, --wet");
}

}  // namespace
}  // namespace espalier::cli::arguments_test
