#include "support/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier {

namespace {

constexpr std::size_t kMaxJsonKeys = 1'000'000;  // of one object

std::string pointer_step(std::string_view key) {
  constexpr std::size_t kMaxStep = 80;
  std::string step = "/";
  for (const char letter : key.substr(0, kMaxStep)) {
    if (letter == '~')
      step += "~0";
    else if (letter == '/')
      step += "~1";
    else
      step += letter;
  }
  if (key.size() > kMaxStep) step += "...";
  return step;
}

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t line_start = before.rfind('\n');
  const std::size_t column =
      line_start == std::string_view::npos ? before.size() : before.size() - line_start - 1;
  return fmt::format("line {}, column {}", line, std::max<std::size_t>(column, 1));
}

// nlohmann's message without its id and place: "syntax error while parsing value - ...".
std::string short_reason(std::string_view message) {
  constexpr std::size_t kMaxReason = 240;
  for (const std::string_view mark : {"while parsing", "number overflow"}) {
    const std::size_t found = message.find(mark);
    if (found == std::string_view::npos) continue;
    message.remove_prefix(found);
    break;
  }
  std::string reason(message.substr(0, kMaxReason));
  if (message.size() > kMaxReason) reason += "...";
  return reason;
}

// Builds the document from nlohmann's events. Each open array or object collects its values in a
// frame, which becomes a container of the exact size at its end. Frames are reused.
class DocumentBuilder {
 public:
  DocumentBuilder(std::string_view text, const std::string& file, DuplicateKeys duplicates)
      : text_(text), file_(file), duplicates_(duplicates) {}

  bool null() { return add(Json(nullptr)); }
  bool boolean(bool value) { return add(Json(value)); }
  bool number_integer(Json::number_integer_t value) { return add(Json(value)); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(Json(value)); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) {
    return add(Json(value));
  }
  bool string(std::string& value) { return add(Json(std::move(value))); }
  bool binary(Json::binary_t& value) { return add(Json(std::move(value))); }

  bool start_object(std::size_t /*size*/) { return open(true); }
  bool start_array(std::size_t /*size*/) { return open(false); }
  bool key(std::string& name) {
    Frame& frame = frames_[depth_ - 1];
    if (frame.keys.size() == kMaxJsonKeys) {
      throw InputError(file_, pointer(depth_ - 1),
                       fmt::format("more than {} keys in one object", kMaxJsonKeys));
    }
    frame.keys.push_back(std::move(name));
    return true;
  }
  bool end_array() {
    Frame& frame = frames_[depth_ - 1];
    Json array = Json::array();
    auto& elements = array.get_ref<Json::array_t&>();
    elements.assign(std::make_move_iterator(frame.values.begin()),
                    std::make_move_iterator(frame.values.end()));
    return close(std::move(array));
  }
  bool end_object() {
    Frame& frame = frames_[depth_ - 1];
    // If duplicates are kept, JsonCursor finds the first.
    if (duplicates_ == DuplicateKeys::kRefused) refuse_duplicates(frame);
    Json object = Json::object();
    // The vector's emplace_back: the ordered map's would search for the key in every insertion.
    Json::object_t::Container& members = object.get_ref<Json::object_t&>();
    members.reserve(frame.keys.size());
    for (std::size_t i = 0; i < frame.keys.size(); ++i) {
      members.emplace_back(std::move(frame.keys[i]), std::move(frame.values[i]));
    }
    return close(std::move(object));
  }

  [[noreturn]] bool parse_error(std::size_t position, const std::string& /*token*/,
                                const std::exception& fault) {
    throw InputError(file_, line_and_column(text_, position),
                     "not valid JSON: " + short_reason(fault.what()));
  }

  Json take() { return std::move(root_); }

 private:
  struct Frame {
    bool is_object = false;
    std::vector<std::string> keys;
    std::vector<Json> values;
  };

  bool add(Json&& value) {
    if (++values_ > kMaxJsonValues) {
      refuse(
          fmt::format("more than {} values: too large for a platform or a plan", kMaxJsonValues));
    }
    if (depth_ == 0)
      root_ = std::move(value);
    else
      frames_[depth_ - 1].values.push_back(std::move(value));
    return true;
  }

  bool open(bool is_object) {
    if (depth_ == kMaxJsonDepth) refuse(fmt::format("nested over {} levels", kMaxJsonDepth));
    if (frames_.size() == depth_) frames_.emplace_back();
    frames_[depth_++].is_object = is_object;
    return true;
  }

  bool close(Json&& container) {
    Frame& frame = frames_[--depth_];
    frame.keys.clear();
    frame.values.clear();
    return add(std::move(container));
  }

  void refuse_duplicates(const Frame& frame) const {
    constexpr std::size_t kFew = 8;
    const auto& keys = frame.keys;
    if (keys.size() <= kFew) {
      for (std::size_t i = 1; i < keys.size(); ++i) {
        const auto here = keys.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::find(keys.begin(), here, *here) != here) refuse_key(*here);
      }
      return;
    }
    std::vector<std::string_view> sorted(keys.begin(), keys.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) refuse_key(*twice);
  }

  [[noreturn]] void refuse_key(std::string_view key) const {
    throw InputError(file_, pointer(depth_ - 1) + pointer_step(key), "duplicate key");
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw InputError(file_, pointer(depth_), reason);
  }

  // The place of the value that is being read, within the outermost `levels` frames.
  [[nodiscard]] std::string pointer(std::size_t levels) const {
    std::string steps;
    for (std::size_t i = 0; i < levels; ++i) {
      const Frame& frame = frames_[i];
      steps += frame.is_object ? pointer_step(frame.keys.back())
                               : fmt::format("/{}", frame.values.size());
    }
    return steps;
  }

  std::string_view text_;
  const std::string& file_;
  DuplicateKeys duplicates_;
  std::vector<Frame> frames_;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  Json root_;
};

std::string type_name(const Json& value) {
  if (value.is_null()) return "null";
  return fmt::format("{} {}", value.is_structured() ? "an" : "a", value.type_name());
}

// Appends the steps from `root` to `wanted`. Returns false if `wanted` is not inside `root`.
bool find_path(const Json& root, const Json* wanted, std::string& steps) {
  if (&root == wanted) return true;
  const std::size_t length = steps.size();
  if (root.is_object()) {
    for (const auto& [key, value] : root.get_ref<const Json::object_t&>()) {
      steps += pointer_step(key);
      if (find_path(value, wanted, steps)) return true;
      steps.resize(length);
    }
  } else if (root.is_array()) {
    std::size_t index = 0;
    for (const Json& value : root) {
      if (&value == wanted || value.is_structured()) {
        steps += fmt::format("/{}", index);
        if (find_path(value, wanted, steps)) return true;
        steps.resize(length);
      }
      ++index;
    }
  }
  return false;
}

const Json* member_of(const Json& object, std::string_view key) {
  for (const auto& [name, value] : object.get_ref<const Json::object_t&>()) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file, DuplicateKeys duplicates) {
  DocumentBuilder builder(text, file, duplicates);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string compact_dump(const Json& value) {
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, element] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += Json(key).dump() + ": ";
    text += compact_dump(element);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

std::string JsonCursor::pointer() const {
  std::string steps = root_->pointer;
  find_path(*root_->value, value_, steps);
  return steps;
}

void JsonCursor::refuse(const std::string& reason) const {
  throw InputError(root_->file, pointer(), reason);
}

void JsonCursor::refuse_type(std::string_view expected) const {
  refuse(fmt::format("expected {}, got {}", expected, type_name(*value_)));
}

void JsonCursor::expect_object(std::initializer_list<std::string_view> known_keys) const {
  if (!value_->is_object()) refuse_type("an object");
  for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
    if (std::ranges::find(known_keys, key) != known_keys.end()) continue;
    refuse(unknown_name("key", key, {known_keys.begin(), known_keys.size()}));
  }
}

bool JsonCursor::has(std::string_view key) const {
  if (!value_->is_object()) refuse_type("an object");
  return member_of(*value_, key) != nullptr;
}

JsonCursor JsonCursor::at(std::string_view key) const {
  const auto member = find(key);
  if (!member) refuse(fmt::format("the key {} is missing", in_quotes(key)));
  return *member;
}

std::optional<JsonCursor> JsonCursor::find(std::string_view key) const {
  if (!value_->is_object()) refuse_type("an object");
  const Json* const member = member_of(*value_, key);
  if (member == nullptr) return std::nullopt;
  return JsonCursor(*member, root_);
}

std::vector<JsonCursor::Member> JsonCursor::members() const {
  if (!value_->is_object()) refuse_type("an object");
  std::vector<Member> list;
  list.reserve(value_->size());
  for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
    list.push_back({key, JsonCursor(value, root_)});
  }
  return list;
}

std::vector<JsonCursor> JsonCursor::elements() const {
  if (!value_->is_array()) refuse_type("an array");
  std::vector<JsonCursor> list;
  list.reserve(value_->size());
  for (const Json& element : *value_) list.push_back(JsonCursor(element, root_));
  return list;
}

const std::string& JsonCursor::string() const {
  if (!value_->is_string()) refuse_type("a string");
  return value_->get_ref<const std::string&>();
}

bool JsonCursor::boolean() const {
  if (!value_->is_boolean()) refuse_type("true or false");
  return value_->get<bool>();
}

double JsonCursor::number() const {
  if (!value_->is_number()) refuse_type("a number");
  const double number = value_->get<double>();
  if (!std::isfinite(number)) refuse("the number is not finite");
  return number;
}

std::uint64_t JsonCursor::unsigned_integer() const {
  if (!value_->is_number()) refuse_type("a whole number");
  if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
  const double number = value_->get<double>();
  // 1e6 is whole, too. Above 2^53 a double does not identify a single integer.
  if (!(number >= 0) || number > 0x1p53 || number != std::floor(number)) {
    refuse("expected a whole number that is not negative");
  }
  return static_cast<std::uint64_t>(number);
}

}  // namespace espalier
