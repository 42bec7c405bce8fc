# shellcheck shell=bash
# Cases of command_line_test.sh: a broadcast to some of the ranks, of which another one helps.

test_helpers() {
  helped >helped.json
  for size in 0 1 9999 10001 1MB; do
    ranks 4 bcast helped.json --message $size --verify --repeat 3
    done_well
    says 'to 2 of 4 ranks, 2 trees, segments of'
    says '^verified'
  done
  ranks 4 bcast helped.json --message 1MB --verify --window 1 --receives 1 --segment 77 --compare-mpi-bcast; done_well
  ranks 4 bench helped.json --sizes 0,5,100kB --repeat 2 --verify; done_well
  # A rank that only helps writes nothing, whatever its buffers held.
  for size in 0 9999 12345678; do
    head -c $size /dev/urandom >in
    ranks 4 bcast helped.json --in in --out 'out{rank}' --verify; done_well
    for rank in 0 2 3; do cmp in "out$rank" || fail "out$rank differs"; done
    [ ! -e out1 ] || fail "the helper wrote a file"
    [ -z "$(find . -name '.espalier*')" ] || fail "a temporary file is left"
    rm -f out?
  done
  ranks 4 bcast helped.json --in in --out 'out{rank}' --resume
  refused 2 "--resume is for plans in which all ranks get the message; this has helpers"
  ranks 3 bcast helped.json --message 1MB; refused 2 "the plan has 4 nodes, but 3 ranks"
  ranks 4 reduce helped.json --message 1MB; refused 2 "the plan is for a broadcast, not for a reduce"
}
