// Reads a folder of measurements, one file per pair of hosts, as one platform (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "platforms/formats/measured/pair_measurements.hpp"
#include "platforms/formats/readers.hpp"
#include "support/files.hpp"

namespace espalier::platforms {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 1'000'000;  // all pairs of a thousand hosts

struct Contents {
  std::vector<std::string> files;   // sorted
  std::vector<std::string> others;  // folders, pipes and other entries
};

Contents contents_of(const std::string& folder) {
  Contents contents;
  std::error_code fault;
  for (fs::directory_iterator entry(folder, fault), last; !fault && entry != last;
       entry.increment(fault)) {
    if (entry->path().filename().string().starts_with('.')) continue;
    std::error_code unknown;
    auto& list = entry->is_regular_file(unknown) ? contents.files : contents.others;
    list.push_back(entry->path().string());
    if (contents.files.size() > kMostFiles) {
      throw InputError(folder, {}, fmt::format("more than {} files", kMostFiles));
    }
  }
  if (fault) throw InputError(folder, {}, "cannot read: " + fault.message());
  std::ranges::sort(contents.files);
  std::ranges::sort(contents.others);
  return contents;
}

// Reads one file at a time, so that only one is in memory.
class FolderReader {
 public:
  FolderReader(const std::string& folder, const ReadOptions& options)
      : folder_(folder), options_(options) {
    if (options.format.empty()) return;
    format_ = &format_named(options.format);
    if (format_->gather == nullptr) {
      throw InputError(folder, {},
                       fmt::format("format '{}' reads one file, not a folder", format_->name));
    }
  }

  ReadResult result() && {
    Contents contents = contents_of(folder_);
    left_out_ = std::move(contents.others);
    for (const std::string& file : contents.files) add(file);
    if (format_ == nullptr) {
      throw InputError(folder_, {},
                       "no file in this folder is a measurement of a pair of hosts (iperf3, osu)");
    }
    Source source{{}, folder_, options_};
    source.note_count(left_out_.size(), "left out {} that are not {} files, first {}",
                      format_->name, left_out_.empty() ? "" : left_out_.front());
    try {
      Platform platform = std::move(measurements_).platform(source, folder_name());
      return {std::move(platform), std::string(format_->name), std::move(source.notes)};
    } catch (const SpreadError& fault) {
      source.refuse(fault.what());
    }
  }

 private:
  void add(const std::string& file) {
    const std::string text = read_text(file);
    const FormatEntry* const format = options_.format.empty() ? detected_format(text) : format_;
    if (format == nullptr || format->gather == nullptr) {
      left_out_.push_back(file);
      return;
    }
    if (format_ == nullptr) format_ = format;
    if (format != format_) {
      throw InputError(
          file, {},
          fmt::format("has format {}, but the files before it in the folder have format {}",
                      format->name, format_->name));
    }
    Source source{text, file, options_};
    require_size(*format, source);
    format->gather(source, measurements_);
  }

  [[nodiscard]] std::string folder_name() const {
    if (!options_.name.empty()) return options_.name;
    std::error_code fault;
    const fs::path path = fs::canonical(folder_, fault);
    const std::string name = printable(path.filename().string());
    return name.empty() ? "folder" : name;
  }

  const std::string& folder_;
  const ReadOptions& options_;
  const FormatEntry* format_ = nullptr;  // of the files read so far
  PairMeasurements measurements_;
  std::vector<std::string> left_out_;
};

}  // namespace

ReadResult read_folder(const std::string& folder, const ReadOptions& options) {
  return FolderReader(folder, options).result();
}

}  // namespace espalier::platforms
