// Messages one by one in plain loops: what the formulas claim to sum up.
#pragma once

#include <cstddef>
#include <vector>

namespace espalier::cost_models {

// What a model says of one message of a fixed size, in seconds.
struct Message {
  double spacing;   // from the start of a send to the sender's next one
  double delivery;  // from the start of a send until it has arrived
};

// children[v]: to whom v sends, in order; rank 0 is the root. A rank's number is below its
// children's.
using Children = std::vector<std::vector<std::size_t>>;
Children flat_tree(std::size_t ranks);
Children chain(std::size_t ranks);
Children binary_tree(std::size_t ranks);
Children binomial_tree(std::size_t ranks);  // largest subtree first

// When the last rank has the last of the segments: each is sent to all children in turn as soon as
// it is there.
double pipelined_s(const Children& children, std::size_t segments, Message segment);
// The same when a rank sends nothing before it has all segments, and each child gets all of them
// before the next child gets any.
double store_and_forward_s(const Children& children, std::size_t segments, Message segment);

// Rank i sends its segments to all others, segment by segment, and rank i + 1 begins when it has
// all of rank i's. When the last message is there.
double linear_alltoall_s(std::size_t ranks, std::size_t segments, Message segment);

// A tree towards the root: a parent takes in one segment after the other, child by child,
// `segment_s` each.
double pipelined_reduce_s(const Children& children, std::size_t segments, double segment_s);

}  // namespace espalier::cost_models
