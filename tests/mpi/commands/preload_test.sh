#!/usr/bin/env bash
# Unmodified MPI programs, with and without the preloaded library: data, the calls taken, messages.
# Usage: preload_test.sh CASE UNMODIFIED LIBRARY MPIEXEC ESPALIER_MPI   (CASE: a function below, test_...)
set -u
source "$(dirname "${BASH_SOURCE[0]}")/plans.sh"
case_name=$1 program=$2 library=$3 mpiexec=$4 espalier_mpi=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
others=${LD_PRELOAD:-}  # libraries that this MPI needs
unset "${!ESPALIER_@}"
export ESPALIER_TRIALS=0  # every call that can be is taken

fail() { echo "FAILED: $*"; cat stdout stderr; failures=$((failures + 1)); }

# preloaded N ARGS...: runs the program on N ranks with the library; output in stdout and stderr, status in $status.
preloaded() {
  local count=$1; shift
  "$mpiexec" -n "$count" env LD_PRELOAD="$library${others:+:$others}" "$program" "$@" >stdout 2>stderr </dev/null
  status=$?
}

# bare N ARGS...: the same without the library.
bare() {
  local count=$1; shift
  "$mpiexec" -n "$count" "$program" "$@" >stdout 2>stderr </dev/null
  status=$?
}

all_right() { [ "$status" -eq 0 ] && grep -qx 'all right' stdout || fail "status $status"; }
says() { grep -qE -- "$1" stderr || fail "does not say '$1'"; }
says_once() { [ "$(grep -cE -- "$1" stderr)" -eq 1 ] || fail "does not say once '$1'"; }
says_nothing() { if grep -q espalier stderr; then fail "said something"; fi; }
# taken MINIMUM: the summary counts at least MINIMUM calls taken, and there is one line for each of them.
taken() {
  local count
  count=$(sed -n 's/^espalier-pmpi: \([0-9]*\) MPI_Bcast taken.*/\1/p' stderr)
  [ "${count:-0}" -ge "$1" ] || fail "took '${count:-}' calls, not $1 or more"
  [ "$(grep -c ' at the root, ' stderr)" -eq "${count:-0}" ] || fail "not one line per call"
}

plan() { plan_in_segments 100000 "$@"; }
plan 4 1 '3000000 [1,0],[0,2],[2,3]' '1000000 [1,3],[3,2],[3,0]' >from1.json
plan 4 2 '1000000 [2,0],[2,1],[1,3]' >from2.json
plan 3 0 '1000000 [0,1],[1,2]' >three.json

# The same trees reversed, for a reduce; and in both directions, for an allreduce.
for from in 1 2; do
  sed "s/\"broadcast\"/\"reduce\"/; s/\"broadcast_trees\": .*/\"reduce_trees\": $(reversed from$from.json)}/" \
    from$from.json >to$from.json
done
sed "s/\"broadcast\"/\"allreduce\"/; s/\"broadcast_trees\"/\"reduce_trees\": $(reversed from1.json), &/" from1.json >all.json

test_without() {
  for ranks in 2 4 7; do
    bare $ranks
    all_right
  done
}

test_plans() {
  export ESPALIER_PLAN=from1.json:from2.json ESPALIER_VERBOSE=1
  preloaded 4
  all_right
  # Broadcasts from two of the four roots: in MPI_COMM_WORLD, sizes from the threshold on and types; in other
  # communicators of four ranks as well; none in halves.
  taken 30
  says ': by hand, 2 trees, .* of 32.0000 Mbit/s planned$'
  says ' from rank 2 to 4 ranks: by hand, 1 tree, '
  # In reverse rank order, the source n1 is rank 2.
  says '300 kB from rank 2 to 4 ranks: by hand, 2 trees, '
  says '300 kB from rank 1 to 4 ranks: by hand, 1 tree, '
  if grep -qE ' from rank [03] to | to 2 ranks' stderr; then fail 'took a call without a plan'; fi
  says_once 'left to MPI: .* below the threshold, 1 on intercommunicators, .* to one or two ranks, .* that no plan fits$'
  preloaded 7  # the plans fit only sub-communicators of 4 ranks
  all_right
  taken 3
  preloaded 2
  all_right
  taken 0
  # Of several plans for the same calls, the one that is predicted to be the fastest for the size.
  plan 4 0 '1050000 [0,1],[1,2],[2,3]' | sed 's/by hand/chain/' >chain.json
  plan 4 0 '1000000 [0,1],[0,2],[0,3]' | sed 's/by hand/flat/' >flat.json
  ESPALIER_PLAN=chain.json:flat.json preloaded 4
  all_right
  says ' 96 KiB from rank 0 to 4 ranks: flat, 1 tree, '
  says ' 1.5 MB from rank 0 to 4 ranks: chain, 1 tree, '
  unset ESPALIER_VERBOSE
  preloaded 4
  all_right
  says_nothing
}

test_platform() {
  need_planner || return
  export ESPALIER_VERBOSE=1 ESPALIER_PLATFORM=net.csv ESPALIER_LOCAL=take
  platform 7 >net.csv
  ESPALIER_ALGORITHM=optimal preloaded 7  # one plan for all sizes, to save time
  all_right
  # 7 roots. In MPI_COMM_WORLD 6 sizes and two types; three times the reversed communicator, its halves of 3 and 4, and its
  # copy with a type; and the communicator that is kept.
  taken $((7 * 8 + 3 * (7 + 7 + 7 + 7) + 7))
  says ': optimal, [0-9]* trees?, '
  says_once 'left to MPI: .* below the threshold, 1 on intercommunicators$'
  platform 4 >net.csv
  preloaded 4
  all_right
  taken 40
  preloaded 2  # no plans are made for two ranks
  all_right
  taken 0
  preloaded 7
  all_right
  taken 0
  says 'no plan from rank 0 to 7 ranks: the platform has 4 hosts, MPI_COMM_WORLD 7 ranks; MPI_Bcast runs unchanged'
  if grep -q 'no plan from rank 3 to 7' stderr; then fail 'repeated the message for each root'; fi
}

# Plans along the hosts that the ranks share, and the groups of a file, with no platform.
test_groups() {
  local groups host
  need_planner || return
  host=$(uname -n)
  echo "$host rack1" >lines
  echo "SwitchName=s1 Nodes=$host" >slurm
  export ESPALIER_VERBOSE=1 ESPALIER_LOCAL=take
  for groups in hosts lines slurm; do
    ESPALIER_GROUPS=$groups preloaded 4
    all_right
    says ' from rank 3 to 4 ranks: hierarchical[^,]*, 1 tree, '
    taken 40
  done
  ESPALIER_GROUPS=lines ESPALIER_ALGORITHM=hierarchical-node:chain preloaded 4
  all_right
  says ': hierarchical-node:chain, 1 tree, '
  ESPALIER_GROUPS=lines ESPALIER_ALGORITHM=hierarchical:two-tree-complete preloaded 4
  all_right
  says ': hierarchical:two-tree-complete, 2 trees, '
  # TAC's rules: on one host with several ranks, leaders of nodes, and of groups as well from 2 MiB on.
  ESPALIER_GROUPS=hosts ESPALIER_ALGORITHM=tac ESPALIER_THRESHOLD=0 preloaded 4
  all_right
  says ' 1.5 MB from rank 0 to 4 ranks: hierarchical-node'
  says_once '^espalier-pmpi: no plan from and to 4 ranks: TAC has no rule for it; MPI_Allreduce runs unchanged$'
  echo "elsewhere rack1" >lines
  ESPALIER_GROUPS=lines preloaded 4
  all_right
  says_once "^espalier-pmpi: lines: does not say the group of host '$host', on which ranks run; MPI runs unchanged\$"
  ESPALIER_GROUPS=lines ESPALIER_PLATFORM=net.csv preloaded 4
  all_right
  says_once '^espalier-pmpi: ESPALIER_GROUPS: ESPALIER_PLATFORM is given, too; give one of them; MPI runs unchanged$'
  ESPALIER_GROUPS=hosts ESPALIER_ALGORITHM=hierarchicl preloaded 4
  all_right
  says_once "^espalier-pmpi: .*hierarchicl.*; MPI runs unchanged\$"
}

# Reductions to any root are planned from a platform as well; operations that an algorithm does not support are left to
# MPI.
test_platform_reductions() {
  need_planner || return
  export ESPALIER_VERBOSE=1 ESPALIER_PLATFORM=net.csv ESPALIER_LOCAL=take
  platform 7 >net.csv
  ESPALIER_ALGORITHM=optimal preloaded 7 reductions
  all_right
  # Two sizes of ints, in place, and doubles; non-commutative operations are left to MPI.
  says_once '^espalier-pmpi: 28 MPI_Reduce taken .* 14 left to MPI: 7 below the threshold, 7 whose type or operation'
  says_once '^espalier-pmpi: 4 MPI_Allreduce taken .* 1 whose type or operation cannot use trees$'
  says '400 kB from 7 ranks to rank 3: optimal, [0-9]+ trees?, '
  says '400 kB from and to 7 ranks: optimal, [0-9]+ trees?, .* at rank 0, '
  platform 4 >net.csv
  ESPALIER_ALGORITHM=chain ESPALIER_MODEL=multi-port preloaded 4 reductions
  all_right
  says_once '^espalier-pmpi: 16 MPI_Reduce taken'
  says '160 kB from and to 4 ranks: chain, 1 tree, '
  ESPALIER_ALGORITHM=fnf preloaded 4 reductions  # which supports only broadcasts
  all_right
  says_once 'no plan from 4 ranks to rank 0: .*fnf.*; MPI_Reduce runs unchanged$'
  says_once 'no plan from and to 4 ranks: .*fnf.*; MPI_Allreduce runs unchanged$'
  says_once '^espalier-pmpi: 0 MPI_Reduce taken .* 16 for which no plan could be made, 4 whose type'
  ESPALIER_ALGORITHM=two-tree-complete+complete preloaded 4 reductions  # which supports also allreduces
  all_right
  says_once '^espalier-pmpi: 0 MPI_Reduce taken'
  says_once '^espalier-pmpi: 4 MPI_Allreduce taken'
  # Plans take precedence over the platform.
  ESPALIER_PLAN=to1.json preloaded 4 reductions
  all_right
  says ' from 4 ranks to rank 1: by hand, 2 trees, '
  says ' from 4 ranks to rank 0: optimal, '
  ESPALIER_ALGORITHM=none preloaded 4 reductions
  all_right
  says_once '^espalier-pmpi: .*none.*; MPI runs unchanged$'
}

# Each of MPI's operations on types of every kind (119 pairs), with three counts, in place and not, to two roots and to
# all; and MPI_MINLOC and MPI_MAXLOC, for which allreduces use trees only on types without holes.
test_every_reduction() {
  bare 4
  all_right
  need_planner || return
  export ESPALIER_VERBOSE=1 ESPALIER_PLATFORM=net.csv ESPALIER_THRESHOLD=0 ESPALIER_LOCAL=take
  export ESPALIER_ALGORITHM=optimal  # one plan for all sizes, to save time
  for ranks in 3 4 7; do
    platform $ranks >net.csv
    preloaded $ranks
    all_right
    says_once '^espalier-pmpi: 1438 MPI_Reduce taken .* 476 left to MPI: 476 below the threshold$'
    says_once '^espalier-pmpi: 718 MPI_Allreduce taken .* 244 left to MPI: 238 below the threshold, 6 whose type or'
  done
}

# SWEEP_TO (default: 1100000) is the largest message, in bytes, of the sweep.
test_unusual_calls() {
  local most=${SWEEP_TO:-1100000} bytes sizes=0
  for ((bytes = 1; bytes <= most; bytes *= 4)); do sizes=$((sizes + 1)); done
  bare 4
  all_right
  need_planner || return
  export ESPALIER_VERBOSE=1 ESPALIER_PLATFORM=net.csv ESPALIER_THRESHOLD=0 ESPALIER_LOCAL=take
  export ESPALIER_ALGORITHM=optimal  # one plan for all sizes, to save time
  for ranks in 3 4 7; do
    platform $ranks >net.csv
    preloaded $ranks
    all_right
    says_once '^espalier-pmpi: 1 MPI_Bcast taken'
    # The program's own sums, over whole communicators (0, 1000 and 40, 30, 20 elements); and after invalid calls.
    says ' from and to [0-9]+ ranks: optimal, '
    says_once '^espalier-pmpi: [1-9][0-9]* MPI_Reduce taken .* 1 on intercommunicators'
    preloaded $ranks sweep "$most"
    all_right
    # Eleven calls, and one per root as warm-up, for each size; one byte is too short for a reduction.
    says_once "^espalier-pmpi: $((sizes * (11 + ranks))) MPI_Bcast taken .* 0 left to MPI\$"
    says_once "^espalier-pmpi: $(((sizes - 1) * (11 + ranks))) MPI_Reduce taken .* 0 left to MPI\$"
    says_once "^espalier-pmpi: $(((sizes - 1) * (11 + ranks))) MPI_Allreduce taken .* 0 left to MPI\$"
  done
  # Within a host only calls of 256 KiB and more are taken: the two largest sizes.
  platform 4 >net.csv
  ESPALIER_LOCAL=hand-on preloaded 4 sweep 1100000
  all_right
  says_once '^espalier-pmpi: 30 MPI_Bcast taken .18.75 MiB., 135 left to MPI: 135 among ranks of one host$'
  says_once '^espalier-pmpi: 30 MPI_Reduce taken .18.75 MiB., 120 left to MPI: 120 among ranks of one host$'
  says_once '^espalier-pmpi: 30 MPI_Allreduce taken .18.75 MiB., 120 left to MPI: 120 among ranks of one host$'
}

# Short calls within a host are left to MPI, unless there is a plan for them.
test_local() {
  need_planner || return
  local below_256KiB='^espalier-pmpi: ([0-9]+ B|(1?[0-9]{1,2}|2[0-4][0-9]|25[0-5])([.][0-9]+)? KiB) '
  platform 4 >net.csv
  export ESPALIER_VERBOSE=1 ESPALIER_PLATFORM=net.csv
  preloaded 4
  all_right
  taken 10
  if grep -qE "$below_256KiB" stderr; then fail 'took short calls'; fi
  says_once 'left to MPI: .* below the threshold, 1 on intercommunicators, .* to one or two ranks, .* among ranks of one host$'
  ESPALIER_PLAN=from1.json preloaded 4
  all_right
  # From one of four roots: six sizes, two types, and other communicators with all ranks.
  taken 10
  if grep -E "$below_256KiB" stderr | grep -qv ': by hand, '; then fail 'took short calls without a plan'; fi
  preloaded 4 reductions
  all_right
  says_once '^espalier-pmpi: 8 MPI_Reduce taken .* 8 among ranks of one host$'
}

# Plans take precedence over the platform.
test_both() {
  need_planner || return
  platform 4 >net.csv
  export ESPALIER_VERBOSE=1 ESPALIER_PLAN=from1.json ESPALIER_PLATFORM=net.csv ESPALIER_ALGORITHM=chain
  export ESPALIER_LOCAL=take
  preloaded 4
  all_right
  says ' from rank 1 to 4 ranks: by hand, 2 trees, '
  says ' from rank 0 to 4 ranks: chain, 1 tree, '
}

# The table's entry for the next number of ranks and size is used, also within a host.
test_decisions() {
  table broadcast 6 '1 linear 0' '100000 pipeline 10000' '320000 split-binary 30000' '1000000 two-tree 200000' >bcast.json
  export ESPALIER_VERBOSE=1 ESPALIER_DECISIONS=bcast.json
  preloaded 4
  all_right
  taken 40  # as with plans for each root
  says '^espalier-pmpi: 96 KiB from rank 3 to 4 ranks: chain, 1 tree, segments of 10 kB, .* of 8.0000 Mbit/s predicted$'
  says '^espalier-pmpi: 300 kB from rank 1 to 4 ranks: split-binary, 2 trees, segments of 30 kB, '
  says '^espalier-pmpi: 1.5 MB from rank 0 to 4 ranks: two-tree-complete, 2 trees, segments of 100 kB, '
  says_once 'left to MPI: .* below the threshold, 1 on intercommunicators, .* to one or two ranks$'
  ESPALIER_THRESHOLD=0 preloaded 7
  all_right
  says '^espalier-pmpi: 1 B from rank 0 to 7 ranks: flat, 1 tree, segments of 1 B, '
  # Hierarchies, and calls that the table leaves to MPI.
  table broadcast 4 '100000 library 0' '1000000 hierarchical-pipeline 50000' >levels.json
  ESPALIER_DECISIONS=levels.json preloaded 4
  all_right
  says '^espalier-pmpi: 1.5 MB from rank 1 to 4 ranks: hierarchical-chain, 1 tree, segments of 50 kB, '
  says_once 'left to MPI: .* by the decision table$'
  if grep -q 'espalier-pmpi: 96 KiB from' stderr; then fail 'what is left to MPI was taken'; fi
  # Plans take precedence over the table; reductions have their own table.
  table reduce 4 '100000 binomial 0' '1000000 flat-tree 50000' >reduce.json
  ESPALIER_PLAN=from1.json:to1.json ESPALIER_DECISIONS=reduce.json:bcast.json preloaded 4 reductions
  all_right
  says '400 kB from 4 ranks to rank 1: by hand, 2 trees, [0-9]'
  says '160 kB from 4 ranks to rank 3: binomial, 1 tree, segments of 160 kB, '
  says '400 kB from 4 ranks to rank 0: flat, 1 tree, segments of 50 kB, '
  says_once '^espalier-pmpi: 0 MPI_Allreduce taken .* that no plan fits'
  ESPALIER_PLAN=from1.json preloaded 4
  all_right
  says '1.5 MB from rank 1 to 4 ranks: by hand, 2 trees, [0-9]'
  says '1.5 MB from rank 0 to 4 ranks: two-tree-complete, 2 trees, segments of '
  if grep -q '1.5 MB from rank 1 to 4 ranks: [^b]' stderr; then fail 'the table took precedence over a plan'; fi
}

# Segments tuned for a plan are used if it runs in the same way.
test_tuned() {
  "$mpiexec" -n 4 "$espalier_mpi" tune from1.json --message 100000,300000 --repeat 1 --warm-up 0 >stdout 2>stderr </dev/null ||
    fail 'tune'
  sed -E 's/"slice_bytes":[0-9]+/"slice_bytes":7000/' from1.json.tuned.json >odd.json
  export ESPALIER_VERBOSE=1 ESPALIER_PLAN=from2.json:from1.json ESPALIER_TUNED=odd.json
  preloaded 4
  all_right
  says '300 kB from rank 2 to 4 ranks: by hand, 2 trees, segments of 7 kB, .* planned$'  # in reverse rank order
  says '96 KiB from rank 1 to 4 ranks: by hand, 2 trees, segments of 7 kB, '
  says '1.5 MB from rank 1 to 4 ranks: by hand, 2 trees, segments of 100 kB, '  # the plan's segment: too far from the tuned sizes
  says ' from rank 2 to 4 ranks: by hand, 1 tree, [0-9]'
  sed 's/"hosts": 1/"hosts": 2/' odd.json >hosts.json
  ESPALIER_TUNED=hosts.json preloaded 4
  all_right
  says '^espalier-pmpi: hosts.json: /hosts: was tuned with ranks on 2 hosts, not 1; its segments are not used$'
  says ' from rank 1 to 4 ranks: by hand, 2 trees, [0-9]'
  ESPALIER_TUNED=hosts.json:odd.json preloaded 4
  all_right
  says ' from rank 1 to 4 ranks: by hand, 2 trees, segments of 7 kB, '
  ESPALIER_PLAN=from2.json preloaded 4
  all_right
  says_once '^espalier-pmpi: odd.json: /plan: was not tuned for any of the plans in ESPALIER_PLAN; MPI runs unchanged$'
}

# Operations whose message has a part for each rank, planned from a platform; and by plans by hand.
test_parts() {
  bare 4
  all_right
  routes scatter 4 1 >scatter.json
  routes alltoall 4 0 >alltoall.json
  export ESPALIER_VERBOSE=1 ESPALIER_THRESHOLD=0
  ESPALIER_PLAN=scatter.json:alltoall.json preloaded 4
  all_right
  says '^espalier-pmpi: 800.03 kB from rank 1 to 4 ranks: by hand, 6 trees, .* at the root, .* of 32.0000 Mbit/s planned$'
  says_once '^espalier-pmpi: 12 MPI_Scatter[(]v[)] taken .* 36 that no plan fits, 16 with parts of sizes that other ranks do not know$'
  says_once '^espalier-pmpi: 12 MPI_Alltoall[(]v[)] taken .* 4 below the threshold, 5 with parts of sizes .* 1 non-blocking$'
  need_planner || return
  export ESPALIER_PLATFORM=net.csv ESPALIER_LOCAL=take
  for ranks in 3 4 7; do
    platform $ranks >net.csv
    preloaded $ranks
    all_right
    # Parts in 12 proportions, for 8 of which plans are made.
    says_once '^espalier-pmpi: 60 MPI_Allgather[(]v[)] taken .* 4 left to MPI: 4 below the threshold$'
    says_once '^espalier-pmpi: 12 MPI_Reduce_scatter[(]_block[)] taken .* 5 below the threshold, 3 whose type or'
    says_once "^espalier-pmpi: $((12 * ranks)) MPI_Scatter[(]v[)] taken .* $((4 * ranks)) below .*, $((4 * ranks)) with parts of"
    says_once "^espalier-pmpi: $((12 * ranks)) MPI_Gather[(]v[)] taken .* $((4 * ranks)) below .*, $((4 * ranks)) with parts of"
    says_once '^espalier-pmpi: 12 MPI_Alltoall[(]v[)] taken .* 4 below the threshold, 5 with parts of sizes .* 1 non-blocking$'
  done
  # The ranks agree about the sizes first.
  export ESPALIER_VARYING=agree
  for ranks in 3 4 7; do
    platform $ranks >net.csv
    preloaded $ranks
    all_right
    says_once "^espalier-pmpi: $((16 * ranks)) MPI_Scatter[(]v[)] taken .* $((4 * ranks)) below the threshold\$"
    says_once "^espalier-pmpi: $((16 * ranks)) MPI_Gather[(]v[)] taken .* $((4 * ranks)) below the threshold\$"
    says_once '^espalier-pmpi: 16 MPI_Alltoall[(]v[)] taken .* 5 below the threshold, 1 non-blocking$'
  done
  ESPALIER_VERBOSE=0 preloaded 7  # calls that are not counted take a shorter way to MPI
  all_right
  says_nothing
  # TAC's rules: by one rank of the host, from four ranks on.
  unset ESPALIER_PLATFORM
  export ESPALIER_GROUPS=hosts ESPALIER_ALGORITHM=tac ESPALIER_TRIALS=0
  preloaded 4
  all_right
  says ' from and to 4 ranks: by leaders of hosts, '
  says_once '^espalier-pmpi: 16 MPI_Alltoall[(]v[)] taken .* 5 below the threshold, 1 non-blocking$'
  preloaded 3
  all_right
  says_once "^espalier-pmpi: 0 MPI_Alltoall.* by TAC's rules"
}

# MPI's own algorithms and plans in turns, then the faster ones; the report counts every call.
test_trials() {
  need_planner || return
  export ESPALIER_VERBOSE=1 ESPALIER_REPORT=1 ESPALIER_PLATFORM=net.csv ESPALIER_LOCAL=take ESPALIER_TRIALS=2
  platform 4 >net.csv
  preloaded 4 timing alltoall 2 4000000
  all_right
  # 64 bytes to 2 MiB: 14 calls of each of six sizes. Four sizes are below the threshold, and of the others 6 are trials.
  local calls='^MPI_Alltoall[(]v[)] +[0-9]+ [KM]?i?B .*'
  [ "$(grep -cE "$calls" stderr)" -eq 6 ] || fail 'not a row for each size'
  [ "$(awk '/^MPI_Alltoall[(]v[)] +[0-9]/ {plans += $4; mpi += $4 == 0 ? $6 : $7} END {print plans + mpi}' stderr)" -eq 84 ] ||
    fail 'not every call is in the table'
  says_once '^espalier-pmpi: [0-9]+ MPI_Alltoall[(]v[)] taken .* left to MPI: 56 below the threshold, 6 to measure MPI.s own'
  taken 0
}

# Nothing is given: the first long broadcasts are pulled, and show the network; from then on there are plans for all.
# They must take some 16 ms, in memory.
test_learning() {
  local bytes=100000001
  export ESPALIER_VERBOSE=1 ESPALIER_LOCAL=take XDG_CACHE_HOME=$PWD/cache
  ESPALIER_LEARN=run preloaded 4 learning $bytes
  all_right
  says '^espalier-pmpi: 100 MB from rank 0 to 4 ranks: pulled, .* at the root, [^ ]+ [^ ]+$'
  [ ! -e cache ] || fail 'kept what it learnt'
  ESPALIER_PLATFORM=nowhere.json preloaded 4
  if grep -q 'this build cannot plan' stderr; then return; fi
  for runs in 1 2; do
    preloaded 4 learning $bytes
    all_right
    if [ $runs = 1 ]; then
      says_once '^espalier-pmpi: the network is learnt; plans are made from now on$'
      says_once ': 100 MB from rank 1 to 4 ranks: pulled, '
      says_once '^espalier-pmpi: 3 MPI_Allreduce taken .* 5 before the network was known$'
    else  # what the first one has kept
      if grep -qE 'pulled|before the network was known' stderr; then fail 'did not know the network'; fi
      says ': 100 MB from rank 1 to 4 ranks: optimal, '
    fi
    says ': 100 MB from rank 3 to 4 ranks: optimal, [0-9]+ trees?, .* planned$'
    says ': 400 kB from and to 4 ranks: [a-z]'
    says ': 400 kB from and to 3 ranks: [a-z]'
  done
  # By MPI and by a pull in turns, then by MPI, the pull and a plan.
  ESPALIER_LEARN=run ESPALIER_TRIALS=1 preloaded 4 learning $bytes
  all_right
  says 'left to MPI: .* to measure MPI.s own'
  for nothing in ESPALIER_LEARN=no ESPALIER_LOCAL=hand-on; do
    env $nothing "$mpiexec" -n 4 env LD_PRELOAD="$library${others:+:$others}" "$program" learning 2000000 >stdout 2>stderr
    status=$?
    all_right
    says_once '^espalier-pmpi: MPI runs unchanged: none of '
  done
}

# Allgathers, too.
test_gathering() {
  export ESPALIER_VERBOSE=1 ESPALIER_LOCAL=take ESPALIER_LEARN=run
  preloaded 4 gathering 100000000
  all_right
  says '^espalier-pmpi: 100 MB from and to 4 ranks: pulled, '
  ESPALIER_PLATFORM=nowhere.json preloaded 4
  if grep -q 'this build cannot plan' stderr; then return; fi
  preloaded 4 gathering 100000000
  all_right
  says_once '^espalier-pmpi: the network is learnt; plans are made from now on$'
  says ': optimal, [0-9]+ trees?, .* planned$'
}

# A Fortran program that calls each of the functions.
test_fortran() {
  bare 4
  all_right
  need_planner || return
  export ESPALIER_VARYING=agree ESPALIER_VERBOSE=1 ESPALIER_PLATFORM=net.csv ESPALIER_LOCAL=take
  platform 4 >net.csv
  preloaded 4
  all_right
  for function in 1\ MPI_Bcast 1\ MPI_Reduce 1\ MPI_Allreduce '3 MPI_Allgather[(]v[)]' '2 MPI_Reduce_scatter[(]_block[)]' \
    '2 MPI_Scatter[(]v[)]' '2 MPI_Gather[(]v[)]' '2 MPI_Alltoall[(]v[)]'; do
    says_once "^espalier-pmpi: $function taken "
  done
  says_once 'MPI_Alltoall.* 1 left to MPI: 1 non-blocking$'
}

# Whether this build has the planner; if not, it must report so.
need_planner() {
  ESPALIER_PLATFORM=nowhere.json preloaded 4
  all_right
  grep -q 'this build cannot plan' stderr || return 0
  says_once '^espalier-pmpi: ESPALIER_PLATFORM: this build cannot plan .*; MPI runs unchanged$'
  return 1
}

test_threshold() {
  export ESPALIER_PLAN=three.json ESPALIER_VERBOSE=1
  ESPALIER_THRESHOLD=1MB preloaded 3
  all_right
  taken 1
  says_once '^espalier-pmpi: .* at the root'
  says '^espalier-pmpi: 1 MPI_Bcast taken \(1.5 MB\)'
  ESPALIER_THRESHOLD=0 preloaded 3
  all_right
  says '^espalier-pmpi: 1 B from rank 0 to 3 ranks'
}

# Here all ranks are on one host, so with a mapping by host no plan fits.
test_by_host() {
  ESPALIER_PLAN=from1.json ESPALIER_MAP=host ESPALIER_VERBOSE=1 preloaded 4
  all_right
  taken 0
  says 'that no plan fits'
}

test_refusals() {
  echo '{' >broken.json
  plan 4 1 '3000000 [1,0],[0,2]' >two-edges.json
  table broadcast 4 '1000 linear 0' >good-table.json
  table broadcast 4 '1000 lineer 0' >bad-table.json
  table alltoall 4 '1000 linear 0' >alltoall.json
  helped >helped.json
  # VARIABLE=VALUE|MESSAGE
  while IFS='|' read -r setting text; do
    ESPALIER_PLAN=from1.json
    export "ESPALIER_PLAN=from1.json" "ESPALIER_${setting?}"
    preloaded 4
    all_right
    says_once 'espalier'
    says "^espalier-pmpi: $text.*; MPI runs unchanged\$"
    unset "${!ESPALIER_@}"
  done <<'END'
PLAN=nowhere.json|nowhere.json: cannot open
PLAN=from1.json:broken.json|broken.json: line 
PLAN=two-edges.json|two-edges.json: /broadcast_trees/0
PLAN=helped.json|helped.json: /blocks/0/members: MPI_Bcast sends to all ranks
PLAN=:|ESPALIER_PLAN: ':' is not a list of files
THRESHOLD=much|ESPALIER_THRESHOLD: 
DECISIONS=nowhere.json|nowhere.json: cannot open
DECISIONS=bad-table.json|bad-table.json: /rows/0/algorithm: unknown algorithm 'lineer'; did you mean 'linear'
DECISIONS=alltoall.json|alltoall.json: /operation: 'alltoall' has no plans
DECISIONS=good-table.json:good-table.json|good-table.json: /operation: another file of ESPALIER_DECISIONS is for
DECISIONS=::|ESPALIER_DECISIONS: '::' is not a list of files
TUNED=from1.json|from1.json: unknown key 'operation'
MAP=rank|ESPALIER_MAP: 'rank' is neither 'order' nor 'host'
LOCAL=yes|ESPALIER_LOCAL: 'yes' is neither 'hand-on' nor 'take'
MAX_TREES=0|ESPALIER_MAX_TREES: '0' is not a number of trees
VERBOSE=yes|ESPALIER_VERBOSE: 'yes' is neither 0 nor 1
REPORT=2|ESPALIER_REPORT: '2' is neither 0 nor 1
LEARN=yes|ESPALIER_LEARN: 'yes' is neither 'keep' nor 'run' nor 'no'
TRIALS=many|ESPALIER_TRIALS: 'many' is not a number of trials, 0 to 1000
END
  preloaded 4  # no plan at all
  all_right
  says_nothing
  ESPALIER_PLAN=from1.json ESPALIER_VERBOSE=1 preloaded 4 errors
  [ "$status" -eq 0 ] || fail "status $status of a wrong root"
}

# No deadlock, and the program's error handler is called. (MPICH calls it itself.)
test_mismatch() {
  ESPALIER_PLAN=from1.json preloaded 4 mismatch
  [ "$status" -ne 0 ] || fail "status 0"
  says '^espalier-pmpi: rank [0-9], receiving segment |^Abort.* Fatal error'
}

# Reductions to two of four roots, and to all ranks.
test_reductions() {
  export ESPALIER_VERBOSE=1
  ESPALIER_PLAN=from1.json:to1.json:all.json:to2.json preloaded 4 reductions
  all_right
  # To two roots and to all: two sizes, three types; and in place.
  says '400 kB from 4 ranks to rank 1: by hand, 2 trees, .* at the root, .* of 32.0000 Mbit/s planned$'
  says '400 kB from 4 ranks to rank 2: by hand, 1 tree, '
  says '400 kB from and to 4 ranks: by hand, 2 trees, .* at rank 0, '
  if grep -qE 'ranks to rank [03]:' stderr; then fail 'took a call without a plan'; fi
  says_once '^espalier-pmpi: 0 MPI_Bcast taken'
  says_once '^espalier-pmpi: 8 MPI_Reduce taken .* below the threshold, .* that no plan fits, .* cannot use trees$'
  says_once '^espalier-pmpi: 4 MPI_Allreduce taken .* below the threshold, .* cannot use trees$'
  ESPALIER_PLAN=from1.json preloaded 4 reductions
  all_right
  says_once '^espalier-pmpi: 0 MPI_Reduce taken'
  preloaded 7 reductions
  all_right
  unset ESPALIER_VERBOSE
  ESPALIER_PLAN=all.json preloaded 4 reductions
  all_right
  says_nothing
}

# Two threads that make calls at the same time.
test_threads() {
  export ESPALIER_PLAN=from1.json:from2.json:to1.json:to2.json:all.json ESPALIER_VERBOSE=1
  preloaded 4
  grep -qx 'no threads' stdout && return
  all_right
  # Two threads with a communicator, and 6 rounds with a copy each: 24 times two roots of each kind, and all.
  says_once '^espalier-pmpi: 48 MPI_Bcast taken '
  says_once '^espalier-pmpi: 48 MPI_Reduce taken '
  says_once '^espalier-pmpi: 96 MPI_Allreduce taken '
  ESPALIER_PLAN=from1.json ESPALIER_TIMEOUT=60s preloaded 4
  all_right
}

# An error handler's own calls are taken as well.
test_handler() {
  export ESPALIER_PLAN=from1.json:from2.json ESPALIER_VERBOSE=1
  preloaded 4 handler
  all_right
  says '^espalier-pmpi: elements with holes may have at most 2147483647 bytes each'
  says_once '^espalier-pmpi: 2 MPI_Bcast taken '
}

test_own_op() {
  export ESPALIER_PLAN=to1.json:to2.json:all.json ESPALIER_VERBOSE=1
  preloaded 4 own_op
  all_right
  says_once '^espalier-pmpi: 2 MPI_Reduce taken '
  says_once '^espalier-pmpi: 1 MPI_Allreduce taken '
}

# Six plans for each of seven roots, on one communicator of the library's.
test_many_plans() {
  table broadcast 7 '10000 linear 0' '20000 binomial 0' '30000 pipeline 1000' '40000 binary 0' '50000 two-tree 5000' \
    '60000 split-binary 3000' >bcast.json
  export ESPALIER_VERBOSE=1 ESPALIER_DECISIONS=bcast.json ESPALIER_THRESHOLD=0
  for timeout in '' 60s; do
    ESPALIER_TIMEOUT=$timeout preloaded 7
    all_right
    says_once '^espalier-pmpi: 84 MPI_Bcast taken .* 0 left to MPI$'
    grep -qx 'communicators: 1' stdout || fail 'has several communicators'
  done
}

"test_$case_name"
[ "$failures" -eq 0 ]
