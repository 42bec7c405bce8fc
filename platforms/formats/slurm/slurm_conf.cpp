// Slurm's topology.conf: lines of KEY=VALUE that define switches, blocks or rings
// (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/slurm/slurm_topology.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "support/choice.hpp"

namespace espalier::platforms {

namespace {

bool is_key_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
}

std::string_view take(std::string_view& text, std::size_t count) {
  const std::string_view taken = text.substr(0, count);
  text.remove_prefix(taken.size());
  return taken;
}

struct Setting {
  std::string_view key;
  std::string_view value;
};

// Removes "Key = value" or "Key=\"a value\"" from the start of `line`, which does not begin with a
// blank.
Setting take_setting(std::string_view& line) {
  const std::string_view all = line;
  const auto end = std::ranges::find_if_not(line, &is_key_letter);
  const auto key = take(line, static_cast<std::size_t>(end - line.begin()));
  skip_blanks(line);
  const bool is_setting = !key.empty() && line.starts_with('=');
  if (is_setting) line.remove_prefix(1);
  skip_blanks(line);
  if (!is_setting || line.empty()) {
    throw InputError(fmt::format("expected KEY=VALUE, got {}", in_quotes(all)));
  }
  if (!line.starts_with('"')) {
    return {key, take(line, std::min(line.find_first_of(kBlank), line.size()))};
  }
  line.remove_prefix(1);
  const std::size_t close = line.find('"');
  if (close == std::string_view::npos) throw InputError("a quote is not closed");
  const std::string_view value = take(line, close);
  line.remove_prefix(1);
  return {key, value};
}

// The keys that may follow the first key of a line, in Slurm's spelling.
struct Record {
  std::string_view name;
  std::array<std::string_view, 4> keys;
};
constexpr std::array<Record, 4> kRecords{{{"SwitchName", {"Nodes", "Switches", "LinkSpeed", ""}},
                                          {"BlockName", {"Nodes", "", "", ""}},
                                          {"BlockSizes", {"", "", "", ""}},
                                          {"RingName", {"Nodes", "", "", ""}}}};

const Record& record_of(std::string_view key) {
  for (const Record& record : kRecords) {
    if (lower_case(record.name) == lower_case(key)) return record;
  }
  throw InputError(unknown_name("key", key, names_of(kRecords)));
}

class ConfReader : LineReader {
 public:
  using LineReader::LineReader;

  Platform platform() {
    while (read_line()) {
    }
    SlurmTopology topology;
    const std::string_view kind = chosen_kind();
    if (kind == "tree") {
      topology.switches = std::move(switches_);
    } else if (kind == "block") {
      topology.switches = std::move(blocks_);
      join_blocks(topology.switches, source_.notes);
    } else {
      topology.toruses = std::move(rings_);
    }
    return slurm_platform(topology, source_);
  }

 private:
  // Reads a line with its continuation lines (after a backslash), without comments. False at the
  // end.
  bool read_line() {
    std::string joined;
    auto line = lines_.next();
    if (!line) return false;
    const std::size_t first = lines_.number();
    while (line) {
      std::string_view part = line->substr(0, line->find('#'));
      part = part.substr(0, part.find_last_not_of(kBlank) + 1);
      const bool goes_on = part.ends_with('\\');
      if (goes_on) part.remove_suffix(1);
      joined += part;
      if (!goes_on) break;
      line = lines_.next();
    }
    lines_.at(first, [&] { read_record(joined, fmt::format("line {}", first)); });
    return true;
  }

  void read_record(std::string_view line, const std::string& place) {
    skip_blanks(line);
    if (line.empty()) return;
    const auto words = words_of(line, 2);
    if (lower_case(words[0]) == "include") {
      throw InputError(fmt::format("'Include' is not supported; copy here the lines of {} here",
                                   in_quotes(words.size() > 1 ? words[1] : "that file")));
    }
    const Setting first = take_setting(line);
    const Record& record = record_of(first.key);
    std::array<std::string_view, 4> values{};
    std::vector<std::string_view> known;
    std::ranges::copy_if(record.keys, std::back_inserter(known),
                         [](std::string_view key) { return !key.empty(); });
    for (skip_blanks(line); !line.empty(); skip_blanks(line)) {
      const Setting setting = take_setting(line);
      const auto found = std::ranges::find_if(
          known, [&](std::string_view key) { return lower_case(key) == lower_case(setting.key); });
      if (found == known.end()) throw InputError(unknown_name("key", setting.key, known));
      auto& value = values[static_cast<std::size_t>(found - known.begin())];
      if (value.data() != nullptr) throw InputError(fmt::format("'{}' is given twice", *found));
      value = setting.value;
    }
    add(record.name, first.value, values, place);
  }

  void add(std::string_view record, std::string_view name,
           const std::array<std::string_view, 4>& values, const std::string& place) {
    if (record == "BlockSizes") return;  // for job allocation; not part of the network
    const std::string own = hostlists_.single(name);
    auto nodes = hostlists_.expand(values[0]);
    if (record == "RingName") {
      rings_.push_back({own, {nodes.size(), 1, 1}, std::move(nodes), place});
    } else if (record == "BlockName") {
      blocks_.push_back({own, std::move(nodes), {}, place});
    } else {
      switches_.push_back({own, std::move(nodes), hostlists_.expand(values[1]), place});
      if (values[2].data() != nullptr) switches_.back().link_speed = parse_link_speed(values[2]);
    }
  }

  static double parse_link_speed(std::string_view text) {
    const auto speed = parse_number(text);
    if (speed && *speed > 0) return *speed;
    throw InputError(fmt::format("LinkSpeed is a positive number, not {}", in_quotes(text)));
  }

  // The kind given by the option, otherwise the first in the file; a note lists all kinds in it.
  std::string_view chosen_kind() {
    constexpr std::array<std::string_view, 3> kKinds{"tree", "block", "ring"};
    const std::array<std::size_t, 3> counts{switches_.size(), blocks_.size(), rings_.size()};
    std::vector<std::string_view> there;
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (counts[i] > 0) there.push_back(kKinds[i]);
    }
    if (there.empty()) source_.refuse("there are no switches, blocks or rings");
    std::string_view chosen = there.front();
    if (const std::string& wanted = source_.options.topology; !wanted.empty()) {
      const auto found = std::ranges::find(there, wanted);
      if (found == there.end()) source_.refuse(unknown_name("topology", wanted, there));
      chosen = *found;
    }
    if (there.size() > 1) {
      source_.note("took the topology '{}' of: {}; --topology selects another", chosen,
                   fmt::join(there, ", "));
    }
    return chosen;
  }

  Hostlists hostlists_;
  std::vector<SlurmSwitch> switches_;
  std::vector<SlurmSwitch> blocks_;
  std::vector<SlurmTorus> rings_;
};

bool detects_slurm_conf(std::string_view text) {
  const std::string none;
  TextLines lines(head_of(text), none);
  while (const auto line = lines.next()) {
    std::string_view rest = *line;
    skip_blanks(rest);
    if (rest.empty() || rest.starts_with('#')) continue;
    const auto end = std::ranges::find_if_not(rest, &is_key_letter);
    const std::string key = lower_case(take(rest, static_cast<std::size_t>(end - rest.begin())));
    if (key == "include") continue;
    skip_blanks(rest);
    return rest.starts_with('=') && std::ranges::any_of(kRecords, [&](const Record& record) {
             return lower_case(record.name) == key;
           });
  }
  return false;
}

}  // namespace

constinit const FormatEntry kSlurmConfFormat{
    "slurm-conf", "Slurm's topology.conf; --level-bandwidth gives the speeds", detects_slurm_conf,
    [](Source& source) { return ConfReader(source).platform(); }, 64};

}  // namespace espalier::platforms
