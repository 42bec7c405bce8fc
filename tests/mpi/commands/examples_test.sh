#!/usr/bin/env bash
# The examples can be built with an installed Espalier, and run.
# Usage: examples_test.sh BUILD_FOLDER SOURCE_FOLDER CMAKE MPIEXEC
set -eu
build=$1 source=$2 cmake=$3 mpiexec=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
"$cmake" -S "$source/examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" &&
  "$cmake" --build "$work/examples" >"$work/log" || { cat "$work/log"; exit 1; }
for program in broadcast broadcast_c; do
  "$mpiexec" -n 3 "$work/examples/$program" "$source/examples/two-chains.json" >"$work/said"
  cat "$work/said"
  [ "$(grep -cE '(999999|1e\+06)$' "$work/said")" -eq 3 ]
done
"$mpiexec" -n 3 "$work/examples/allgather_c" "$source/examples/ring.json" >"$work/said"
cat "$work/said"
[ "$(grep -c 'the last of 750000 numbers is 749999$' "$work/said")" -eq 3 ]
