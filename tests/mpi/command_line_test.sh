#!/usr/bin/env bash
# espalier-mpi as a user runs it: what it says, what it returns, what it leaves behind.
# Usage: command_line_test.sh CASE ESPALIER_MPI MPIEXEC DAMAGING_NETWORK   (CASE: a function below, test_...)
set -u
case_name=$1 program=$2 mpiexec=$3 damaging_network=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# ranks N ARGS...: runs the program on N ranks; output in $work/stdout and stderr, status in $status.
ranks() {
  local count=$1; shift
  "$mpiexec" -n "$count" "$program" "$@" >stdout 2>stderr </dev/null
  status=$?
}

# refused STATUS TEXT: the last run ended so, and said so once, in one line of ours.
refused() {
  [ "$status" -eq "$1" ] || { fail "status $status, not $1"; cat stderr; }
  [ "$(grep -c '^espalier-mpi: ' stderr)" -eq 1 ] || { fail "not one line of ours"; cat stderr; }
  grep '^espalier-mpi: ' stderr | grep -qF -- "$2" || { fail "does not say '$2'"; cat stderr; }
  [ -s stdout ] && { fail "wrote to stdout"; cat stdout; }
  leaves_nothing
}

done_well() { [ "$status" -eq 0 ] || { fail "status $status"; cat stdout stderr; }; }
says() { grep -qE -- "$1" stdout || { fail "stdout lacks '$1'"; cat stdout; }; }

# No output, no temporary.
leaves_nothing() {
  local found
  found=$(find . -name 'out*' -o -name '.espalier*')
  [ -z "$found" ] || fail "left behind: $found"
}

# plan NODES TREE...: a plan file on stdout; a tree is "RATE EDGE,EDGE...", an edge "[0, 1]" without blanks.
plan() {
  local nodes=$1; shift
  local names='"n0"' trees='' sum=0 i tree
  for ((i = 1; i < nodes; i++)); do names+=", \"n$i\""; done
  for tree in "$@"; do
    trees+="${trees:+, }{\"rate_Bps\": ${tree%% *}, \"edges\": [${tree#* }]}"
    sum=$((sum + ${tree%% *}))
  done
  cat <<END
{"format": "espalier-plan", "version": 1, "operation": "broadcast", "platform": "test", "source": "n1",
 "model": "one-port", "algorithm": "by hand", "nodes": [$names], "slice_bytes": 10000,
 "throughput_Bps": $sum, "optimum_Bps": null, "broadcast_trees": [$trees]}
END
}
plan 4 '3000000 [1,0],[0,2],[2,3]' '1000000 [1,3],[3,2],[3,0]' >good.json

# The same trees the other way round; and those up, one chain down.
trees=$(sed -n 's/.*"broadcast_trees": \(.*\)}$/\1/p' good.json)
up=$(sed -E 's/\[([0-9]+),([0-9]+)\]/[\2,\1]/g' <<<"$trees")
sed "s/\"broadcast\"/\"reduce\"/; s/\"broadcast_trees\": .*/\"reduce_trees\": $up}/" good.json >reduce.json
down='"broadcast_trees": [{"rate_Bps": 4000000, "edges": [[1,3],[3,0],[0,2]]}]'
sed "s/\"reduce\"/\"allreduce\"/; s/\"reduce_trees\"/$down, &/" reduce.json >allreduce.json

test_message() {
  for size in 0 1 9999 10000 10001 1MB; do
    ranks 4 bcast good.json --message $size --verify --repeat 3
    done_well
    says 'to 4 ranks, 2 trees, slices of'
    says '32.0000 Mbit/s planned'
    says '^verified'
  done
  ranks 4 bcast good.json --message 1MB
  says '^not verified'
  ranks 1 bcast <(plan 1 '1 ') --message 1MB --verify
  [ "$status" -ne 0 ] && plan 1 '1 ' | sed 's/"n1"/"n0"/' >one.json && ranks 1 bcast one.json --verify
  done_well
}

test_json() {
  ranks 4 bcast good.json --message 100kB --verify --repeat 3 --json
  done_well
  local keys
  keys=$(grep -oE '^  "[A-Za-z_]+"' stdout | tr -d ' "\n,' )
  [ "$keys" = operationranksmessage_bytesslice_bytessecondsmedian_sachieved_Bpsplanned_Bpsoptimum_Bpsverified ] ||
    fail "keys: $keys"
  says '"operation": "broadcast"'; says '"ranks": 4'; says '"message_bytes": 100000'
  says '"slice_bytes": 10000'; says '"planned_Bps": 4000000.0'; says '"optimum_Bps": null'
  says '"verified": true'
  [ "$(grep -cE '^    [0-9.e-]+,?$' stdout)" -eq 3 ] || fail "not three times"
  ranks 4 bcast good.json --message 100kB --json --compare-mpi-bcast
  done_well
  says '"relative_to_mpi_bcast": [0-9.]+'; says '"verified": false'
}

test_options() {
  ranks 4 bcast good.json --message 100kB --verify --window 1 --receives 1 --slice 77 --quiet
  done_well
  says 'slices of 77 B'
  ranks 4 bcast good.json --message 100kB --verify --ports 1 --quiet
  done_well
  ranks 4 bcast good.json --message 100kB --verify --compare-mpi-bcast
  done_well
  says 'MPI_Bcast: .*times as fast'
  "$mpiexec" -n 4 "$program" bcast - --message 1kB --verify <good.json >stdout 2>stderr
  status=$?
  done_well
  ranks 2 --version; done_well; says '^espalier-mpi [0-9]'
  ranks 2 --help; done_well; says 'bcast'
  ranks 2 bcast --help; done_well; says '--compare-mpi-bcast'
  [ "$(grep -c -- '--receives' stdout)" -eq 1 ] || fail "help is printed by more than one rank"
}

test_reduce() {
  for command in reduce allreduce; do
    for size in 0 8 9992 10000 10008 1000000; do
      ranks 4 $command $command.json --message $size --verify --repeat 3
      done_well
      says 'slices of 9.77 KiB'
      says '32.0000 Mbit/s planned'
      says '^verified on '
    done
    for type in double float int32 int64 uint32 uint64; do
      for op in sum prod max min; do
        ranks 4 $command $command.json --message 200000 --verify --type $type --op $op --slice 777
        done_well
        says "$op of $type"
      done
    done
    for op in band bor bxor; do
      ranks 4 $command $command.json --message 200000 --verify --type uint32 --op $op --ports 1
      done_well
    done
    ranks 4 $command $command.json --message 100000 --json --compare-mpi --verify
    done_well
    says "\"operation\": \"$command\""; says '"op": "sum"'; says '"type": "double"'; says '"verified": true'
    says "\"mpi_$command\": "; says "\"relative_to_mpi_$command\": [0-9.]+"
    ranks 4 $command $command.json --message 100000
    says '^not verified'
    ranks 4 $command --help; done_well; says '--compare-mpi'
  done
  ranks 4 reduce reduce.json --message 1000; says '1000 B from 4 ranks, sum of double, 2 trees, '
  ranks 4 allreduce allreduce.json --message 1000
  says '1000 B from and to 4 ranks, sum of double, 2 trees up, 1 down, '
}

test_reduce_refusals() {
  ranks 4 reduce good.json; refused 2 "good.json: /operation: a plan for a broadcast, and no reduce"
  ranks 4 reduce allreduce.json; refused 2 "/operation: a plan for an allreduce, and no reduce"
  ranks 4 allreduce reduce.json; refused 2 "/operation: a plan for a reduce, and no allreduce"
  ranks 4 bcast reduce.json; refused 2 "/operation: a plan for a reduce, and no broadcast"
  ranks 3 reduce reduce.json; refused 2 "the plan has 4 nodes, but 3 ranks"
  ranks 2 reduce reduce.json --type duoble; refused 2 "--type: unknown type 'duoble'; did you mean 'double'?"
  ranks 2 reduce reduce.json --op summ; refused 2 "--op: unknown operation 'summ'; did you mean 'sum'?"
  ranks 2 reduce reduce.json --op bxor; refused 2 "--op: MPI_BXOR is not defined on MPI_DOUBLE"
  ranks 2 reduce reduce.json --message 100; refused 2 "--message: 100 bytes are no multiple of a double's 8"
  ranks 2 reduce reduce.json --rounds; refused 2 "--rounds"
  ranks 2 allreduce; refused 2 "PLAN is required; see espalier-mpi allreduce --help"
  ranks 2 alreduce reduce.json; refused 2 "did you mean 'allreduce'?"
  ranks 4 reduce reduce.json --message 1000TiB; refused 2 "4 ranks on one host with"
}

# The two trees of two-tree-sanders over four ranks, from n1.
test_rounds() {
  plan 4 '1000000 [1,3],[3,2],[3,0]' '1000000 [1,2],[2,0],[2,3]' >plain.json
  sed 's/\[3,0\]\]/[3,0]], "colors": [0,0,1]/; s/\[2,3\]\]/[2,3]], "colors": [1,0,1]/' plain.json >colored.json
  for size in 0 1 10000 1MB; do
    ranks 4 bcast colored.json --message $size --verify --repeat 2 --rounds
    done_well
    says '^verified'
  done
  ranks 4 bcast colored.json --message 1MB --verify; done_well
  head -c 12345678 /dev/urandom >in
  ranks 4 bcast colored.json --in in --out 'out{rank}' --verify --rounds; done_well
  same_everywhere
  ranks 4 bcast plain.json --rounds
  refused 2 "plain.json: /broadcast_trees/0: rounds need colors, which this plan's trees do not have"
  sed 's/"colors": \[0,0,1\]/"colors": [0,1,1]/' colored.json >clash.json
  ranks 4 bcast clash.json --rounds
  refused 2 "clash.json: /broadcast_trees/0/colors/2: node 'n3' sends on two edges of color 1"
  sed 's/1000000/3000000/; s/: 2000000/: 4000000/' colored.json >uneven.json
  ranks 4 bcast uneven.json --rounds; refused 2 "uneven.json: /broadcast_trees/1/rate_Bps: rounds give every tree"
}

# A file in constant memory, and a message that is small enough for exchange edges to come last.
test_exchange() {
  plan 4 '1000000 [1,2],[2,0],[2,3]' '1000000 [1,3],[3,2],[1,0]' |
    sed 's/\[2,3\]\]/[2,3]], "exchange": [[2,3]]/; s/\[1,0\]\]/[1,0]], "exchange": [[3,2],[1,0]]/' >exchange.json
  ranks 4 bcast exchange.json --message 1MB --verify --repeat 2; done_well
  for size in 25000 45678901; do
    head -c $size /dev/urandom >in
    ranks 4 bcast exchange.json --in in --out 'out{rank}' --verify; done_well
    same_everywhere
  done
}

test_wrong_usage() {
  ranks 2; refused 2 "a command is required"
  ranks 2 bcats good.json; refused 2 "unknown command 'bcats'; did you mean 'bcast'?"
  ranks 2 bcast; refused 2 "PLAN is required"
  ranks 2 bcast good.json --nonsense; refused 2 "--nonsense"
  ranks 2 bcast good.json --message ten; refused 2 "--message: "
  ranks 2 bcast good.json --message -5; refused 2 "--message"
  ranks 2 bcast good.json --slice 0; refused 2 "--slice: a slice has at least one byte"
  ranks 2 bcast good.json --repeat 0; refused 2 "--repeat"
  ranks 2 bcast good.json --window 0; refused 2 "--window"
  ranks 2 bcast good.json --ports 0; refused 2 "--ports"
  ranks 2 bcast good.json --in a --out out --ports 1; refused 2 "--ports is for a --message"
  ranks 2 bcast good.json --map hots; refused 2 "unknown mapping 'hots'; did you mean 'host'?"
  ranks 2 bcast good.json --in a; refused 2 "--in and --out go together"
  ranks 2 bcast good.json --in a --out out --message 1; refused 2 "--message"
  ranks 2 bcast good.json --in a --out out --compare-mpi-bcast; refused 2 "--compare-mpi-bcast"
  ranks 2 bcast good.json --in - --out out; refused 2 "are files"
  ranks 4 bcast good.json --map host; refused 2 "both run on host"
  ranks 4 bcast good.json --message 1000TiB; refused 2 "4 ranks on one host with"
}

test_bad_plans() {
  ranks 3 bcast good.json; refused 2 "the plan has 4 nodes, but 3 ranks"
  ranks 6 bcast good.json; refused 2 "the plan has 4 nodes, but 6 ranks"
  ranks 4 bcast none.json; refused 2 "none.json: cannot open"
  ranks 4 bcast .; refused 2 "directory"
  head -c 250 good.json >truncated.json; ranks 4 bcast truncated.json; refused 2 "truncated.json: "
  plan 4 '1 [1,0],[2,3],[3,2]' >cycle.json
  ranks 4 bcast cycle.json; refused 2 "cycle.json: /broadcast_trees/0/edges: cycle"
  plan 4 '1 [1,0],[0,2]' >missing.json
  ranks 4 bcast missing.json; refused 2 "'n3' is missing"
  plan 4 '1 [1,0],[0,2],[2,7]' >foreign.json
  ranks 4 bcast foreign.json; refused 2 "/broadcast_trees/0/edges/2/1: node 7 is out of range"
  sed 's/4000000/5000000/' good.json >lies.json; ranks 4 bcast lies.json; refused 2 "/throughput_Bps"
  sed 's/10000,/0,/' good.json >zero.json; ranks 4 bcast zero.json; refused 2 "/slice_bytes"
  sed 's/"broadcast"/"reduce"/' good.json >no-trees.json
  ranks 4 bcast no-trees.json; refused 2 "no-trees.json: the key 'reduce_trees' is missing"
  head -c 3000000 /dev/urandom >noise; ranks 4 bcast noise; refused 2 "noise: "
}

same_everywhere() {
  local rank
  for rank in 0 1 2 3; do cmp in "out$rank" || fail "out$rank differs"; done
  [ -z "$(find . -name '.espalier*')" ] || fail "a temporary stays"
  rm -f out?
}

test_files() {
  for size in 0 1 9999 10000 12345678; do
    head -c $size /dev/urandom >in
    ranks 4 bcast good.json --in in --out 'out{rank}' --verify --repeat 2 --json
    done_well; says '"verified": true'; says "\"message_bytes\": $size"
    same_everywhere
  done
  # What was there is replaced, its mode stays; a link keeps pointing.
  echo old >target; chmod 640 target; ln -s target out2
  ranks 4 bcast good.json --in in --out 'out{rank}'
  done_well
  [ -L out2 ] || fail "the link is gone"
  [ "$(stat -c %a target)" = 640 ] || fail "mode $(stat -c %a target)"
  same_everywhere
  # The host's name, and an output that is the input, which the source leaves alone.
  mkdir "d$(uname -n)"; cp in in1
  ranks 4 bcast good.json --in in1 --out 'in{rank}' --verify
  done_well
  for rank in 0 2 3; do cmp in "in$rank" || fail "in$rank differs"; done
  ranks 4 bcast good.json --in in --out 'd{host}/x{rank}'
  done_well
  cmp in "d$(uname -n)/x3" || fail "x3 differs"
  ranks 4 bcast good.json --in in --out /dev/null; done_well
}

test_bad_files() {
  head -c 300000 /dev/urandom >in
  ranks 4 bcast good.json --in in --out outs; refused 2 "is the file of rank 0 and of rank 1"
  mkdir sub
  ranks 4 bcast good.json --in in --out './sub/../out/'; refused 2 "put {rank} into --out"
  ranks 4 bcast good.json --in none --out 'out{rank}'; refused 2 "rank 1 on $(uname -n): none: cannot open"
  ranks 4 bcast good.json --in sub --out 'out{rank}'; refused 2 "sub: cannot read: is no regular file"
  ranks 4 bcast good.json --in in --out '/no/such{rank}/out'; refused 2 "rank 0 on $(uname -n): /no/such0/out: cannot write"
  mkdir d0 d1 d2  # and rank 3 has none
  ranks 4 bcast good.json --in in --out 'd{rank}/out'; refused 2 "rank 3 on $(uname -n): d3/out: cannot write: No such"
  mkdir -p d3/out
  ranks 4 bcast good.json --in in --out 'd{rank}/out'; status_keep=$status; rmdir d3/out; status=$status_keep
  refused 2 "rank 3 on $(uname -n): d3/out: cannot write: Is a directory"
  # A disk that is full from the first byte on, on one rank only: found while the slices run.
  for full in 0 1 3; do
    rm -rf d?/*; ln -s /dev/full "d$full/file"
    for rank in 0 1 2 3; do [ "$rank" = "$full" ] || ln -sfn . "d$rank/self"; done
    ranks 4 bcast good.json --in in --out 'd{rank}/file'
    refused 2 "rank $full on $(uname -n): d$full/file: cannot write: No space left on device"
    for rank in 0 1 2 3; do [ "$rank" = "$full" ] || [ ! -e "d$rank/file" ] || fail "d$rank/file is there"; done
  done
}

# A limit on the size of files stands for a disk without room; MPI's own files must stay below it. The room is claimed
# before anything is sent.
test_full_disk() {
  truncate -s 300M in
  echo old >out2
  (ulimit -f 200000; "$mpiexec" -n 4 "$program" bcast good.json --in in --out 'out{rank}') >stdout 2>stderr
  status=$?
  [ "$(cat out2)" = old ] || fail "out2 is no more what it was"
  rm out2
  refused 2 "cannot write: File too large"
}

# Data that differ are found and named, and no file stays.
test_damage() {
  damaged() { "$mpiexec" -n 4 env LD_PRELOAD="$damaging_network${LD_PRELOAD:+:$LD_PRELOAD}" "$program" "$@" >stdout 2>stderr; status=$?; }
  damaged bcast good.json --message 1MB --verify
  refused 5 "of 1000000 is 0x"
  damaged reduce reduce.json --message 1MB --verify
  refused 5 "rank 1 on $(uname -n): element "
  damaged allreduce allreduce.json --message 1MB --verify
  refused 5 "of 125000 is "
  head -c 300000 /dev/urandom >in
  damaged bcast good.json --in in --out 'out{rank}'
  refused 5 "what was received is not what was sent"
}

"$case_name"
[ "$failures" -eq 0 ]
