#!/usr/bin/env bash
# doctor finds faults that can be made here: variables, limits, folders, a launcher of another MPI, plans.
# Usage: doctor_test.sh ESPALIER_MPI MPIEXEC [ESPALIER]
set -u
export program=$1 mpiexec=$2 espalier=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
  printf 'FAIL: %s\n' "$1" >&2
  failures=$((failures + 1))
}

# finds CHECK COMMAND...: the command ends with status 5 and reports the check.
finds() {
  local check=$1
  shift
  "$@" --json >found 2>errors </dev/null
  local status=$?
  [ "$status" -eq 5 ] || fail "$check: status $status"
  grep -q "\"check\": \"$check\"" found || { fail "$check is not found"; cat found errors; }
}

mkdir fake
printf '#!/bin/sh\nprintf "HYDRA build details:\\n    Version:    9.9.1\\n"\n' >fake/mpirun
chmod +x fake/mpirun
printf '%s\n' '{"format": "espalier-plan", "version": 1, "operation": "broadcast", "platform": "p", "source": "a",' \
  '"model": "one-port", "algorithm": "chain", "nodes": ["a", "b", "c"], "slice_bytes": 10000, "throughput_Bps": 1e6,' \
  '"optimum_Bps": null, "broadcast_trees": [{"rate_Bps": 1e6, "edges": [[0, 1], [1, 2]]}]}' >plan.json

two() { "$mpiexec" -n 2 "$program" doctor "$@"; }
finds rank-count two plan.json
finds out-unwritable two --out no/such/folder/file
finds unknown-interface env OMPI_MCA_btl_tcp_if_include=nosuch0 "$mpiexec" -n 2 "$program" doctor
finds two-mpis env PATH="$work/fake:$PATH" "$mpiexec" -n 2 "$program" doctor
finds ranks-alone env PMI_SIZE=2 "$program" doctor
if [ "$(nproc)" -lt 4 ] && "$mpiexec" --version | grep -q "Open MPI"; then
  finds oversubscribed env -u OMPI_MCA_mpi_yield_when_idle "$mpiexec" -n 4 "$program" doctor
fi
two --list >list 2>&1 || fail "--list: status $?"
grep -q '^host-order  ' list || { fail "--list"; cat list; }
two no-such-plan.json >/dev/null 2>errors
[ $? -eq 2 ] || fail "a missing plan"

if [ -n "$espalier" ]; then
  finds cache-unwritable env -u HOME -u XDG_CACHE_HOME "$espalier" doctor
  finds scratch-unwritable env TMPDIR="$work/none" "$espalier" doctor
  long=$work/$(printf 't%.0s' {1..80})
  mkdir "$long"
  finds scratch-long env TMPDIR="$long" "$espalier" doctor
  finds preload-idle env ESPALIER_REPORT=1 "$espalier" doctor
  finds preload-missing env LD_PRELOAD="$work/libespalier_pmpi.so" "$espalier" doctor
  finds settings-file env ESPALIER_PLAN=gone.json "$espalier" doctor
  finds two-mpis env PATH="$work/fake:$(dirname "$(command -v "$mpiexec")")" "$espalier" doctor
  if [ "$(id -u)" -eq 0 ]; then
    finds as-root env -u OMPI_ALLOW_RUN_AS_ROOT "$espalier" doctor
  fi
  few() { (ulimit -n 100 && "$espalier" doctor "$@"); }
  finds open-files few
  printf 'from,to,bandwidth\na,b,8Mbit/s\nb,c,4Mbit/s\n' >p.csv
  finds network-changed "$espalier" doctor plan.json --platform p.csv
  printf 'from,to,bandwidth\na,b,8Mbit/s\n' >p.csv
  finds network-changed "$espalier" doctor plan.json --platform p.csv
fi
exit "$((failures > 0))"
