#include "runtime/api/tuned_segments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/memory/checksum.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/json.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {
namespace {

constexpr std::string_view kFormat = "espalier-tuned-slices";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kIdentityDigits = 16;

double ratio_of(std::uint64_t a, std::uint64_t b) {
  const auto [less, more] = std::minmax(a, b);
  return static_cast<double>(more) / static_cast<double>(less);
}

std::string identity_at(const JsonCursor& at) {
  const std::string& text = at.string();
  const bool is_one = text.size() == kIdentityDigits &&
                      text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_one) at.refuse("expected the 16 hexadecimal digits that identify a plan");
  return text;
}

std::size_t count_at(const JsonCursor& at) {
  if (at.unsigned_integer() == 0) at.refuse("must be at least 1");
  return at.unsigned_integer();
}

TunedSegment segment_at(const JsonCursor& at) {
  at.expect_object({"message_bytes", "slice_bytes", "median_s"});
  const TunedSegment segment{count_at(at.at("message_bytes")), count_at(at.at("slice_bytes")),
                             at.at("median_s").number()};
  if (segment.segment_bytes > kLargestSegment) {
    at.at("slice_bytes").refuse(fmt::format("MPI sends at most {} bytes at once", kLargestSegment));
  }
  if (segment.median_s < 0) at.at("median_s").refuse("a time must not be negative");
  return segment;
}

}  // namespace

std::optional<std::uint64_t> segment_tuned_for(std::span<const TunedSegment> tuned,
                                               std::uint64_t message_bytes, double within) {
  if (message_bytes == 0) return {};
  const TunedSegment* next = nullptr;
  for (const TunedSegment& segment : tuned) {
    const double ratio = ratio_of(segment.message_bytes, message_bytes);
    if (ratio > within) continue;
    if (next == nullptr || ratio < ratio_of(next->message_bytes, message_bytes)) next = &segment;
  }
  return next == nullptr ? std::nullopt : std::optional(next->segment_bytes);
}

std::uint64_t undivided_segment(std::uint64_t message_bytes, std::size_t trees) {
  const std::uint64_t part = message_bytes / trees + (message_bytes % trees != 0 ? 1 : 0);
  return std::clamp(part, std::uint64_t{1}, kLargestSegment);
}

std::string identity_of(const planner::Plan& plan) {
  const std::string text = planner::to_json(plan);
  return fmt::format("{:016x}", hash_of(std::as_bytes(std::span(text))));
}

std::string identity_of(MPI_Comm comm, const planner::Plan& plan) {
  std::string identity = rank_in(comm) == 0 ? identity_of(plan) : std::string{};
  share_text(comm, 0, identity);
  return identity;
}

std::string tuned_json(const TunedSegments& tuned) {
  std::string text = fmt::format(
      "{{ \"format\": \"{}\", \"version\": {}, \"plan\": {}, \"ranks\": {}, \"hosts\": {},\n"
      "  \"slices\": [",
      kFormat, kVersion, Json(tuned.plan).dump(), tuned.ranks, tuned.hosts);
  const char* between = "\n    ";
  for (const TunedSegment& segment : tuned.segments) {
    const Json json = {{"message_bytes", segment.message_bytes},
                       {"slice_bytes", segment.segment_bytes},
                       {"median_s", segment.median_s}};
    text += between + json.dump();
    between = ",\n    ";
  }
  return text + "] }\n";
}

TunedSegments parse_tuned(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  const JsonCursor root(document, file);
  root.expect_object({"format", "version", "plan", "ranks", "hosts", "slices"});
  if (root.at("format").string() != kFormat) {
    root.at("format").refuse(fmt::format("expected '{}'", kFormat));
  }
  if (root.at("version").unsigned_integer() != kVersion) {
    root.at("version").refuse(fmt::format("this program reads version {}", kVersion));
  }
  TunedSegments tuned{
      identity_at(root.at("plan")), count_at(root.at("ranks")), count_at(root.at("hosts")), {}};
  for (const JsonCursor& segment : root.at("slices").elements()) {
    tuned.segments.push_back(segment_at(segment));
    const std::size_t count = tuned.segments.size();
    if (count > 1 &&
        tuned.segments[count - 1].message_bytes <= tuned.segments[count - 2].message_bytes) {
      segment.at("message_bytes").refuse("message sizes must ascend");
    }
  }
  return tuned;
}

std::vector<TunedSegment> segments_of(const TunedSegments& tuned, const std::string& identity,
                                      std::size_t ranks, std::size_t hosts,
                                      const std::string& file) {
  if (tuned.plan != identity) {
    throw InputError(file, "/plan",
                     "was tuned for another plan or an earlier version of this one; tune this plan "
                     "into a new file");
  }
  if (tuned.ranks != ranks) {
    throw InputError(file, "/ranks",
                     fmt::format("was tuned with {}, not {}", counted(tuned.ranks, "rank"), ranks));
  }
  if (tuned.hosts != hosts) {
    throw InputError(
        file, "/hosts",
        fmt::format("was tuned with ranks on {}, not {}", counted(tuned.hosts, "host"), hosts));
  }
  return tuned.segments;
}

void merge(std::vector<TunedSegment>& into, std::span<const TunedSegment> segments) {
  for (const TunedSegment& segment : segments) {
    const auto place = std::lower_bound(into.begin(), into.end(), segment,
                                        [](const TunedSegment& a, const TunedSegment& b) {
                                          return a.message_bytes < b.message_bytes;
                                        });
    if (place != into.end() && place->message_bytes == segment.message_bytes) {
      *place = segment;
    } else {
      into.insert(place, segment);
    }
  }
}

TunedSegments share_tuned(MPI_Comm comm, const std::string& file) {
  return parse_tuned(share_file(comm, file), display_name(file));
}

std::vector<TunedSegment> tuned_segments_from(MPI_Comm comm, const std::string& file,
                                              const planner::Plan& plan) {
  return segments_of(share_tuned(comm, file), identity_of(comm, plan),
                     static_cast<std::size_t>(size_of(comm)), count_hosts(comm),
                     display_name(file));
}

}  // namespace espalier::runtime
