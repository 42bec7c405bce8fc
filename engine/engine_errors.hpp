// The part of the engine that says what failed and what is waited for; included only by
// engine/engine.hpp.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/operation_names.hpp"

namespace espalier::engine {

template <Transport T>
std::string Engine<T>::describe(const Operation& operation) const {
  std::optional<std::uint64_t> index;
  if (!flows_[operation.tree].is_abort_marker(operation.nth)) {
    index = part_of(operation.tree).segment_of(operation.tree, operation.nth);
  }
  Operation numbered = operation;
  numbered.tree = static_cast<std::uint32_t>(roles_[operation.tree].number);
  return name_of(numbered, index, transport_.peer_of(operation));
}

template <Transport T>
std::string Engine<T>::context() const {
  return fmt::format("rank {}, ", transport_.rank());
}

template <Transport T>
std::vector<Operation> Engine<T>::outstanding() const {
  std::vector<Operation> all;
  const auto add = [&](const Operation& operation) {
    if (!transport_.is_complete(operation)) all.push_back(operation);
  };
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    const Flow& flow = flows_[tree];
    for (std::size_t edge = 0; edge < flow.in.size(); ++edge) {
      const Flow::In& in = flow.in[edge];
      for (std::uint64_t nth = in.here; nth < in.posted; ++nth) add(receive_of(tree, edge, nth));
    }
    for (std::size_t edge = 0; edge < flow.out.size(); ++edge) {
      const Flow::Out& out = flow.out[edge];
      for (std::uint64_t nth = out.sent; nth < out.started; ++nth) add(send_of(tree, edge, nth));
    }
  }
  return all;
}

template <Transport T>
void Engine<T>::fail(const Completion& completion) {
  if (!completion.operation.is_send) transport_.await_check();
  transport_.fail(completion.error,
                  context() + describe(completion.operation) +
                      others_of(outstanding(), [this](const auto& of) { return describe(of); }));
}

template <Transport T>
void Engine<T>::give_up() {
  transport_.give_up(waiting_for(
      outstanding(), [this](const auto& of) { return describe(of); },
      transport_.is_checked() ? std::string() : std::string(transport_.check_name())));
}

}  // namespace espalier::engine
