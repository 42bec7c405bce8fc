#!/usr/bin/env bash
# scripts/simulate-mpi: the executor's times in a network of which they can be computed.
# Usage: simulate_mpi_test.sh ESPALIER SOURCE_DIR BUILD_DIR     Status 77, with the reason, without SimGrid.
set -u
espalier=$1 source=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

simulate() {
  "$source/scripts/simulate-mpi" "$@" --espalier "$espalier" --build-dir "$build" >stdout 2>stderr </dev/null
  status=$?
}
# Seconds are simulated: the same on any machine.
takes() {
  awk -v low="$1" -v high="$2" '/"median_s"/ { gsub(/[^0-9.e-]/, "", $2); s = $2; if (s >= low && s <= high) good = 1 }
    END { if (!good) { print "took " s " s, not " low " to " high; exit 1 } }' stdout || fail "$3"
}

# 1 MB through a chain a - b - c at 1 MB/s, in segments of 10 kB: one second, and the last segment once more.
cat >chain.csv <<'END'
from,to,bandwidth_Bps,latency_s,both_ways
a,b,1e6,0.001,yes
b,c,1e6,0.001,yes
END
"$espalier" plan chain.csv --source a --segment 10000B --quiet -o chain.json >/dev/null
simulate chain.csv chain.json --message 1MB --verify --json
if [ "$status" -eq 77 ]; then
  cat stderr
  exit 77
fi
[ "$status" -eq 0 ] || { fail "status $status"; cat stdout stderr; }
grep -q '"verified": true' stdout || fail "not verified"
takes 1.01 1.25 "a chain"

# Two trees of 12.5 MB/s each: no single tree is faster than one of them.
platform=$source/tests/clusters/platforms/slow-senders.json
"$espalier" plan "$platform" --source h0 --model bounded-multi-port --segment 32KiB --quiet -o two.json >/dev/null
simulate "$platform" two.json --message 8MiB --json
[ "$status" -eq 0 ] || { fail "status $status"; cat stdout stderr; }
takes 0.3355 0.3900 "two trees"

# To one host and back, in segments that turn at the root.
"$espalier" plan chain.csv --source a --operation allreduce --algorithm chain --segment 10000B --quiet -o both.json >/dev/null
simulate chain.csv both.json --message 1MB --verify --json
[ "$status" -eq 0 ] || { fail "status $status of an allreduce"; cat stdout stderr; }
grep -q '"verified": true' stdout || fail "an allreduce is not verified"
takes 1.02 1.40 "an allreduce"

# Two ways from a to b: the plan's, at 2 MB/s, not the direct one.
cat >ways.json <<'END'
{"format": "espalier-platform", "version": 1, "nodes": [{"name": "a"}, {"name": "b"}, {"name": "S", "relay": true}],
 "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e6}, {"from": "a", "to": "S", "bandwidth_Bps": 2e6},
           {"from": "S", "to": "b", "bandwidth_Bps": 2e6}]}
END
"$espalier" plan ways.json --source a --algorithm best-tree --segment 10000B --quiet -o way.json >/dev/null
grep -q '"via"' way.json || { fail "the plan goes directly"; cat way.json; }
simulate ways.json way.json --message 1MB --json
[ "$status" -eq 0 ] || { fail "status $status of a plan with a way"; cat stdout stderr; }
takes 0.5 0.51 "the way of a plan"

simulate chain.csv two.json
[ "$status" -eq 2 ] || fail "status $status of a plan for another platform"
[ "$(cat stderr)" = "simulate-mpi: two.json: /nodes: 'h0' is no host of chain.csv" ] || { fail "refusal"; cat stderr; }
echo '{' >broken.json
simulate chain.csv broken.json
[ "$(cat stderr)" = "simulate-mpi: broken.json: /nodes: no list of names: not a plan" ] || { fail "refusal"; cat stderr; }
echo '{"nodes": ["a", "b"], "broadcast_trees": [{"edges": [[0, 5]]}]}' >broken.json
simulate chain.csv broken.json
[ "$status" -eq 2 ] || fail "status $status of malformed trees"
[ "$(cat stderr)" = "simulate-mpi: broken.json: malformed trees: not a plan" ] || { fail "refusal of trees"; cat stderr; }
[ "$failures" -eq 0 ]
