#include "experiments/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "experiments/report.hpp"
#include "support/files.hpp"

namespace espalier::experiments {

namespace {

[[noreturn]] void refuse(const std::string& file, int number) {
  throw InputError(file, {}, "cannot write: " + std::generic_category().message(number));
}

// nlohmann-json writes NaN as null, and other doubles so that they are read back unchanged.
double figure(const JsonCursor& value) {
  return value.value().is_null() ? kNoFigure : value.number();
}

Json json_of(std::size_t unit, const Result& result) {
  Json json{{"unit", unit},
            {"nodes", result.nodes},
            {"arcs", result.arcs},
            {"source", result.source},
            {"bound_Bps", result.bound_Bps},
            {"seconds", result.seconds},
            {"gap_open", result.gap_open},
            {"rows", Json::array()}};
  for (const Row& row : result.rows) {
    json["rows"].push_back({{"trees", row.trees},
                            {"throughput_Bps", row.throughput_Bps},
                            {"relative", row.relative},
                            {"depth", row.depth},
                            {"seconds", row.seconds},
                            {"error", row.error}});
  }
  return json;
}

Row row_of(const JsonCursor& json) {
  json.expect_object({"trees", "throughput_Bps", "relative", "depth", "seconds", "error"});
  return {.trees = json.at("trees").unsigned_integer(),
          .throughput_Bps = figure(json.at("throughput_Bps")),
          .relative = figure(json.at("relative")),
          .depth = json.at("depth").unsigned_integer(),
          .seconds = figure(json.at("seconds")),
          .error = json.at("error").string()};
}

Result result_of(const JsonCursor& json) {
  json.expect_object(
      {"unit", "nodes", "arcs", "source", "bound_Bps", "seconds", "gap_open", "rows"});
  Result result{.nodes = json.at("nodes").unsigned_integer(),
                .arcs = json.at("arcs").unsigned_integer(),
                .source = json.at("source").string(),
                .bound_Bps = figure(json.at("bound_Bps")),
                .seconds = figure(json.at("seconds")),
                .gap_open = json.at("gap_open").boolean(),
                .rows = {}};
  for (const JsonCursor& row : json.at("rows").elements()) result.rows.push_back(row_of(row));
  return result;
}

void require_same(const Json& wanted, const Json& found, const std::string& file) {
  for (const auto& [key, value] : wanted.items()) {
    const bool there = found.is_object() && found.contains(key);
    if (there && found[key] == value) continue;
    throw InputError(
        file, "/" + key,
        fmt::format("the folder contains a study with other settings ({} there, {} here); use "
                    "another folder, or start over with --restart",
                    there ? in_quotes(found[key].dump()) : "nothing", in_quotes(value.dump())));
  }
}

void remove_outputs(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (is_output(entry.path().filename().string())) std::filesystem::remove(entry.path());
  }
}

}  // namespace

Json settings_of(const Study& study) {
  Json json{{"format", "espalier-study"}, {"version", 1}, {"family", study.family}};
  json["operation"] = planner::name_of(study.operation);
  json["any_root"] = study.any_root;
  for (const auto& [key, value] : study.origin.items()) json[key] = value;
  json["models"] = Json::array();
  for (const platforms::Model model : study.models) {
    json["models"].push_back(platforms::name_of(model));
  }
  json["algorithms"] = Json::array();
  for (const planner::Algorithm& algorithm : study.algorithms) {
    json["algorithms"].push_back(algorithm.name);
  }
  json["slice_bytes"] = study.occupation.segment.value;
  json["latency_occupies"] = study.occupation.latency_occupies;
  json["gap"] = study.limits.gap;
  json["time_limit_s"] =
      study.limits.deadline.limit() ? Json(study.limits.deadline.limit()->value) : Json(nullptr);
  json["guided_by"] =
      study.limits.guided_by ? Json(platforms::name_of(*study.limits.guided_by)) : Json(nullptr);
  json["relative_to"] =
      study.relative_to ? Json(platforms::name_of(*study.relative_to)) : Json(nullptr);
  return json;
}

Journal::Journal(const Study& study, const std::string& folder, bool restart) {
  const std::filesystem::path path(folder);
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (fault) refuse(folder, fault.value());
  file_ = (path / "done.jsonl").string();
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse(file_, errno);
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      throw InputError(file_, {}, "another study is running in this folder");
    }
    const std::string settings_file = (path / "study.json").string();
    const Json settings = settings_of(study);
    if (restart) {
      remove_outputs(path);
      if (::ftruncate(descriptor_, 0) != 0) refuse(file_, errno);
    }
    if (std::filesystem::exists(settings_file)) {
      Json found = parse_json(read_text(settings_file), settings_file);
      // What studies do not say that are older than the setting.
      if (found.is_object()) {
        found.emplace("operation", "broadcast");
        found.emplace("any_root", false);
        found.emplace("guided_by", nullptr);
        found.emplace("relative_to", nullptr);
      }
      require_same(settings, found, settings_file);
    } else if (std::filesystem::file_size(file_) > 0) {
      throw InputError(settings_file, {},
                       "missing, so the settings of the results in done.jsonl are unknown; start "
                       "over with --restart");
    } else {
      write_text(settings_file, settings.dump(2) + '\n');
    }
    load_results(study);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Journal::~Journal() {
  ::close(descriptor_);
}

void Journal::load_results(const Study& study) {
  const std::string text = read_text(file_);
  std::size_t start = 0;
  for (std::size_t line = 1; start < text.size(); ++line) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string::npos) break;
    const std::string place = fmt::format("{}:{}", file_, line);
    const Json json = parse_json(std::string_view(text).substr(start, end - start), place);
    const JsonCursor cursor(json, place);
    Result result = result_of(cursor);
    const std::uint64_t unit = cursor.at("unit").unsigned_integer();
    if (unit >= study.unit_count()) cursor.at("unit").refuse("the study has no such unit");
    if (result.rows.size() != study.algorithms.size()) {
      cursor.at("rows").refuse(fmt::format("{} rows, but the study has {} algorithms",
                                           result.rows.size(), study.algorithms.size()));
    }
    done_.insert_or_assign(unit, std::move(result));
    start = end + 1;
  }
  // An incomplete last line would corrupt the next one.
  if (start < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(start)) != 0) {
    refuse(file_, errno);
  }
}

void Journal::append(std::size_t unit, Result&& result) {
  const std::string line =
      json_of(unit, result).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t put = ::write(descriptor_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) refuse(file_, errno);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  done_.insert_or_assign(unit, std::move(result));
}

}  // namespace espalier::experiments
