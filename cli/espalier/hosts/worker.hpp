// What `espalier run` starts on each host: it takes orders from standard input and answers on
// standard output, both as lines of JSON, and pulls the message from its peers over TCP.
//
//   supervisor                                     worker
//   prepare: rank, in, out, token             ->
//                                            <-  ready: port; on the source the message's facts
//   open: the message's facts                 ->
//                                            <-  opened: segments that it has
//   start: all addresses                      ->
//                            alive: segments, each second from the beginning to the end
//                                            <-  lost: a peer that it does not reach
//   dead: a rank                              ->
//                                            <-  done: whether it is whole, checksum
//   commit                                    ->
//                                            <-  committed
//                                            <-  failed, at any time: this worker cannot go on
//
// It ends with its input, so that no worker outlives its supervisor for long.
#pragma once

#include "support/errors.hpp"

namespace espalier::cli {

ExitStatus run_worker();

}  // namespace espalier::cli
