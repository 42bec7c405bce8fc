#!/usr/bin/env bash
# Times the executor and MPI_Bcast of the same ranks alternately within one run, for plans of one and of several trees.
# Usage: against_mpi_bcast.sh ESPALIER_MPI [RANKS [MESSAGE [REPEAT]]]     (defaults 8, 256MiB, 11)
# Prints two lines per plan, one with direct copies between ranks and one along the plan's edges: both medians, and the
# speedup over MPI_Bcast.
set -eu
program=$1 ranks=${2:-8} message=${3:-256MiB} repeat=${4:-11}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Open MPI on fewer processors than ranks: yield while waiting.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1

# plan TREE...: a tree is "RATE EDGES".
plan() {
  local names='"n0"' trees='' sum=0 i tree
  for ((i = 1; i < ranks; i++)); do names+=", \"n$i\""; done
  for tree in "$@"; do
    trees+="${trees:+, }{\"rate_Bps\": ${tree%% *}, \"edges\": [${tree#* }]}"
    sum=$((sum + ${tree%% *}))
  done
  echo "{\"format\": \"espalier-plan\", \"version\": 1, \"operation\": \"broadcast\", \"platform\": \"bench\"," \
    "\"source\": \"n0\", \"model\": \"one-port\", \"algorithm\": \"by hand\", \"nodes\": [$names]," \
    "\"slice_bytes\": 524288, \"throughput_Bps\": $sum, \"optimum_Bps\": null, \"broadcast_trees\": [$trees]}"
}
# Edges of a chain through the nodes 0, 1 s, 2 s, ... modulo the ranks that follow the source.
chain() {
  local step=$1 at=0 next i edges=''
  for ((i = 0; i < ranks - 1; i++)); do
    next=$((1 + i * step % (ranks - 1)))
    edges+="${edges:+,}[$at,$next]"
    at=$next
  done
  echo "$edges"
}
binary() {
  local i edges=''
  for ((i = 1; i < ranks; i++)); do edges+="${edges:+,}[$(((i - 1) / 2)),$i]"; done
  echo "$edges"
}
backwards=$((ranks - 2))
plan "1000000000 $(chain 1)" >"$work/chain"
plan "600000000 $(chain 1)" "400000000 $(chain "$backwards")" >"$work/two-chains"
plan "500000000 $(chain 1)" "300000000 $(chain "$backwards")" "150000000 $(binary)" "50000000 $(chain 1)" >"$work/four-trees"
for name in chain two-chains four-trees; do
  for how in '' --as-planned; do
    # shellcheck disable=SC2086  # none or one
    mpirun -np "$ranks" "$program" bcast "$work/$name" --message "$message" --repeat "$repeat" $how \
      --compare-mpi-bcast --json --quiet >"$work/json"
    awk -v name="$name" -v how="${how:-direct}" '
      /"median_s"/ { gsub(/[^0-9.e-]/, "", $2); median[++n] = $2 }
      /"relative_to_mpi_bcast"/ { gsub(/[^0-9.e-]/, "", $2); ratio = $2 }
      END { printf "%-12s %-13s ours %.4f s, MPI_Bcast %.4f s, ratio %.3f\n", name, how, median[1], median[2], ratio }
    ' "$work/json"
  done
done
