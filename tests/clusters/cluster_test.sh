#!/usr/bin/env bash
# Tests clusters as a user runs them: programs, the speed of the links, cleanup.
# Usage: cluster_test.sh ESPALIER ESPALIER_MPI REDUCTIONS openmpi|mpich [UNMODIFIED PRELOADED]
# Status 77, with the reason, if this machine cannot run a cluster.
set -u
espalier=$1 program=$2 reductions=$3 mpi=$4 unmodified=${5:-} preloaded=${6:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# on_cluster ARGS...: runs run-on-cluster; output in stdout and stderr, status in $status.
on_cluster() {
  "$here/run-on-cluster" --espalier "$espalier" "$@" >stdout 2>stderr </dev/null
  status=$?
}
run() { on_cluster platform.json --mpi "$mpi" --timeout 60 -- "$@"; }
done_well() { [ "$status" -eq 0 ] || { fail "status $status"; cat stdout stderr; }; }
refused() {
  [ "$status" -eq 2 ] || { fail "status $status, not 2"; cat stderr; }
  [ "$(cat stderr)" = "run-on-cluster: $1" ] || { fail "does not say '$1'"; cat stderr; }
}
leaves_nothing() {
  ! ip netns list | grep '^espalier-bed-' || fail "namespaces are left"
  ! ls -d /etc/netns/espalier-bed-* 2>/dev/null || fail "folders are left"
  ! ls -d "${TMPDIR:-/tmp}"/espalier-cluster-* 2>/dev/null || fail "a folder for temporary files is left"
}

# Two hosts and a third behind a link of 40 Mbit/s.
cat >platform.json <<'END'
{"format": "espalier-platform", "version": 1, "name": "test",
 "nodes": [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "s", "relay": true}, {"name": "t", "relay": true}],
 "links": [{"from": "a", "to": "s", "bandwidth": "200 Mbit/s", "both_ways": true},
           {"from": "b", "to": "s", "bandwidth": "200 Mbit/s", "both_ways": true},
           {"from": "s", "to": "t", "bandwidth": "40 Mbit/s", "both_ways": true},
           {"from": "c", "to": "t", "bandwidth": "200 Mbit/s", "both_ways": true}]}
END

run hostname
if [ "$status" -eq 77 ]; then
  cat stderr
  exit 77
fi
done_well
[ "$(sort stdout | tr '\n' ' ')" = "a b c " ] || { fail "not a rank on each host"; cat stdout; }
before=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)

# Every byte arrives, no faster than the platform's links allow: 2 MiB, less a full token bucket, at 40 Mbit/s.
"$espalier" plan platform.json --source a --model bounded-multi-port --segment 32KiB --quiet -o plan.json >/dev/null
run "$program" bcast plan.json --message 2MiB --verify --json --map host
done_well
grep -q '"verified": true' stdout || { fail "not verified"; cat stdout; }
awk '/"median_s"/ { gsub(/[^0-9.e-]/, "", $2); if ($2 >= (2097152 - 65536) * 8 / 40e6) found = 1 } END { exit !found }' stdout ||
  { fail "faster than its links"; cat stdout; }

# Over a host that forwards: traffic to c crosses the link to b as well, so 2 x 1 MiB share 40 Mbit/s.
printf 'from,to,bandwidth_Bps,both_ways\na,b,5e6,yes\nb,c,5e6,yes\n' >chain.csv
printf 'from,to,bandwidth_Bps,both_ways\na,b,5e6,yes\na,c,5e6,yes\n' >flat.csv
"$espalier" plan flat.csv --source a --algorithm flat --segment 32KiB --quiet -o flat.json >/dev/null
on_cluster chain.csv --forward --mpi "$mpi" --timeout 60 -- "$program" bcast flat.json --message 1MiB --verify --json --map host
done_well
grep -q '"verified": true' stdout || { fail "not verified when forwarded"; cat stdout; }
awk '/"median_s"/ { gsub(/[^0-9.e-]/, "", $2); if ($2 >= (2097152 - 65536) * 8 / 40e6) found = 1 } END { exit !found }' stdout ||
  { fail "the link is not shared with forwarded traffic"; cat stdout; }
on_cluster chain.csv --forward --show
[ "$(sed -n 4p stdout)" = "link 'a' to 'b': 40 Mbit/s, used by 2 pairs" ] || { fail "shows other links"; cat stdout; }
on_cluster chain.csv --show
[ "$(head -n 1 stdout)" = "a: sends unlimited, receives unlimited; to b 40 Mbit/s, c 10 Mbit/s" ] || { fail "forwards without --forward"; cat stdout; }

# Ranks that alternate between hosts are put in order, and with the file that is written they start in order.
if [ "$mpi" = openmpi ]; then
  printf 'a near\nb far\nc near\n' >groups
  on_cluster platform.json --timeout 60 --per-host 2 --mpirun-option=--rank-by --mpirun-option=node -- \
    "$program" reorder --groups groups --hostfile hosts --rankfile ranks
  done_well
  awk 'NR > 6 { order = order $2 } END { exit order != "032514" }' stdout || { fail "another order"; cat stdout; }
  printf 'a slots=2\nc slots=2\nb slots=2\n' | cmp - hosts || fail "another hostfile"
  printf 'rank %d=%s slot=%d\n' 0 a 0 1 a 1 2 c 0 3 c 1 4 b 0 5 b 1 | cmp - ranks || fail "another rankfile"
fi

# A probe measures the links: c's are slower, and a and b do not limit each other. A plan can be made from its result.
run "$program" probe -o probed.json --effort quick --quiet
done_well
[ -e probed.json.measurements.json ] && fail "measurements are left"
awk '/"bandwidth_Bps"/ { split($0, part, /"/); match($0, /"bandwidth_Bps":[0-9.e+]*/)
       rate = substr($0, RSTART + 16, RLENGTH - 16) * 8e-6; link = part[4] == "c" || part[8] == "c" ? 40 : 200
       if (part[2] == "from" && (rate > 1.25 * link || rate < 0.5 * link)) { print part[4], part[8], rate; wrong = 1 } links += part[2] == "from" }
     END { exit wrong || links != 6 }' probed.json || { fail "probed links"; cat probed.json; }
"$espalier" plan probed.json --source a --model bounded-multi-port --quiet -o probed-plan.json >/dev/null || fail "no plan of the probe"
run "$program" bcast probed-plan.json --message 2MiB --verify --map host --quiet
done_well

# Between hosts, segments are received before the ranks know that their calls are consistent. If they are not, no buffer
# overflows, and all ranks report the mismatch.
run "$reductions" --gtest_color=no '--gtest_filter=*Mismatch*'
done_well
grep -qF '[  PASSED  ] 6 tests.' stdout || { fail "not six tests"; cat stdout; }

# A link is cut during a run: the ranks at its ends report it, all ranks end, and no file is left.
cut_after_bytes() { # HOST BYTES; only in our own cluster: other tests may wait for a cluster with the same names
  local received=0 pid
  for ((i = 0; i < 2000 && received < $2; i++)); do
    sleep 0.1
    for pid in $(ip netns pids "espalier-bed-$1" 2>/dev/null); do
      [ "$(readlink "/proc/$pid/cwd")" = "$work" ] && break
      pid=
    done
    [ -n "${pid:-}" ] || continue
    received=$(ip -n "espalier-bed-$1" -s -j link show dat0 2>/dev/null | grep -oE '"rx":\{"bytes":[0-9]+' | grep -oE '[0-9]+$')
    received=${received:-0}
  done
  [ "$received" -ge "$2" ] && ip -n "espalier-bed-$1" link set dat0 down
}
head -c 60000000 /dev/urandom >in
cut_after_bytes 2 2000000 &
run "$program" bcast plan.json --in in --out 'out-{host}' --timeout 3s
wait $!
[ "$status" -eq 4 ] || { fail "status $status, not 4, after a link was cut"; cat stdout stderr; }
grep -qE '^espalier-mpi: rank 2 on c: rank 2: no progress for 3 s; receiving segment [0-9]+ .* from rank' stderr ||
  { fail "rank 2 does not report what it waits for"; cat stderr; }
[ -z "$(find . -name 'out-*' -o -name '.espalier*')" ] || { fail "a file is left"; ls -a; }
leaves_nothing

# Packets to a host over the chosen interface are not answered, as behind a firewall: no message arrives, but doctor ends,
# because ranks exchange what they find by names that mpirun keeps.
if [ "$mpi" = openmpi ]; then
  run "$program" doctor
  ! grep -E '^(firewall|unreached-interface|same-address):' stdout || fail "doctor finds a fault where there is none"
  printf '#!/bin/sh\n[ "$(hostname)" != c ] || ip route replace prohibit 10.78.0.0/25\nexec "$@"\n' >mute
  chmod +x mute
  run ./mute "$program" doctor
  [ "$status" -eq 5 ] || { fail "doctor: status $status, not 5"; cat stderr; }
  grep -q '^unreached-interface: a connects to c at 10.77.0.3, but not at 10.78.0.3, its dat0: ' stdout &&
    grep -qx '  cure  export OMPI_MCA_btl_tcp_if_include=10.77.0.0/24' stdout || { fail "doctor"; cat stdout stderr; }
fi

# An unmodified MPI program: plans are made at first use, for the hosts on which its ranks run.
if [ -n "$preloaded" ]; then
  on_cluster platform.json --mpi "$mpi" --timeout 120 -x LD_PRELOAD="$preloaded" -x ESPALIER_MAP=host \
    -x ESPALIER_PLATFORM="$work/platform.json" -x ESPALIER_TRIALS=0 -x ESPALIER_VERBOSE=1 -- "$unmodified"
  done_well
  grep -qx 'all right' stdout || { fail "wrong data"; cat stdout; }
  grep -qE '^espalier-pmpi: [1-9][0-9]* MPI_Bcast taken' stderr || { fail "took nothing"; cat stderr; }
  if grep -qE 'no plan' stderr; then fail "had no plan"; cat stderr; fi

  # Three ranks on each host; each rank is a node of the platform, and ranks of a host communicate through its memory.
  # Short calls within a host are left to MPI: 9 broadcasts, and a third of 27 reduces and of 9 allreduces.
  awk 'BEGIN {
    n = split("a b c", host, " ")
    for (i = 1; i <= n; ++i) {
      for (rank = 0; rank < 3; ++rank) {
        nodes = nodes sprintf("{\"name\": \"%s%d\"}, ", host[i], rank)
        links = links sprintf("{\"from\": \"%s%d\", \"to\": \"memory-%s\", \"bandwidth\": \"20 Gbit/s\", \"both_ways\": true},\n  ",
                              host[i], rank, host[i])
      }
      nodes = nodes sprintf("{\"name\": \"memory-%s\", \"relay\": true}, ", host[i])
      links = links sprintf("{\"from\": \"memory-%s\", \"to\": \"%s\", \"bandwidth\": \"200 Mbit/s\", \"both_ways\": true},\n  ",
                            host[i], host[i] == "c" ? "t" : "s")
    }
    printf "{\"format\": \"espalier-platform\", \"version\": 1, \"name\": \"ranks\",\n \"nodes\": [%s" \
           "{\"name\": \"s\", \"relay\": true}, {\"name\": \"t\", \"relay\": true}],\n \"links\": [%s" \
           "{\"from\": \"s\", \"to\": \"t\", \"bandwidth\": \"40 Mbit/s\", \"both_ways\": true}]}\n", nodes, links
  }' >ranks.json
  while read -r local broadcasts reduces allreduces; do
    on_cluster platform.json --mpi "$mpi" --per-host 3 --timeout 120 -x LD_PRELOAD="$preloaded" -x ESPALIER_LOCAL="$local" \
      -x ESPALIER_PLATFORM="$work/ranks.json" -x ESPALIER_TRIALS=0 -x ESPALIER_VERBOSE=1 -- "$unmodified" hosts
    done_well
    grep -qx 'all right' stdout || { fail "wrong data with ESPALIER_LOCAL=$local"; cat stdout; }
    for taken in "$broadcasts MPI_Bcast" "$reduces MPI_Reduce" "$allreduces MPI_Allreduce"; do
      grep -qE "^espalier-pmpi: $taken taken" stderr || { fail "not $taken with ESPALIER_LOCAL=$local"; cat stderr; }
    done
    if grep -qE 'no plan' stderr; then fail "had no plan"; cat stderr; fi
  done <<'END'
hand-on 27 72 18
take 27 81 21
END
fi
leaves_nothing
[ "$(sysctl -n net.ipv4.tcp_allowed_congestion_control)" = "$before" ] || fail "the kernel's list of congestion controls has changed"

# The command's status is returned, and a command that exceeds the timeout is ended.
run false
[ "$status" -ne 0 ] || fail "the status of false is 0"
on_cluster platform.json --mpi "$mpi" --timeout 2 -- sleep 100
[ "$status" -eq 124 ] || fail "status $status after the timeout"
leaves_nothing

# A killed run leaves its cluster, and the next run removes it. (The test waits for its own process.)
"$here/run-on-cluster" platform.json --espalier "$espalier" --mpi "$mpi" -- sleep 100 >killed 2>&1 </dev/null &
victim=$!
for ((i = 0; i < 100; i++)); do
  [ "$(ip netns pids espalier-bed-2 2>/dev/null | wc -l)" -gt 1 ] && break
  sleep 0.1
done
kill -KILL "$victim"
wait "$victim" 2>/dev/null
ip netns list | grep -q '^espalier-bed-2' || fail "there was no cluster to be killed"
run hostname
done_well
leaves_nothing

# After SIGTERM, a run removes its cluster itself.
"$here/run-on-cluster" platform.json --espalier "$espalier" --mpi "$mpi" -- sleep 100 >killed 2>&1 </dev/null &
victim=$!
for ((i = 0; i < 100; i++)); do
  [ "$(ip netns pids espalier-bed-2 2>/dev/null | wc -l)" -gt 1 ] && break
  sleep 0.1
done
kill -TERM "$victim"
wait "$victim"
status=$?
[ "$status" -eq 143 ] || fail "status $status after SIGTERM"
leaves_nothing

on_cluster platform.json -- no-such-program
refused "no-such-program: no such program"
on_cluster platform.json --ranks 4 -- hostname
refused "4 ranks: the platform has 3 hosts"
on_cluster platform.json --ranks 7 --per-host 2 -- hostname
refused "7 ranks: the platform has 3 hosts, for 2 ranks each"
on_cluster platform.json
refused "no command: run-on-cluster PLATFORM [options] -- COMMAND..."
on_cluster nowhere.json -- hostname
refused "nowhere.json: cannot open: No such file or directory"
leaves_nothing
[ "$failures" -eq 0 ]
