// Selection files for MPICH, read by an interpreter of their operators.
#include "cost_models/decide/mpich_selection.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/text.hpp"
#include "tests/cost_models/networks.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::cost_models::mpich_selection_test {
namespace {

using espalier::testing::refusal;
using ::testing::HasSubstr;

// As the library has them, with shorter selections; the first text is a device's.
constexpr std::string_view kSelections =
    R"({"collective=bcast":{"comm_type=intra":{"comm_size=pow2":{"avg_msg_size<=12288":{)"
    R"("algorithm=MPIR_Bcast_intra_binomial":{}},"avg_msg_size=any":{)"
    R"("algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}},"comm_size=any":{)"
    R"("algorithm=MPIR_Bcast_intra_smp":{}}},"comm_type=inter":{)"
    R"("algorithm=MPIR_Bcast_inter_remote_send_local_bcast":{}}},)"
    R"("collective=reduce":{"comm_type=intra":{"algorithm=MPIR_Reduce_intra_smp":{}}},)"
    R"("collective=barrier":{"algorithm=MPIR_Barrier_intra_smp":{}},)"
    R"("collective=alltoall":{"comm_type=intra":{"is_sendbuf_inplace=yes":{)"
    R"("algorithm=MPIR_Alltoall_intra_pairwise_sendrecv_replace":{}},"is_sendbuf_inplace=no":{)"
    R"("algorithm=MPIR_Alltoall_intra_brucks":{}}}}})";
constexpr std::string_view kOlder =
    "algorithm=MPIR_Alltoall_intra_scattered\nalgorithm=MPIR_Alltoall_intra_pairwise\n"
    "algorithm=MPIR_Barrier_intra_dissemination\n";
constexpr std::string_view kNewer =
    "algorithm=MPIR_Bcast_intra_tree\nalgorithm=MPIR_Bcast_intra_pipelined_tree\n"
    "algorithm=MPIR_Barrier_intra_k_dissemination\nalgorithm=MPIR_Barrier_intra_recexch\n"
    "algorithm=MPIR_Reduce_intra_binomial\n";

MpichLibrary library_of(std::string_view names) {
  const std::string device = R"({"collective=bcast":{"composition=MPIDI_Bcast_alpha":{}}})";
  std::string bytes(
      "\x7F"
      "ELF\0",
      5);
  for (const std::string_view part : {std::string_view(device), kSelections, names}) {
    bytes.append(part).push_back('\0');
  }
  return read_mpich_library(bytes, "libmpich.so");
}

const MpichLibrary& newer() {
  static const MpichLibrary library = library_of(std::string(kOlder) + std::string(kNewer));
  return library;
}

Json selections_of(const MpichLibrary& library) {
  return parse_json(library.selections, "libmpich.so");
}

struct Call {
  std::uint64_t ranks = 2;
  std::uint64_t bytes = 0;
  bool is_in_place = false;
  bool is_inter = false;
};

bool holds(const std::string& key, const Call& call) {
  if (key.ends_with("=any")) return true;
  if (key == "comm_size=pow2") return (call.ranks & (call.ranks - 1)) == 0;
  if (key == "comm_type=intra") return !call.is_inter;
  if (key == "comm_type=inter") return call.is_inter;
  if (key == "is_sendbuf_inplace=yes") return call.is_in_place;
  if (key == "is_sendbuf_inplace=no") return !call.is_in_place;
  const std::size_t sign = key.find("<=");
  const std::string quantity = key.substr(0, sign);
  const auto limit =
      parse_whole<std::int32_t>(sign == std::string::npos ? "" : key.substr(sign + 2));
  EXPECT_TRUE(limit) << key;
  EXPECT_TRUE(quantity == "comm_size" || quantity == "avg_msg_size") << key;
  return limit &&
         (quantity == "comm_size" ? call.ranks : call.bytes) <= static_cast<std::uint64_t>(*limit);
}

// What MPICH selects: the first operator that holds, down to an algorithm. "": none, on which MPICH
// ends the program.
std::string selected(const Json& node, const Call& call) {
  for (const auto& [key, below] : node.items()) {
    if (key.starts_with("algorithm=")) return key + below.dump();
    if (holds(key, call)) return selected(below, call);
  }
  return {};
}

// As MPICH demands it: sizes end with "any", and every algorithm is the library's.
void expect_valid(const Json& node, const MpichLibrary& library) {
  ASSERT_TRUE(node.is_object() && !node.empty());
  for (const auto& [key, below] : node.items()) {
    if (key.starts_with("algorithm=")) {
      EXPECT_EQ(node.size(), 1U);
      EXPECT_TRUE(library.algorithms.contains(key)) << key;
      return;
    }
    expect_valid(below, library);
  }
  const std::string last = std::prev(node.end()).key();
  if (last.find("size") != std::string::npos) {
    EXPECT_TRUE(last.ends_with("=any")) << last;
  }
}

DecisionFunction decision_of(std::string_view operation, const MpichLibrary& library,
                             const std::vector<std::uint64_t>& ranks,
                             const std::vector<Bytes>& sizes) {
  std::vector<const FormulaEntry*> entries;
  for (const FormulaEntry& entry : formulas()) {
    if (entry.operation == operation && entry.model() == "loggp") entries.push_back(&entry);
  }
  const std::vector<Bytes> segments{{0}, {1024}, {8192}};
  return decide(methods_of(entries, segments), frodo("loggp"), {ranks, sizes, {}},
                [&](const Prediction& one) {
                  return mpich_algorithm(one, one.of.ranks, library).has_value();
                });
}

constexpr const char* key_of(std::string_view operation) {
  if (operation == "broadcast") return "collective=bcast";
  if (operation == "reduce") return "collective=reduce";
  return operation == "barrier" ? "collective=barrier" : "collective=alltoall";
}

// The last of an ascending list that does not exceed `value`.
template <class Value>
std::optional<std::size_t> cell_of(const std::vector<Value>& all, const Value& value) {
  const auto after = std::ranges::upper_bound(all, value);
  if (after == all.begin() || (after == all.end() && value > all.back())) return std::nullopt;
  return static_cast<std::size_t>(after - all.begin()) - 1;
}

class MpichSelection : public ::testing::TestWithParam<std::string_view> {};

TEST_P(MpichSelection, SelectsWhatIsDecidedAndElseItsOwn) {
  const std::string_view operation = GetParam();
  const bool is_barrier = operation == "barrier";
  const std::vector<std::uint64_t> ranks{3, 4, 9, 16};
  const std::vector<Bytes> sizes =
      is_barrier ? std::vector<Bytes>{{0}} : std::vector<Bytes>{{1}, {1024}, {65536}, {1048576}};
  const DecisionFunction decision = decision_of(operation, newer(), ranks, sizes);
  const Json file = parse_json(mpich_selection(decision, newer()), "selection.json");
  expect_valid(file, newer());
  const Json& chosen = file.at(key_of(operation));
  const Json own = selections_of(newer()).at(key_of(operation));
  for (std::uint64_t n = 1; n <= 18; ++n) {
    for (const std::uint64_t bytes : {0, 1, 2, 1023, 1024, 65535, 65536, 1048576, 1048577}) {
      const Call call{n, bytes};
      const auto row = cell_of(ranks, n);
      const auto column = is_barrier ? 0 : cell_of(sizes, Bytes{bytes});
      std::string expected = selected(own, call);
      if (row && column) {
        const Prediction& best = decision.best[*row * sizes.size() + *column];
        const std::uint64_t most = *row + 1 < ranks.size() ? ranks[*row + 1] - 1 : ranks[*row];
        if (best.entry != nullptr) {
          expected = selected(*mpich_algorithm(best, most, newer()), call);
        }
      }
      EXPECT_EQ(selected(chosen, call), expected) << n << " ranks, " << bytes << " bytes";
    }
  }
}

TEST_P(MpichSelection, LeavesTheRestToTheLibrary) {
  const DecisionFunction decision = decision_of(GetParam(), newer(), {2, 4}, {{0}});
  Json file = parse_json(mpich_selection(decision, newer()), "selection.json");
  Json own = selections_of(newer());
  const Call inter{.is_inter = true};
  EXPECT_EQ(selected(file.at(key_of(GetParam())), inter),
            selected(own.at(key_of(GetParam())), inter));
  file.erase(key_of(GetParam()));
  own.erase(key_of(GetParam()));
  EXPECT_EQ(file, own);
}

INSTANTIATE_TEST_SUITE_P(Operations, MpichSelection,
                         ::testing::Values("alltoall", "barrier", "broadcast", "reduce"));

TEST(MpichAlgorithm, HasItsParameters) {
  const auto text = [](const char* operation, const char* algorithm, std::uint64_t segment,
                       const MpichLibrary& library) {
    Prediction one{&entry_of(operation, algorithm, "loggp"), {}, {}};
    one.of.segment = {segment};
    const auto found = mpich_algorithm(one, 7, library);
    return found ? found->dump() : "";
  };
  EXPECT_EQ(text("broadcast", "pipeline", 8192, newer()),
            R"({"algorithm=MPIR_Bcast_intra_pipelined_tree":{"tree_type=kary":{},"k=1":{},)"
            R"("chunk_size=8192":{},"is_non_blocking=0":{},"recv_pre_posted=0":{}}})");
  EXPECT_EQ(text("broadcast", "linear", 0, newer()),
            R"({"algorithm=MPIR_Bcast_intra_tree":{"tree_type=kary":{},"k=6":{},)"
            R"("is_non_blocking=0":{}}})");
  EXPECT_EQ(text("broadcast", "linear", 1024, newer()), "");
  EXPECT_EQ(text("broadcast", "binomial", 1024, newer()), "");
  EXPECT_EQ(text("broadcast", "two-tree", 0, newer()), "");
  EXPECT_EQ(text("broadcast", "binary", std::uint64_t{1} << 31U, newer()), "");
  EXPECT_EQ(text("barrier", "bruck", 0, newer()),
            R"({"algorithm=MPIR_Barrier_intra_k_dissemination":{"k=2":{}}})");
  const MpichLibrary older = library_of(kOlder);
  EXPECT_EQ(text("barrier", "bruck", 0, older),
            R"({"algorithm=MPIR_Barrier_intra_dissemination":{}})");
  EXPECT_EQ(text("broadcast", "binomial", 0, older),  // which its selections name
            R"({"algorithm=MPIR_Bcast_intra_binomial":{}})");
  EXPECT_EQ(text("broadcast", "pipeline", 8192, older), "");
}

TEST(MpichSelectionFile, KeepsInPlaceAlltoallsInPlace) {
  const DecisionFunction decision = decision_of("alltoall", newer(), {4}, {{1}, {1024}});
  const Json file = parse_json(mpich_selection(decision, newer()), "selection.json");
  EXPECT_THAT(selected(file.at("collective=alltoall"), {4, 100, true}),
              HasSubstr("pairwise_sendrecv_replace"));
}

// MPICH maps the file and reads on to a zero.
TEST(MpichSelectionFile, DoesNotEndWithAPage) {
  MpichLibrary library = newer();
  const DecisionFunction decision = decision_of("reduce", library, {4}, {{1024}});
  const auto with_scan = [&](std::size_t letters) {
    Json selections = selections_of(newer());
    selections["collective=scan"] =
        Json{{"algorithm=" + std::string(letters, 'x'), Json::object()}};
    library.selections = selections.dump();
    return mpich_selection(decision, library);
  };
  const std::string text = with_scan(4096 - with_scan(0).size() % 4096);
  EXPECT_EQ(text.size() % 4096, 1U);
  EXPECT_TRUE(text.ends_with("}\n\n"));
}

TEST(MpichSelectionFile, Refuses) {
  EXPECT_EQ(refusal([] { read_mpich_library("algorithm=MPIR_Bcast_intra_binomial", "x.so"); }),
            "x.so: has no selections of MPICH 4; name its libmpich.so");
  EXPECT_THAT(
      refusal([] { read_mpich_library(R"({"collective=a":{"algorithm=MPIR_A":})", "x.so"); }),
      HasSubstr("x.so"));
  const std::uint64_t large = std::uint64_t{1} << 31U;
  EXPECT_EQ(
      refusal([&] { mpich_selection(decision_of("broadcast", newer(), {4}, {{large}}), newer()); }),
      "2147483648 bytes: MPICH selects by message sizes below 2 GiB");
  MpichLibrary library = newer();
  library.selections = R"({"collective=bcast":{}})";
  EXPECT_EQ(
      refusal([&] { mpich_selection(decision_of("reduce", library, {4}, {{1024}}), library); }),
      "the library has no selection of collective=reduce");
}

}  // namespace
}  // namespace espalier::cost_models::mpich_selection_test
