#include "platforms/formats/slurm/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <streambuf>
#include <unordered_set>
#include <vector>

#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

std::string place_of(const YAML::Mark& mark) {
  return fmt::format("line {}, column {}", mark.line + 1, mark.column + 1);
}

// Builds the document from yaml-cpp's events; its own node tree would expand aliases.
class DocumentBuilder : public YAML::EventHandler {
 public:
  explicit DocumentBuilder(const std::string& file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    if (!take_key({}, mark)) add(Json(nullptr));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(mark, "aliases are not supported");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    if (!take_key(value, mark)) add(Json(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    open(mark, Json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, Json::object());
  }
  void OnMapEnd() override { close(); }

  Json take() { return std::move(root_); }

 private:
  struct Frame {
    Json container;
    std::unordered_set<std::string> keys{};  // of a map
    std::string key{};
    bool has_key = false;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& reason) const {
    throw InputError(file_, place_of(mark), reason);
  }

  [[nodiscard]] bool wants_key() const {
    return !frames_.empty() && frames_.back().container.is_object() && !frames_.back().has_key;
  }

  // Takes `text` as the next key of a map; false if no key is expected.
  bool take_key(const std::string& text, const YAML::Mark& mark) {
    if (!wants_key()) return false;
    Frame& frame = frames_.back();
    if (!frame.keys.insert(text).second)
      refuse(mark, fmt::format("duplicate key {}", in_quotes(text)));
    frame.key = text;
    frame.has_key = true;
    return true;
  }

  void open(const YAML::Mark& mark, Json&& container) {
    if (wants_key()) refuse(mark, "a key must be a scalar");
    if (frames_.size() == kMaxJsonDepth) {
      refuse(mark, fmt::format("nested over {} levels", kMaxJsonDepth));
    }
    frames_.push_back({std::move(container)});
  }

  void close() {
    Json container = std::move(frames_.back().container);
    frames_.pop_back();
    add(std::move(container));
  }

  void add(Json&& value) {
    if (frames_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.container.is_array()) {
      frame.container.push_back(std::move(value));
      return;
    }
    // emplace_back() of the underlying vector; that of the map would search for the key first.
    Json::object_t::Container& members = frame.container.get_ref<Json::object_t&>();
    members.emplace_back(std::move(frame.key), std::move(value));
    frame.has_key = false;
  }

  const std::string& file_;
  std::vector<Frame> frames_;
  Json root_;
};

// Lets an istream read a text without copying it.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* const first = const_cast<char*>(text.data());  // NOLINT(*-const-cast): setg requires it
    setg(first, first, first + text.size());
  }
};

}  // namespace

Json parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > kMostBytes) {
    throw InputError(file, {}, fmt::format("larger than {}", format_size({kMostBytes})));
  }
  TextBuffer buffer(text);
  std::istream stream(&buffer);
  try {
    YAML::Parser parser(stream);
    DocumentBuilder builder(file);
    if (!parser.HandleNextDocument(builder)) throw InputError(file, {}, "the file is empty");
    DocumentBuilder rest(file);
    if (parser.HandleNextDocument(rest)) throw InputError(file, {}, "more than one YAML document");
    return builder.take();
  } catch (const YAML::Exception& fault) {
    throw InputError(file, place_of(fault.mark), "not valid YAML: " + printable(fault.msg));
  }
}

}  // namespace espalier::platforms
