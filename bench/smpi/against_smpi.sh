#!/bin/bash
# Makespans of `espalier simulate` beside those of the executor under SMPI (Debian: simgrid,
# libsimgrid-dev), on the platform of cluster.json, which `espalier convert` writes for SimGrid.
#
#   bench/smpi/against_smpi.sh ESPALIER
set -euo pipefail
espalier=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
source=$(realpath "$here/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

smpicxx -std=c++20 -O2 -I"$source" "$here/broadcast.cpp" \
  "$source"/runtime/{agreement,broadcast,checksum,engine,mpi_error,rank_mapping,request_names,request_table,rounds,size_check,stop_words,stores}.cpp \
  "$source"/planner/{plan,plan_json,schedule_fault,slice_dealer}.cpp "$source"/support/*.cpp \
  -lfmt -o broadcast
seq -f 'h%g' 0 7 > hosts
"$espalier" convert "$here/cluster.json" -o cluster.xml --quiet
settings=(--log=root.thresh:error --cfg=network/model:CM02 --cfg=network/bandwidth-factor:1
  --cfg=network/latency-factor:1 --cfg=network/weight-S:0 --cfg=network/TCP-gamma:0
  --cfg=network/crosstraffic:no --cfg=smpi/simulate-computation:no --cfg=smpi/os:0:0:0:0:0
  --cfg=smpi/or:0:0:0:0:0 --cfg=smpi/test:1e-6 --cfg=smpi/grow-injected-times:no)
messages=(1048576 67108864 1073741824)

for algorithm in chain binomial flat grow optimal; do
  "$espalier" plan "$here/cluster.json" --source h0 --algorithm $algorithm -o plan.json --quiet > summary
  smpirun -np 8 -platform cluster.xml -hostfile hosts "${settings[@]}" \
    ./broadcast plan.json "${messages[@]}" 2> errors | grep -E '^[0-9]+ [0-9.]+$' > smpi || { cat errors; exit 1; }
  while read -r bytes seconds; do
    "$espalier" simulate plan.json --platform "$here/cluster.json" --message "$bytes" --json |
      grep -o '"makespan_s": [-+.e0-9]*' |
      awk -v a=$algorithm -v b="$bytes" -v s="$seconds" \
        '{ printf "%-9s %11d bytes  SMPI %9.6f s  simulate %9.6f s  %+5.1f %%\n", a, b, s, $2, 100 * ($2 / s - 1) }'
  done < smpi
done
