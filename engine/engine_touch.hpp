// The part of the engine that notes where something may have become possible; included only by
// engine/engine.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace espalier::engine {

template <Transport T>
void Engine<T>::touch(std::size_t tree) {
  flows_[tree].touch_all_edges();
  note(flows_[tree]);
}

template <Transport T>
void Engine<T>::note(Flow& flow) {
  if (std::exchange(flow.is_touched, true)) return;
  touched_.push_back(flow.tree);
  if (flow.loads()) note_loading(flow.part);
}

template <Transport T>
void Engine<T>::note_loading(std::uint32_t index) {
  if (parts_[index].is_touched) return;
  parts_[index].is_touched = true;
  touched_parts_.push_back(index);
}

template <Transport T>
void Engine<T>::wait_for(std::size_t tree, std::size_t waiting) {
  std::vector<std::uint32_t>& trees = waiting_for_[tree];
  const auto own = static_cast<std::uint32_t>(waiting);
  if (std::ranges::find(trees, own) == trees.end()) trees.push_back(own);
}

template <Transport T>
void Engine<T>::touch_waiting(const Flow& flow) {
  if (flow.is_followed) touch_each(waiting_for_[flow.tree]);
  if (!flow.at_root || !flow.combines) return;
  Part& part = parts_[flow.part];
  if (has_finished_oldest(part)) touch_each(part.too_far);
}

template <Transport T>
void Engine<T>::touch_each(std::vector<std::uint32_t>& trees) {
  for (; !trees.empty(); trees.pop_back()) touch(trees.back());
}

template <Transport T>
void Engine<T>::touch_all() {
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) touch(tree);
}

}  // namespace espalier::engine
