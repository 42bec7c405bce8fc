#include "planner/plan/plan_bytes.hpp"

#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace espalier::planner {

namespace {

// Of values without padding, whose bytes are the same if the values are.
template <class Value>
concept Plain = std::has_unique_object_representations_v<Value> || std::is_same_v<Value, double> ||
    std::is_same_v<Value, Seconds>;

class Writer {
 public:
  template <Plain Value>
  void operator()(const Value& value) {
    append(&value, sizeof value);
  }
  void operator()(const std::string& text) { list(text); }
  template <class Value>
  void operator()(const std::optional<Value>& value) {
    (*this)(value.has_value());
    if (value) walk(*this, *value);
  }
  template <class Value>
  void operator()(const std::vector<Value>& values) {
    if constexpr (Plain<Value>) {
      list(values);
    } else {
      (*this)(std::uint64_t{values.size()});
      for (const Value& value : values) walk(*this, value);
    }
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <class List>
  void list(const List& values) {
    (*this)(std::uint64_t{values.size()});
    append(values.data(), values.size() * sizeof(typename List::value_type));
  }
  void append(const void* from, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(from), size);
  }
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <Plain Value>
  void operator()(Value& value) {
    take(&value, sizeof value);
  }
  void operator()(std::string& text) { list(text); }
  template <class Value>
  void operator()(std::optional<Value>& value) {
    bool has_value = false;
    (*this)(has_value);
    if (has_value) walk(*this, value.emplace());
  }
  template <class Value>
  void operator()(std::vector<Value>& values) {
    if constexpr (Plain<Value>) {
      list(values);
    } else {
      values.resize(count(1));
      for (Value& value : values) walk(*this, value);
    }
  }
  [[nodiscard]] bool is_at_end() const { return bytes_.empty(); }

 private:
  template <class List>
  void list(List& values) {
    constexpr std::size_t kSize = sizeof(typename List::value_type);
    values.resize(count(kSize));
    take(values.data(), values.size() * kSize);
  }
  // How many values of at least `size` bytes follow.
  std::size_t count(std::size_t size) {
    std::uint64_t count = 0;
    (*this)(count);
    if (count > bytes_.size() / size) throw std::invalid_argument("bytes of a plan are missing");
    return count;
  }
  void take(void* to, std::size_t size) {
    if (size > bytes_.size()) throw std::invalid_argument("bytes of a plan are missing");
    if (size > 0) std::memcpy(to, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  std::string_view bytes_;
};

// The fields, once for both directions: archive is a Writer, or a Reader of what is not const.

template <class Value, class Type>
concept Is = std::is_same_v<std::remove_const_t<Value>, Type>;

void walk(auto& archive, Is<std::string> auto& text) {
  archive(text);
}

void walk(auto& archive, Is<double> auto& number) {
  archive(number);
}

void walk(auto& archive, Is<std::uint32_t> auto& number) {
  archive(number);
}

void walk(auto& archive, Is<BytesPerSecond> auto& rate) {
  archive(rate.value);
}

void walk(auto& archive, Is<PlanTree> auto& tree) {
  archive(tree.rate.value);
  archive(tree.edges);
  archive(tree.colors);
  archive(tree.exchange);
  archive(tree.latencies);
}

void walk(auto& archive, Is<ScheduledSend> auto& send) {
  archive(send.tree);
  archive(send.parent);
  archive(send.child);
  archive(send.start);
  archive(send.time);
  archive(send.bytes);
}

void walk(auto& archive, Is<PlanSchedule> auto& schedule) {
  archive(schedule.period);
  archive(schedule.throughput.value);
  archive(schedule.segments);
  archive(schedule.sends);
}

void walk(auto& archive, Is<PlanBlock> auto& block) {
  archive(block.kind);
  archive(block.root);
  archive(block.share);
  archive(block.after);
  archive(block.trees);
  archive(block.to);
  archive(block.members);
}

void walk(auto& archive, Is<PlanCost> auto& cost) {
  archive(cost.per_GB);
  archive(cost.per_hour);
  archive(cost.budget_per_GB);
  archive(cost.currency);
}

void walk(auto& archive, Is<Plan> auto& plan) {
  archive(plan.operation);
  archive(plan.platform);
  archive(plan.source);
  archive(plan.model);
  archive(plan.algorithm);
  archive(plan.nodes);
  archive(plan.segment.value);
  archive(plan.throughput.value);
  archive(plan.optimum);
  archive(plan.latency_occupies);
  archive(plan.reduce_trees);
  archive(plan.broadcast_trees);
  archive(plan.schedule);
  archive(plan.blocks);
  archive(plan.cost);
}

}  // namespace

std::string to_bytes(const Plan& plan) {
  Writer writer;
  walk(writer, plan);
  return writer.take();
}

Plan from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  Plan plan;
  walk(reader, plan);
  if (!reader.is_at_end()) throw std::invalid_argument("more bytes than a plan has");
  return plan;
}

}  // namespace espalier::planner
