#!/usr/bin/env bash
# espalier-mpi as a user runs it: output, exit status, and files.
# Usage: command_line_test.sh CASE ESPALIER_MPI MPIEXEC DAMAGING_NETWORK UNLUCKY_RANK   (CASE: a function of command_line/*.sh, test_...)
set -u
source "$(dirname "${BASH_SOURCE[0]}")/plans.sh"
cases=$(cd "$(dirname "${BASH_SOURCE[0]}")/command_line" && pwd)
case_name=$1 program=$2 mpiexec=$3 damaging_network=$4 unlucky_rank=$5
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

# refused STATUS TEXT: the last run ended with this status and printed one error line, which contains TEXT.
refused() {
  [ "$status" -eq "$1" ] || { fail "status $status, not $1"; cat stderr; }
  [ "$(grep -c '^espalier-mpi: ' stderr)" -eq 1 ] || { fail "not one line of ours"; cat stderr; }
  grep '^espalier-mpi: ' stderr | grep -qF -- "$2" || { fail "does not say '$2'"; cat stderr; }
  [ -s stdout ] && { fail "wrote to stdout"; cat stdout; }
  leaves_nothing
}

# For runs that leave no files to remove: without the second between SIGTERM and SIGKILL in which Open MPI lets the
# remaining ranks clean up after one has ended.
no_files_to_remove() { export OMPI_MCA_odls_base_sigkill_timeout=0; }

done_well() { [ "$status" -eq 0 ] || { fail "status $status"; cat stdout stderr; }; }
says() { grep -qE -- "$1" stdout || { fail "stdout lacks '$1'"; cat stdout; }; }

# There is neither an output nor a temporary file.
leaves_nothing() {
  local found
  found=$(find . -name 'out*' -o -name '.espalier*')
  [ -z "$found" ] || fail "left behind: $found"
}

# plan NODES TREE...
plan() { plan_in_segments 10000 "$1" 1 "${@:2}"; }
plan 4 '3000000 [1,0],[0,2],[2,3]' '1000000 [1,3],[3,2],[3,0]' >good.json

# The same trees reversed, for a reduce; for an allreduce also a chain down.
up=$(reversed good.json)
sed "s/\"broadcast\"/\"reduce\"/; s/\"broadcast_trees\": .*/\"reduce_trees\": $up}/" good.json >reduce.json
down='"broadcast_trees": [{"rate_Bps": 4000000, "edges": [[1,3],[3,0],[0,2]]}]'
sed "s/\"reduce\"/\"allreduce\"/; s/\"reduce_trees\"/$down, &/" reduce.json >allreduce.json

for file in "$cases"/*.sh; do source "$file"; done
"$case_name"
[ "$failures" -eq 0 ]
