#!/usr/bin/env bash
# scripts/simulate-mpi: the executor's simulated times in networks for which they can be calculated.
# Usage: simulate_mpi_test.sh ESPALIER SOURCE_DIR BUILD_DIR     Status 77, with the reason, if SimGrid is missing.
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
# takes LOW HIGH WHAT: the median is in this range. The seconds are simulated, and so the same on any machine.
takes() {
  awk -v low="$1" -v high="$2" '/"median_s"/ { gsub(/[^0-9.e-]/, "", $2); s = $2; if (s >= low && s <= high) good = 1 }
    END { if (!good) { print "took " s " s, not " low " to " high; exit 1 } }' stdout || fail "$3"
}

# 1 MB through a chain a - b - c at 1 MB/s, in segments of 10 kB: one second, plus the last segment's second hop.
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

# Two trees of 12.5 MB/s each. A single tree cannot be faster than one of them.
platform=$source/tests/clusters/platforms/slow-senders.json
"$espalier" plan "$platform" --source h0 --model bounded-multi-port --segment 32KiB --quiet -o two.json >/dev/null
simulate "$platform" two.json --message 8MiB --json
[ "$status" -eq 0 ] || { fail "status $status"; cat stdout stderr; }
takes 0.3355 0.3900 "two trees"

# An allreduce: to the root and back, segment by segment.
"$espalier" plan chain.csv --source a --operation allreduce --algorithm chain --segment 10000B --quiet -o both.json >/dev/null
simulate chain.csv both.json --message 1MB --verify --json
[ "$status" -eq 0 ] || { fail "status $status of an allreduce"; cat stdout stderr; }
grep -q '"verified": true' stdout || fail "an allreduce is not verified"
takes 1.02 1.40 "an allreduce"

# Two routes from a to b: the plan's route, at 2 MB/s, is used, and not the direct link.
cat >routes.json <<'END'
{"format": "espalier-platform", "version": 1, "nodes": [{"name": "a"}, {"name": "b"}, {"name": "S", "relay": true}],
 "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e6}, {"from": "a", "to": "S", "bandwidth_Bps": 2e6},
           {"from": "S", "to": "b", "bandwidth_Bps": 2e6}]}
END
"$espalier" plan routes.json --source a --algorithm best-tree --segment 10000B --quiet -o relayed.json >/dev/null
grep -q '"via"' relayed.json || { fail "the plan uses the direct link"; cat relayed.json; }
simulate routes.json relayed.json --message 1MB --json
[ "$status" -eq 0 ] || { fail "status $status of a plan with a relay"; cat stdout stderr; }
takes 0.5 0.51 "the route of a plan"

simulate chain.csv two.json
[ "$status" -eq 2 ] || fail "status $status of a plan for another platform"
[ "$(cat stderr)" = "simulate-mpi: two.json: /nodes: 'h0' is not a host of chain.csv" ] || { fail "refusal"; cat stderr; }
echo '{' >broken.json
simulate chain.csv broken.json
[ "$(cat stderr)" = "simulate-mpi: broken.json: /nodes: not a list of names, so not a plan" ] || { fail "refusal"; cat stderr; }
echo '{"nodes": ["a", "b"], "broadcast_trees": [{"edges": [[0, 5]]}]}' >broken.json
simulate chain.csv broken.json
[ "$status" -eq 2 ] || fail "status $status of malformed trees"
[ "$(cat stderr)" = "simulate-mpi: broken.json: malformed trees, so not a plan" ] || { fail "refusal of trees"; cat stderr; }
[ "$failures" -eq 0 ]
