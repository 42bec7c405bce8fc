#!/usr/bin/env bash
# Open MPI follows the rules that `espalier decide --open-mpi-rules` writes: its monitoring counts the messages from each
# rank to each other.
# Usage: open_mpi_rules_test.sh CASE ESPALIER PROGRAM MPIEXEC   (CASE: a function below, test_...)
set -u
case_name=$1 espalier=$2 program=$3 mpiexec=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
export OMPI_MCA_pml=ob1,monitoring OMPI_MCA_pml_monitoring_enable=2 OMPI_MCA_pml_monitoring_enable_output=3
export OMPI_MCA_pml_monitoring_filename=$work/sent

fail() { echo "FAILED: $*"; cat stdout stderr 2>/dev/null; failures=$((failures + 1)); }

# decide ARGS...: writes rules.conf.
decide() {
  "$espalier" decide --preset frodo "$@" --open-mpi-rules rules.conf --quiet >stdout 2>stderr || fail "decide $*"
}

# sent RANKS OPERATION BYTES [RULES]: the number of messages by sender and receiver, "0>1:64 1>2:64".
sent() {
  local ranks=$1 operation=$2 bytes=$3 rules=()
  [ $# -gt 3 ] && rules=(--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "$4")
  # Open MPI 4.1's monitoring crashes at its end now and then, in a program that has nothing of ours: then once more.
  local attempt
  for attempt in 1 2; do
    rm -f sent.*
    "$mpiexec" -n "$ranks" "${rules[@]}" "$program" "$operation" "$bytes" >stdout 2>stderr </dev/null && break
    [ "$attempt" = 1 ] && grep -q 'Signal: Segmentation fault' stderr || { fail "the run of $operation"; return; }
  done
  # Open MPI counts messages with the program's tags as I(nternal); those of collectives as E(xternal) or I, by its settings.
  cat sent.* | awk '$1 == "I" || $1 == "E" { print $2 ">" $3 ":" $6 }' | sort -V | paste -sd ' '
}

# expect MESSAGES RANKS OPERATION BYTES: with rules.conf.
expect() {
  local seen
  seen=$(sent "$2" "$3" "$4" rules.conf)
  [ "$seen" = "$1" ] || fail "$3 of $4 bytes on $2 ranks sent '$seen', not '$1'"
}

test_broadcast() {
  decide --algorithm linear,pipeline,binomial,binary,split-binary --ranks 4
  expect '0>1:1 0>2:1 0>3:1' 4 broadcast 100          # linear
  expect '0>1:1 0>2:1 1>3:1' 4 broadcast 1024         # binomial
  expect '0>1:32 1>2:32 2>3:32' 4 broadcast 32768     # pipeline/1 KiB
  expect '0>1:128 1>2:128 2>3:128' 4 broadcast 1048576  # pipeline/8 KiB
}

# Outside the grid, Open MPI behaves as without rules.
test_beyond() {
  decide --algorithm pipeline --segments 256 --ranks 4 --sizes 1KiB,2KiB
  expect '0>1:4 1>2:4 2>3:4' 4 broadcast 1024
  expect '0>1:7 1>2:7 2>3:7' 4 broadcast 1600
  local where
  for where in '3 1024' '5 1024' '4 1000' '4 2049'; do
    set -- $where
    expect "$(sent "$1" broadcast "$2")" "$1" broadcast "$2"
  done
}

test_segments() {
  decide --algorithm binomial --segments 4KiB --ranks 4 --sizes 16KiB
  expect '0>1:4 0>2:4 1>3:4' 4 broadcast 16384
  decide --algorithm binary --segments 2KiB --ranks 3 --sizes 16KiB
  expect '0>1:8 0>2:8' 3 broadcast 16384
  decide --operation reduce --algorithm pipeline --segments 4KiB --ranks 4 --sizes 16KiB
  expect '1>0:4 2>1:4 3>2:4' 4 reduce 16384
  decide --operation reduce --algorithm flat-tree --segments 0 --ranks 4 --sizes 16KiB
  expect '1>0:1 2>0:1 3>0:1' 4 reduce 16384
}

test_barrier() {
  decide --operation barrier --algorithm double-ring --ranks 4
  expect '0>1:2 1>2:2 2>3:2 3>0:2' 4 barrier 0
  decide --operation barrier --algorithm bruck --ranks 3
  expect '0>1:1 0>2:1 1>0:1 1>2:1 2>0:1 2>1:1' 3 barrier 0
  decide --operation barrier --algorithm flat-tree --ranks 4
  expect '0>1:1 0>2:1 0>3:1 1>0:1 2>0:1 3>0:1' 4 barrier 0
}

# Linear and pairwise send the same messages. Therefore another algorithm (3, Bruck's: two messages per rank) is inserted
# by hand, to check that a rule's size is what a rank sends to all others.
test_alltoall() {
  decide --operation alltoall --algorithm pairwise --ranks 4 --sizes 1KiB,4KiB
  sed -i 's/^4096 2 /4096 3 /' rules.conf
  expect '0>1:1 0>2:1 1>2:1 1>3:1 2>0:1 2>3:1 3>0:1 3>1:1' 4 alltoall 1024
  expect '0>1:1 0>2:1 1>2:1 1>3:1 2>0:1 2>3:1 3>0:1 3>1:1' 4 alltoall 4096
  expect "$(sent 4 alltoall 1023)" 4 alltoall 1023
  expect "$(sent 4 alltoall 4097)" 4 alltoall 4097
}

# A rule's size is that of all shares.
test_shares() {
  local ring='0>1:3 1>2:3 2>3:3 3>0:3' bruck='0>2:1 0>3:1 1>0:1 1>3:1 2>0:1 2>1:1 3>1:1 3>2:1'
  decide --operation allgather --algorithm ring --ranks 4 --sizes 4KiB,16KiB
  expect "$ring" 4 allgather 1024
  expect "$ring" 4 allgather 4096
  expect "$(sent 4 allgather 1023)" 4 allgather 1023
  expect "$(sent 4 allgather 4097)" 4 allgather 4097
  decide --operation allgather --algorithm bruck --ranks 4 --sizes 4KiB
  expect "$bruck" 4 allgather 1024
  decide --operation allgather --algorithm recursive-doubling --ranks 4 --sizes 4KiB
  expect '0>1:1 0>2:1 1>0:1 1>3:1 2>0:1 2>3:1 3>1:1 3>2:1' 4 allgather 1024
  decide --operation allgather --algorithm neighbor-exchange --ranks 4 --sizes 4KiB
  expect '0>1:1 0>3:1 1>0:1 1>2:1 2>1:1 2>3:1 3>0:1 3>2:1' 4 allgather 1024
  decide --operation reduce-scatter --algorithm ring --ranks 4 --sizes 4KiB
  expect "$ring" 4 reduce-scatter 1024
  decide --operation reduce-scatter --algorithm recursive-halving --ranks 4 --sizes 4KiB
  expect '0>1:1 0>2:1 1>0:1 1>3:1 2>0:1 2>3:1 3>1:1 3>2:1' 4 reduce-scatter 1024
  decide --operation scatter --algorithm linear --ranks 4 --sizes 4KiB
  expect '0>1:1 0>2:1 0>3:1' 4 scatter 1024
  decide --operation scatter --algorithm binomial --ranks 4 --sizes 4KiB
  expect '0>1:1 0>2:1 2>3:1' 4 scatter 1024
  decide --operation gather --algorithm linear --ranks 4 --sizes 4KiB
  expect '1>0:1 2>0:1 3>0:1' 4 gather 1024
  decide --operation gather --algorithm binomial --ranks 4 --sizes 4KiB
  expect '1>0:1 2>0:1 3>2:1' 4 gather 1024
}

"test_$case_name"
[ "$failures" -eq 0 ]
