#include "cost_models/decide/mpich_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

constexpr std::string_view kAlgorithm = "algorithm=";
constexpr std::string_view kIntra = "comm_type=intra";
constexpr std::string_view kInter = "comm_type=inter";
constexpr std::uint64_t kMostMpichBytes = std::numeric_limits<std::int32_t>::max();  // MPICH's atoi

struct MpichCollective {
  std::string_view operation;
  const char* key;
};
constexpr std::array kMpichCollectives{MpichCollective{"alltoall", "collective=alltoall"},
                                       MpichCollective{"barrier", "collective=barrier"},
                                       MpichCollective{"broadcast", "collective=bcast"},
                                       MpichCollective{"reduce", "collective=reduce"}};

enum class Tree : std::uint8_t { kNone, kChain, kBinary, kFlat };

struct Known {
  std::string_view operation;
  std::string_view algorithm;
  bool cuts;
  std::string_view name;       // MPICH's
  Tree tree = Tree::kNone;     // a tree's shape, of which k is a parameter
  std::string_view further{};  // parameters, separated by commas
};
// Of two for one method, the library has the first in newer versions.
constexpr std::array kKnown{
    Known{"alltoall", "linear", false, "MPIR_Alltoall_intra_scattered"},
    Known{"alltoall", "pairwise", false, "MPIR_Alltoall_intra_pairwise"},
    Known{"barrier", "bruck", false, "MPIR_Barrier_intra_k_dissemination", Tree::kNone, "k=2"},
    Known{"barrier", "bruck", false, "MPIR_Barrier_intra_dissemination"},
    Known{"barrier", "recursive-doubling", false, "MPIR_Barrier_intra_recexch", Tree::kNone,
          "k=2,single_phase_recv=0"},
    Known{"broadcast", "linear", false, "MPIR_Bcast_intra_tree", Tree::kFlat, "is_non_blocking=0"},
    Known{"broadcast", "pipeline", false, "MPIR_Bcast_intra_tree", Tree::kChain,
          "is_non_blocking=0"},
    Known{"broadcast", "pipeline", true, "MPIR_Bcast_intra_pipelined_tree", Tree::kChain,
          "is_non_blocking=0,recv_pre_posted=0"},
    Known{"broadcast", "binary", false, "MPIR_Bcast_intra_tree", Tree::kBinary,
          "is_non_blocking=0"},
    Known{"broadcast", "binary", true, "MPIR_Bcast_intra_pipelined_tree", Tree::kBinary,
          "is_non_blocking=0,recv_pre_posted=0"},
    Known{"broadcast", "binomial", false, "MPIR_Bcast_intra_binomial"},
    Known{"reduce", "binomial", false, "MPIR_Reduce_intra_binomial"}};

std::uint64_t degree_of(Tree tree, std::uint64_t most_ranks) {
  if (tree == Tree::kChain) return 1;
  if (tree == Tree::kBinary) return 2;
  return std::max<std::uint64_t>(most_ranks, 2) - 1;
}

Json parameters_of(const Known& known, Bytes segment, std::uint64_t most_ranks) {
  Json parameters = Json::object();
  if (known.tree != Tree::kNone) {
    parameters["tree_type=kary"] = Json::object();
    parameters[fmt::format("k={}", degree_of(known.tree, most_ranks))] = Json::object();
  }
  if (segment.value > 0) {
    parameters[fmt::format("chunk_size={}", segment.value)] = Json::object();
  }
  for (std::string_view rest = known.further; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    parameters[std::string(rest.substr(0, end))] = Json::object();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return parameters;
}

// What is selected from a number of ranks, or of bytes, on.
struct Step {
  std::uint64_t from;
  Json selected;
};

// As operators of which the first that holds counts: "comm_size<=7", "comm_size=any".
Json branches(std::string_view quantity, const std::vector<Step>& steps) {
  std::vector<const Step*> changes;
  for (const Step& step : steps) {
    if (!changes.empty() && step.from == changes.back()->from) changes.pop_back();
    if (changes.empty() || changes.back()->selected != step.selected) changes.push_back(&step);
  }
  if (changes.size() == 1) return changes.front()->selected;
  Json all = Json::object();
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    all[fmt::format("{}<={}", quantity, changes[i + 1]->from - 1)] = changes[i]->selected;
  }
  all[fmt::format("{}=any", quantity)] = changes.back()->selected;
  return all;
}

// One number of ranks, and those up to `most_ranks`, that has the same choices.
Json of_row(const DecisionFunction& decision, std::size_t row, std::uint64_t most_ranks,
            const MpichLibrary& library, const Json& own) {
  const std::vector<Bytes>& messages = decision.grid.messages;
  std::vector<Step> steps{{0, own}};
  for (std::size_t c = 0; c < messages.size(); ++c) {
    const Prediction& best = decision.best[row * messages.size() + c];
    const auto known =
        best.entry == nullptr ? std::nullopt : mpich_algorithm(best, most_ranks, library);
    steps.push_back({messages[c].value, known.value_or(own)});
  }
  if (messages.back().value > kMostMpichBytes) {
    throw InputError(
        fmt::format("{} bytes: MPICH selects by message sizes below 2 GiB", messages.back().value));
  }
  if (operation_of(decision) == "barrier") return steps.back().selected;
  steps.push_back({messages.back().value + 1, own});
  return branches("avg_msg_size", steps);
}

Json of_intra(const DecisionFunction& decision, const MpichLibrary& library, const Json& own) {
  const std::vector<std::uint64_t>& ranks = decision.grid.ranks;
  std::vector<Step> steps{{0, own}};
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    const std::uint64_t most = row + 1 < ranks.size() ? ranks[row + 1] - 1 : ranks[row];
    steps.push_back({ranks[row], of_row(decision, row, most, library, own)});
  }
  steps.push_back({ranks.back() + 1, own});
  return branches("comm_size", steps);
}

Json parsed(const std::string& selections, const std::string& file) {
  return parse_json(selections, file, DuplicateKeys::kFirstCounts);
}

}  // namespace

MpichLibrary read_mpich_library(std::string_view bytes, const std::string& file) {
  MpichLibrary library;
  for (std::size_t at = bytes.find(kAlgorithm); at != std::string_view::npos;
       at = bytes.find(kAlgorithm, at + 1)) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=";
    const std::size_t end = std::min(bytes.find_first_not_of(kLetters, at), bytes.size());
    library.algorithms.emplace(bytes.substr(at, end - at));
  }
  constexpr std::string_view kBegin = "{\"collective=";
  for (std::size_t at = bytes.find(kBegin); at != std::string_view::npos;
       at = bytes.find(kBegin, at + 1)) {
    const std::string_view text = bytes.substr(at, bytes.find('\0', at) - at);
    // Others are of devices, and select compositions.
    if (text.find("algorithm=MPIR_") == std::string_view::npos) continue;
    library.selections = text;
    static_cast<void>(parsed(library.selections, file));
    return library;
  }
  throw InputError(file, {}, "has no selections of MPICH 4; name its libmpich.so");
}

std::optional<Json> mpich_algorithm(const Prediction& prediction, std::uint64_t most_ranks,
                                    const MpichLibrary& library) {
  const Bytes segment = prediction.of.segment;
  if (segment.value > kMostMpichBytes) return std::nullopt;
  for (const Known& known : kKnown) {
    const std::string key = fmt::format("{}{}", kAlgorithm, known.name);
    if (known.operation != prediction.entry->operation ||
        known.algorithm != prediction.entry->algorithm || known.cuts != (segment.value > 0) ||
        !library.algorithms.contains(key)) {
      continue;
    }
    return Json{{key, parameters_of(known, segment, most_ranks)}};
  }
  return std::nullopt;
}

std::string mpich_selection(const DecisionFunction& decision, const MpichLibrary& library) {
  const auto* const collective =
      std::ranges::find(kMpichCollectives, operation_of(decision), &MpichCollective::operation);
  if (collective == kMpichCollectives.end()) throw std::invalid_argument("an unknown operation");
  Json all = parsed(library.selections, {});
  const Json own = all.value(collective->key, Json());
  if (!own.is_object()) {
    throw InputError(fmt::format("the library has no selection of {}", collective->key));
  }
  const bool has_kinds = own.contains(kIntra);
  const Json own_intra = has_kinds ? own.at(std::string(kIntra)) : own;
  Json intra = of_intra(decision, library, own_intra);
  if (collective->operation == "alltoall") {  // in place others do not work
    intra = Json{{"is_sendbuf_inplace=yes", own_intra}, {"is_sendbuf_inplace=no", intra}};
  }
  Json chosen = Json::object();
  chosen[std::string(kIntra)] = std::move(intra);
  if (!has_kinds) chosen[std::string(kInter)] = own;
  if (own.contains(kInter)) chosen[std::string(kInter)] = own.at(std::string(kInter));
  all[collective->key] = std::move(chosen);
  std::string text = all.dump(1) + '\n';
  // MPICH maps the file and reads on to a zero, which a whole number of pages lacks.
  constexpr std::size_t kPage = 4096;
  if (text.size() % kPage == 0) text += '\n';
  return text;
}

}  // namespace espalier::cost_models
