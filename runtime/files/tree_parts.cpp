#include "runtime/files/tree_parts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/errors.hpp"
#include "support/json.hpp"

namespace espalier::runtime {
namespace {

using Entry = FileTree::Entry;
using Kind = FileTree::Kind;

bool is_file(const Entry& entry) {
  return entry.kind == Kind::kFile;
}

bool is_below(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path[folder.size()] == '/' && path.starts_with(folder);
}

// Assigns files to ranks, in order.
class FileAssignment {
 public:
  FileAssignment(const FileTree& folder, std::span<const double> shares)
      : shares_(shares),
        one_each_(std::ranges::count_if(folder.entries, is_file) == std::ssize(shares)) {
    double bytes = 0;
    for (const Entry& entry : folder.entries) bytes += static_cast<double>(entry.bytes);
    per_share_ = bytes / std::accumulate(shares.begin(), shares.end(), 0.0);
    end_ = shares.front() * per_share_;
  }
  std::size_t rank_of(const Entry& entry) {
    if (!is_file(entry)) return rank_;
    const auto bytes = static_cast<double>(entry.bytes);
    if (one_each_) rank_ = files_++;
    while (!one_each_ && rank_ + 1 < shares_.size() && before_ + bytes / 2 > end_) {
      end_ += shares_[++rank_] * per_share_;
    }
    before_ += bytes;
    return rank_;
  }

 private:
  std::span<const double> shares_;
  bool one_each_;
  double per_share_ = 0;
  std::size_t rank_ = 0;
  std::size_t files_ = 0;
  double before_ = 0;  // bytes
  double end_ = 0;     // of this rank's share
};

// A folder without metadata of its own.
Entry new_folder(std::string path) {
  return {.path = std::move(path), .kind = Kind::kFolder, .mode = 0755, .modified_ns = UTIME_NOW};
}

// A tree that parts of several ranks are added to.
class Joined {
 public:
  void add(Entry entry, std::size_t rank) {
    const auto [at, is_new] = first_.try_emplace(entry.path, First{rank, entry.kind});
    if (is_new) {
      tree_.entries.push_back(std::move(entry));
      return;
    }
    if (entry.kind == Kind::kFolder && at->second.kind == Kind::kFolder) return;
    throw InputError(
        fmt::format("rank {} and rank {} both have '{}', which cannot be in one folder",
                    at->second.rank, rank, printable(entry.path)));
  }
  // The folders that lead to `path`.
  void add_folders_to(const std::string& path, std::size_t rank) {
    for (std::size_t end = path.find('/'); end != std::string::npos;
         end = path.find('/', end + 1)) {
      add(new_folder(path.substr(0, end)), rank);
    }
  }
  FileTree take() { return std::move(tree_); }

 private:
  struct First {
    std::size_t rank;
    Kind kind;
  };
  FileTree tree_;
  std::map<std::string, First> first_;  // by path: who had it first
};

}  // namespace

NamedFiles scan_name(const std::string& name) {
  std::error_code ignored;
  NamedFiles files{std::filesystem::is_directory(name, ignored), scan_files({name})};
  for (Entry& entry : files.tree.entries) entry.holes.clear();
  return files;
}

std::string to_text(std::span<const NamedFiles> parts) {
  Json list = Json::array();
  for (const NamedFiles& part : parts) list.push_back({part.is_folder, to_text(part.tree)});
  const std::vector<std::uint8_t> packed = Json::to_msgpack(list);
  return {packed.begin(), packed.end()};
}

std::vector<NamedFiles> named_files_from_text(const std::string& text) {
  std::vector<NamedFiles> parts;
  try {
    for (const Json& part : Json::from_msgpack(text)) {
      parts.push_back({part.at(0).get<bool>(), file_tree_from_text(part.at(1).get<std::string>())});
    }
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("the list of files is damaged: {}", error.what()));
  }
  return parts;
}

std::vector<FileTree> assigned_to_ranks(const FileTree& folder, std::span<const double> shares) {
  std::vector<FileTree> parts(shares.size());
  FileAssignment assignment(folder, shares);
  const std::vector<Entry>& entries = folder.entries;
  std::vector<std::size_t> above;  // the folders that lead to the current entry
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string& path = entries[i].path;
    while (!above.empty() && !is_below(path, entries[above.back()].path)) above.pop_back();
    const bool has_contents = i + 1 < entries.size() && is_below(entries[i + 1].path, path);
    if (has_contents) {
      above.push_back(i);
      continue;
    }
    std::vector<Entry>& part = parts[assignment.rank_of(entries[i])].entries;
    for (const std::size_t leads : above) {
      const std::string& name = entries[leads].path;
      // The part's last entry is in each of its folders that are still needed.
      const bool is_there =
          !part.empty() && (part.back().path == name || is_below(part.back().path, name));
      if (!is_there) part.push_back(entries[leads]);
    }
    part.push_back(entries[i]);
  }
  return parts;
}

FileTree joined(std::span<const NamedFiles> parts, std::span<const std::string> places) {
  Joined tree;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const std::string place = std::filesystem::path(places[rank]).lexically_normal();
    const bool is_folder = parts[rank].is_folder || place.empty() || place.ends_with('/');
    const std::string below =
        place.empty() || place.ends_with('/') || !is_folder ? place : place + '/';
    if (!place.empty() && !stays_below(is_folder ? below + "x" : below)) {
      throw InputError(printable(places[rank]), {}, "is not a path below the output's folder");
    }
    tree.add_folders_to(below, rank);
    for (Entry entry : parts[rank].tree.entries) {
      entry.path = is_folder ? below + entry.path : below;
      tree.add(std::move(entry), rank);
    }
  }
  return tree.take();
}

}  // namespace espalier::runtime
