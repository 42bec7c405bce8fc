// Simulates messages one by one in plain loops, as a reference for the formulas.
#pragma once

#include <cstddef>
#include <vector>

namespace espalier::cost_models {

// The times of a message of a fixed size in a model, in seconds.
struct Message {
  double spacing;   // from the start of a send to the sender's next one
  double delivery;  // from the start of a send until it has arrived
};

// children[v]: the ranks to which v sends, in order. Rank 0 is the root. A rank's number is less
// than those of its children.
using Children = std::vector<std::vector<std::size_t>>;
Children flat_tree(std::size_t ranks);
Children chain(std::size_t ranks);
Children binary_tree(std::size_t ranks);
Children binomial_tree(std::size_t ranks);  // largest subtree first

// The time at which the last rank has the last segment. Each segment is sent to all children, one
// after another, as soon as it has arrived.
double pipelined_s(const Children& children, std::size_t segments, Message segment);
// The same if a rank sends only when it has all segments, and sends all of them to one child before
// the next child.
double store_and_forward_s(const Children& children, std::size_t segments, Message segment);

// The time at which the last message has arrived. Rank i sends its segments to all others, segment
// by segment; rank i + 1 begins when it has all of rank i's.
double linear_alltoall_s(std::size_t ranks, std::size_t segments, Message segment);

// A reduction towards the root: a parent receives one segment at a time, child by child; each takes
// `segment_s`.
double pipelined_reduce_s(const Children& children, std::size_t segments, double segment_s);

}  // namespace espalier::cost_models
