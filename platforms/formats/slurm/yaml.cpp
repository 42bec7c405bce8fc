#include "platforms/formats/slurm/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <unordered_set>

#include "support/errors.hpp"

namespace espalier::platforms {

namespace {

std::string place_of(const YAML::Mark& mark) {
  return fmt::format("line {}, column {}", mark.line + 1, mark.column + 1);
}

// Converts the library's tree. Aliases of a node are copies of it, so values are counted.
class Converter {
 public:
  explicit Converter(const std::string& file) : file_(file) {}

  Json convert(const YAML::Node& node, std::size_t depth) {
    if (++values_ > kMaxJsonValues)
      refuse(node, fmt::format("more than {} values", kMaxJsonValues));
    if (node.IsNull()) return nullptr;
    if (node.IsScalar()) return node.Scalar();
    if (depth == kMaxJsonDepth) refuse(node, fmt::format("nested over {} levels", kMaxJsonDepth));
    if (node.IsSequence()) {
      Json array = Json::array();
      for (const YAML::Node& element : node) array.push_back(convert(element, depth + 1));
      return array;
    }
    Json object = Json::object();
    std::unordered_set<std::string> keys;
    // emplace_back() of the underlying vector; that of the map would search for the key first.
    Json::object_t::Container& members = object.get_ref<Json::object_t&>();
    for (const auto& entry : node) {
      const YAML::Node& key = entry.first;
      if (!key.IsScalar() && !key.IsNull()) refuse(key, "a key must be a scalar");
      std::string name = key.IsNull() ? "" : key.Scalar();
      if (!keys.insert(name).second) refuse(key, fmt::format("duplicate key {}", in_quotes(name)));
      members.emplace_back(std::move(name), convert(entry.second, depth + 1));
    }
    return object;
  }

 private:
  [[noreturn]] void refuse(const YAML::Node& node, const std::string& reason) const {
    throw InputError(file_, place_of(node.Mark()), reason);
  }

  const std::string& file_;
  std::size_t values_ = 0;
};

}  // namespace

Json parse_yaml(std::string_view text, const std::string& file) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty()) throw InputError(file, {}, "the file is empty");
    if (documents.size() > 1) throw InputError(file, {}, "more than one YAML document");
    return Converter(file).convert(documents.front(), 0);
  } catch (const YAML::Exception& fault) {
    throw InputError(file, place_of(fault.mark), "not valid YAML: " + printable(fault.msg));
  }
}

}  // namespace espalier::platforms
