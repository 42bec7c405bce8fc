#include "simulate/export/chakra.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::simulate {

namespace {

void append_varint(std::string& text, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) text += static_cast<char>((value & 0x7fU) | 0x80U);
  text += static_cast<char>(value);
}

// A message in protobuf's wire format (https://protobuf.dev/programming-guides/encoding/).
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    append_varint(text_, field << 3U);  // wire type 0: varint
    append_varint(text_, value);
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view value) {
    append_varint(text_, (field << 3U) | 2U);  // wire type 2: length-delimited
    append_varint(text_, value.size());
    text_ += value;
    return *this;
  }
  Message& numbers(std::uint32_t field, const std::vector<std::uint64_t>& values) {
    if (values.empty()) return *this;
    std::string packed;
    for (const std::uint64_t value : values) append_varint(packed, value);
    return text(field, packed);
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  // In a file of messages.
  void append_to(std::string& file) const {
    append_varint(file, text_.size());
    file += text_;
  }

 private:
  std::string text_;
};

// Numbers of fields and enumerators: et_def.proto.
enum MetadataField : std::uint32_t { kVersion = 1, kMetadataAttribute = 2 };
enum NodeField : std::uint32_t { kId = 1, kName = 2, kType = 3, kDataDeps = 5, kAttribute = 10 };
enum AttributeField : std::uint32_t {
  kAttributeName = 1,
  kInt32 = 5,
  kInt64 = 7,
  kBool = 27,
  kString = 29
};
constexpr std::uint64_t kSendNode = 5;
constexpr std::uint64_t kReceiveNode = 6;

Message attribute(std::string_view name, AttributeField kind, std::uint64_t value) {
  return Message().text(kAttributeName, name).number(kind, value);
}

Message metadata_of(const planner::Plan& plan, const Transfers& transfers, std::size_t rank) {
  const auto described = [](std::string_view name, std::string_view value) {
    return Message().text(kAttributeName, name).text(kString, value).text();
  };
  return Message()
      .text(kVersion, "0.0.4")
      .text(kMetadataAttribute, described("plan", title_of(plan, transfers)))
      .text(kMetadataAttribute, described("host", plan.nodes[rank]));
}

Message node_of(const Transfer& transfer, std::uint64_t tag, std::uint64_t id,
                const std::vector<std::uint64_t>& after, bool sends) {
  const std::string name = sends ? fmt::format("send {} to {}", tag, transfer.to)
                                 : fmt::format("receive {} from {}", tag, transfer.from);
  return Message()
      .number(kId, id)
      .text(kName, name)
      .number(kType, sends ? kSendNode : kReceiveNode)
      .numbers(kDataDeps, after)
      .text(kAttribute, attribute("is_cpu_op", kBool, 0).text())
      .text(kAttribute, attribute("comm_size", kInt64, transfer.bytes).text())
      .text(kAttribute, attribute("comm_src", kInt32, transfer.from).text())
      .text(kAttribute, attribute("comm_dst", kInt32, transfer.to).text())
      .text(kAttribute, attribute("comm_tag", kInt32, tag).text());
}

}  // namespace

std::vector<ExportedFile> chakra_traces(const planner::Plan& plan, const Transfers& transfers) {
  std::vector<ExportedFile> files(transfers.ranks);
  for (std::size_t rank = 0; rank < transfers.ranks; ++rank) {
    files[rank].name = fmt::format("plan.{}.et", rank);
    metadata_of(plan, transfers, rank).append_to(files[rank].text);
  }
  std::vector<std::uint64_t> next(transfers.ranks, 0);             // of each rank: node
  std::vector<std::uint64_t> receive_of(transfers.all.size(), 0);  // of each transfer: node
  std::vector<std::uint64_t> send_of(receive_of);
  for (std::size_t i = 0; i < transfers.all.size(); ++i) {
    const Transfer& transfer = transfers.all[i];
    const std::uint64_t tag = transfers.tag_of(transfer);
    std::vector<std::uint64_t> after;
    for (const std::size_t earlier : transfer.after) after.push_back(receive_of[earlier]);
    if (transfer.behind) after.push_back(send_of[*transfer.behind]);
    send_of[i] = next[transfer.from]++;
    node_of(transfer, tag, send_of[i], after, true).append_to(files[transfer.from].text);
    receive_of[i] = next[transfer.to]++;
    node_of(transfer, tag, receive_of[i], {}, false).append_to(files[transfer.to].text);
  }
  return files;
}

}  // namespace espalier::simulate
