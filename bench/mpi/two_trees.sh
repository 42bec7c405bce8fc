#!/usr/bin/env bash
# Times the topology-oblivious trees on the same ranks, each alternately with MPI_Bcast within one run: two-tree-sanders with
# its rounds and without, two-tree-complete, split-binary, several chains and one chain.
# Usage: two_trees.sh ESPALIER ESPALIER_MPI [RANKS [MESSAGE [REPEAT [SEGMENT [TURNS]]]]]   (defaults 8, 64MiB, 11, 1MiB, 3)
# Prints a line per shape and turn: both medians, and the speedup over MPI_Bcast. Each turn runs all shapes, so that other
# load on the machine affects all of them.
set -eu
planner=$1 program=$2 ranks=${3:-8} message=${4:-64MiB} repeat=${5:-11} segment=${6:-1MiB} turns=${7:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Open MPI on fewer processors than ranks: yield while waiting.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1

# Equal links between every two hosts.
{
  echo 'from,to,bandwidth_Gbps'
  for ((i = 0; i < ranks; i++)); do
    for ((j = 0; j < ranks; j++)); do [ $i = $j ] || echo "n$i,n$j,10"; done
  done
} >"$work/platform.csv"
shapes='two-tree-sanders two-tree-complete split-binary k-chain chain'
for shape in $shapes; do
  "$planner" plan "$work/platform.csv" --source n0 --algorithm "$shape" --segment "$segment" --quiet -o "$work/$shape" >/dev/null
done

# measure NAME PLAN OPTION...
measure() {
  local name=$1 plan=$2
  shift 2
  mpirun -np "$ranks" "$program" bcast "$plan" --message "$message" --repeat "$repeat" "$@" \
    --compare-mpi-bcast --json --quiet >"$work/json"
  awk -v name="$name" '
    /"median_s"/ { gsub(/[^0-9.e-]/, "", $2); median[++n] = $2 }
    /"relative_to_mpi_bcast"/ { gsub(/[^0-9.e-]/, "", $2); ratio = $2 }
    END { printf "%-25s ours %.4f s, MPI_Bcast %.4f s, ratio %.3f\n", name, median[1], median[2], ratio }
  ' "$work/json"
}
for ((turn = 1; turn <= turns; turn++)); do
  measure "two-tree-sanders, rounds" "$work/two-tree-sanders" --rounds
  for shape in $shapes; do measure "$shape" "$work/$shape"; done
done
