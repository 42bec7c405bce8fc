#include "simulate/model/processors.hpp"

namespace espalier::simulate {

Processors::Processors(const Task& task, std::size_t resources, Agenda& agenda,
                       const OnSend& on_send)
    : task_(task),
      agenda_(agenda),
      on_send_(on_send),
      resources_(resources),
      trees_(task.flows.trees()),
      full_(agenda.ticks(task.combining.full_s)),
      take_time_(task.combining.full_s > 0) {
  if (!take_time_) return;
  for (std::uint32_t tree = 0; tree < trees_; ++tree) {
    last_.push_back(agenda.ticks(task.last_combining(tree)));
  }
  sums_.resize(task.flows.hosts() * trees_);
  arrived_.resize(task.flows.all().size(), 0);
  processors_.resize(task.flows.hosts(), {{}, static_cast<std::uint32_t>(trees_)});
}

void Processors::arrive(std::uint32_t flow) {
  ++arrived_[flow];
  const Flow& edge = task_.flows.all()[flow];
  if (!can_add(edge.parent, edge.tree)) return;
  Processor& processor = processors_[edge.parent];
  if (processor.is_busy && processor.tree == edge.tree) return;  // end() checks it
  processor.ready.insert(edge.tree);
  if (!processor.is_busy) woken_.push_back(edge.parent);
}

std::uint32_t Processors::end(std::uint32_t host) {
  Processor& processor = processors_[host];
  const std::uint32_t tree = processor.tree;
  processor.is_busy = false;
  const auto [first, last] = task_.flows.below(host, tree);
  Sum& sum = sums_[host * trees_ + tree];
  const std::uint32_t flow = first + sum.added;
  if (++sum.added == last - first) sum = {sum.combined + 1, 0};
  if (can_add(host, tree)) processor.ready.insert(tree);
  woken_.push_back(host);
  return flow;
}

// Serves the trees in turns; a processor that was idle begins with the first tree.
void Processors::begin_woken() {
  for (const std::uint32_t host : woken_) {
    Processor& processor = processors_[host];
    if (processor.is_busy) continue;
    if (processor.ready.empty()) {
      processor.tree = static_cast<std::uint32_t>(trees_);
      continue;
    }
    auto next = processor.ready.upper_bound(processor.tree);
    if (next == processor.ready.end()) next = processor.ready.begin();
    processor.tree = *next;
    processor.ready.erase(next);
    processor.is_busy = true;
    const bool is_short =
        task_.is_short(processor.tree, sums_[host * trees_ + processor.tree].combined);
    if (on_send_.wants(++begun_)) report(host, is_short);
    agenda_.add(Event::Kind::kCombined, is_short ? last_[processor.tree] : full_, host);
  }
  woken_.clear();
}

void Processors::report(std::uint32_t host, bool is_short) const {
  const std::uint32_t tree = processors_[host].tree;
  const Flow& flow = task_.flows.all()[next_of(host, tree)];
  const Holding held{static_cast<std::uint32_t>(resources_) + host,
                     is_short ? task_.last_combining(tree) : task_.combining.full_s};
  on_send_({Send::Kind::kCombining,
            tree,
            flow.parent,
            flow.child,
            sums_[host * trees_ + tree].combined,
            {agenda_.seconds(agenda_.now())},
            {&held, 1}});
}

}  // namespace espalier::simulate
