# shellcheck shell=bash
# Cases of command_line_test.sh: messages, reductions, rounds, schedules, traces.

test_message() {
  for size in 0 1 9999 10000 10001 1MB; do
    ranks 4 bcast good.json --message $size --verify --repeat 3
    done_well
    says 'to 4 ranks, 2 trees, segments of'
    says '32.0000 Mbit/s planned'
    says '^verified'
  done
  ranks 4 bcast good.json --message 1MB
  says '^not verified'
  ranks 1 bcast <(plan 1 '1 ') --message 1MB --verify
  [ "$status" -ne 0 ] && plan 1 '1 ' | sed 's/"n1"/"n0"/' >one.json && ranks 1 bcast one.json --verify
  done_well
}

test_json() {
  ranks 4 bcast good.json --message 100kB --verify --repeat 3 --json
  done_well
  local keys
  keys=$(grep -oE '^  "[A-Za-z_]+"' stdout | tr -d ' "\n,' )
  [ "$keys" = operationranksmessage_bytessegment_bytesslice_bytessecondsmedian_sachieved_Bpsplanned_Bpsoptimum_Bpsverified ] ||
    fail "keys: $keys"
  says '"operation": "broadcast"'; says '"ranks": 4'; says '"message_bytes": 100000'
  says '"slice_bytes": 10000'; says '"planned_Bps": 4000000.0'; says '"optimum_Bps": null'
  says '"verified": true'
  [ "$(grep -cE '^    [0-9.e-]+,?$' stdout)" -eq 3 ] || fail "not three times"
  ranks 4 bcast good.json --message 100kB --json --compare-mpi-bcast
  done_well
  says '"relative_to_mpi_bcast": [0-9.]+'; says '"verified": false'
}

test_options() {
  ranks 4 bcast good.json --message 100kB --verify --window 1 --receives 1 --segment 77 --quiet
  done_well
  says 'segments of 77 B'
  ranks 4 bcast good.json --message 100kB --verify --ports 1 --quiet
  done_well
  ranks 4 bcast good.json --message 100kB --verify --compare-mpi-bcast
  done_well
  says 'MPI_Bcast: .*times as fast'
  "$mpiexec" -n 4 "$program" bcast - --message 1kB --verify <good.json >stdout 2>stderr
  status=$?
  done_well
  ranks 4 bcast good.json --message 100kB --verify --timeout never --timeout 5min; done_well
  ranks 4 bcast good.json --message 100kB --verify --timeout never; done_well
  ranks 2 --version; done_well; says '^espalier-mpi [0-9]'
  ranks 2 --help; done_well; says 'bcast'
  ranks 2 bcast --help; done_well; says '--compare-mpi-bcast'
  [ "$(grep -c -- '--receives' stdout)" -eq 1 ] || fail "help is printed by more than one rank"
}

test_reduce() {
  for command in reduce allreduce; do
    for size in 0 8 9992 10000 10008 1000000; do
      ranks 4 $command $command.json --message $size --verify --repeat 3
      done_well
      says 'segments of 10 kB'
      says '32.0000 Mbit/s planned'
      says '^verified on '
    done
    # Every combination is tested in tests/cli/espalier_mpi/elements_test.cpp.
    for elements in 'double sum' 'float prod' 'int32 max' 'int64 min' 'uint32 sum' 'uint64 max'; do
      ranks 4 $command $command.json --message 200000 --verify --type ${elements% *} --op ${elements#* } --segment 777
      done_well
      says "${elements#* } of ${elements% *}"
    done
    for op in band bor bxor; do
      ranks 4 $command $command.json --message 200000 --verify --type uint32 --op $op --ports 1
      done_well
    done
    ranks 4 $command $command.json --message 100000 --json --compare-mpi --verify
    done_well
    says "\"operation\": \"$command\""; says '"op": "sum"'; says '"type": "double"'; says '"verified": true'
    says "\"mpi_$command\": "; says "\"relative_to_mpi_$command\": [0-9.]+"
    ranks 4 $command $command.json --message 100000
    says '^not verified'
    ranks 4 $command --help; done_well; says '--compare-mpi'
  done
  ranks 4 reduce reduce.json --message 1000; says '1 kB from 4 ranks, sum of double, 2 trees, '
  ranks 4 allreduce allreduce.json --message 1000
  says '1 kB from and to 4 ranks, sum of double, 2 trees up, 1 down, '
}

test_barrier() {
  sed 's/"allreduce"/"barrier"/' allreduce.json > barrier.json
  ranks 4 barrier barrier.json --repeat 5 --compare-mpi; done_well
  says '^barrier of 4 ranks via n[0-3]: .* \(median of 5, '; says '^MPI_Barrier: '; says '^no data to verify'
  ranks 4 barrier barrier.json --json; done_well
  says '"operation": "barrier"'; says '"message_bytes": 0'; says '"median_s": '
  ranks 4 bench barrier.json --repeat 2 --warm-up 0; done_well
  says 'MPI_Barrier'; says 'barrier among 4 ranks'
  ranks 4 allreduce barrier.json; refused 2 "/operation: the plan is for a barrier, not for an allreduce"
}

test_reduce_refusals() {
  no_files_to_remove
  ranks 4 reduce good.json; refused 2 "good.json: /operation: the plan is for a broadcast, not for a reduce"
  ranks 4 reduce allreduce.json; refused 2 "/operation: the plan is for an allreduce, not for a reduce"
  ranks 4 allreduce reduce.json; refused 2 "/operation: the plan is for a reduce, not for an allreduce"
  ranks 4 bcast reduce.json; refused 2 "reduce.json: /operation: the plan is for a reduce, not for a broadcast"
  ranks 3 reduce reduce.json; refused 2 "the plan has 4 nodes, but 3 ranks"
  ranks 2 reduce reduce.json --op bxor; refused 2 "--op: MPI_BXOR is not defined on MPI_DOUBLE"
  ranks 2 reduce reduce.json --message 100; refused 2 "--message: 100 bytes are not a multiple of a double's 8"
  ranks 4 reduce reduce.json --message 1000TiB; refused 2 "4 ranks on one host with"
}

# The two trees of two-tree-sanders over four ranks, from n1.
test_rounds() {
  plan 4 '1000000 [1,3],[3,2],[3,0]' '1000000 [1,2],[2,0],[2,3]' >plain.json
  sed 's/\[3,0\]\]/[3,0]], "colors": [0,0,1]/; s/\[2,3\]\]/[2,3]], "colors": [1,0,1]/' plain.json >colored.json
  for size in 0 1 10000 1MB; do
    ranks 4 bcast colored.json --message $size --verify --repeat 2 --rounds
    done_well
    says '^verified'
  done
  ranks 4 bcast colored.json --message 1MB --verify; done_well
  head -c 12345678 /dev/urandom >in
  ranks 4 bcast colored.json --in in --out 'out{rank}' --verify --rounds; done_well
  same_everywhere
  sed 's/"broadcast"/"reduce"/; s/"broadcast_trees": .*/"reduce_trees": '"$(reversed colored.json)"'}/' colored.json >up.json
  ranks 4 reduce up.json --message 100000 --verify --repeat 2 --rounds; done_well
  says '^verified'
  ranks 4 bench up.json --sizes 0,100kB --repeat 2 --verify --rounds; done_well
  ranks 4 reduce reduce.json --rounds
  refused 2 "reduce.json: /reduce_trees/0: rounds need colors, which this plan's trees do not have"
  ranks 4 bcast plain.json --rounds
  refused 2 "plain.json: /broadcast_trees/0: rounds need colors, which this plan's trees do not have"
  sed 's/"colors": \[0,0,1\]/"colors": [0,1,1]/' colored.json >clash.json
  ranks 4 bcast clash.json --rounds
  refused 2 "clash.json: /broadcast_trees/0/colors/2: node 'n3' sends on two edges of color 1"
  sed 's/1000000/3000000/; s/: 2000000/: 4000000/' colored.json >uneven.json
  ranks 4 bcast uneven.json --rounds; refused 2 "uneven.json: /broadcast_trees/1/rate_Bps: rounds need trees of equal rates"
}

# Those of timed.json in reverse, and for an allreduce those of timed.json after them in the same period.
timed_reductions() {
  local up down trees
  trees=$(reversed plain.json)
  up=$(sed -E 's/\[([01]),([0-3]),([0-3]),/[\1,\3,\2,/g' <<<"$1")
  down=$(sed -E 's/\[0,/[2,/g; s/\[1,/[3,/g; s/,0\.01,0\.01,/,0.03,0.01,/g; s/,0,0\.01,/,0.02,0.01,/g' <<<"$1")
  sed "s/\"broadcast\"/\"reduce\"/; s/\"broadcast_trees\": .*/\"reduce_trees\": $trees, \"schedule\": {\"period_s\": 0.02, \"throughput_Bps\": 1000000, \"slices\": [1,1], \"sends\": [$up]}}/" \
    plain.json >reduce-timed.json
  sed "s/\"broadcast\"/\"allreduce\"/; s/]}\$/], \"reduce_trees\": $trees, \"schedule\": {\"period_s\": 0.04, \"throughput_Bps\": 500000, \"slices\": [1,1,1,1], \"sends\": [$up,$down]}}/" \
    plain.json >allreduce-timed.json
  for command in reduce allreduce; do
    for size in 0 8 16008 1MB; do
      ranks 4 $command $command-timed.json --message $size --verify --repeat 2 --schedule
      done_well
      says '^verified'
    done
    ranks 4 $command $command-timed.json --message 200000 --verify --schedule --segment 777 --window 1 --receives 1; done_well
    ranks 4 bench $command-timed.json --sizes 0,80kB --repeat 2 --verify --schedule; done_well
    ranks 4 $command $command-timed.json --message 8kB --schedule --ports 1; refused 2 "a schedule cannot be combined with ports or rounds"
  done
}

# Two alternating trees over four ranks, from n1: in each half of the period a rank sends once and receives once.
test_schedule() {
  plan 4 '1000000 [1,0],[0,2],[2,3]' '1000000 [1,3],[3,2],[3,0]' >plain.json
  local sends='[0,1,0,0,0.01,10000],[0,2,3,0,0.01,10000],[1,3,2,0,0.01,10000]'
  sends+=',[1,1,3,0.01,0.01,10000],[1,3,0,0.01,0.01,10000],[0,0,2,0.01,0.01,10000]'
  local schedule="\"period_s\": 0.02, \"throughput_Bps\": 1000000, \"slices\": [1,1], \"sends\": [$sends]"
  sed "s/]}\$/], \"schedule\": {$schedule}}/" plain.json >timed.json
  for size in 0 1 10000 20001 1MB; do
    ranks 4 bcast timed.json --message $size --verify --repeat 2 --schedule
    done_well
    says '^verified'
  done
  ranks 4 bcast timed.json --message 1MB --verify --schedule --segment 777 --window 1 --receives 1; done_well
  says 'segments of 777 B'
  ranks 4 bcast timed.json --message 1MB --verify; done_well
  head -c 12345678 /dev/urandom >in
  ranks 4 bcast timed.json --in in --out 'out{rank}' --verify --schedule; done_well
  same_everywhere
  ranks 4 bench timed.json --sizes 0,100kB --repeat 2 --verify --schedule; done_well
  ranks 4 bcast plain.json --schedule; refused 2 "plain.json: /schedule: this plan has no schedule; make one with espalier plan --schedule"
  ranks 4 bcast timed.json --schedule --ports 1; refused 2 "a schedule cannot be combined with ports or rounds"
  ranks 4 tune timed.json --message 1kB --schedule; refused 2 "--schedule needs the plan's segments; leave it out"
  ranks 4 reduce reduce.json --message 8kB --schedule; refused 2 "reduce.json: /schedule: this plan has no schedule"
  timed_reductions "$sends"
  sed 's/"slices": \[1,1\]/"slices": [1,2]/' timed.json >wrong.json
  ranks 4 bcast wrong.json --schedule; refused 2 "wrong.json: /schedule/throughput_Bps: the segments of a period carry"
  sed 's/"slice_bytes": 10000/"slice_bytes": 1/; s/\[1,1\]/[10000,2000000]/; s/"throughput_Bps": 1000000/"throughput_Bps": 100500000/
    s/\(\[1,[^]]*\)10000\]/\12000000]/g' timed.json >long.json
  ranks 4 bcast long.json --schedule; refused 2 "long.json: /schedule/slices: a period has 2010000 segments in 6030000 sends"
}

# A file in constant memory, and a message small enough that the exchange edges come last.
test_exchange() {
  plan 4 '1000000 [1,2],[2,0],[2,3]' '1000000 [1,3],[3,2],[1,0]' |
    sed 's/\[2,3\]\]/[2,3]], "exchange": [[2,3]]/; s/\[1,0\]\]/[1,0]], "exchange": [[3,2],[1,0]]/' >exchange.json
  ranks 4 bcast exchange.json --message 1MB --verify --repeat 2; done_well
  for size in 25000 45678901; do
    head -c $size /dev/urandom >in
    ranks 4 bcast exchange.json --in in --out 'out{rank}' --verify; done_well
    same_everywhere
  done
}

test_wrong_usage() {
  no_files_to_remove
  ranks 2 bcats good.json; refused 2 "unknown command 'bcats'; did you mean 'bcast'?"
  ranks 4 bcast good.json --map host; refused 2 "both run on host"
  ranks 4 bcast good.json --message 1000TiB; refused 2 "4 ranks on one host with"
}

test_bad_plans() {
  no_files_to_remove
  ranks 3 bcast good.json; refused 2 "the plan has 4 nodes, but 3 ranks"
  ranks 6 bcast good.json; refused 2 "the plan has 4 nodes, but 6 ranks"
  ranks 4 bcast none.json; refused 2 "none.json: cannot open"
  ranks 4 bcast .; refused 2 "directory"
  head -c 250 good.json >truncated.json; ranks 4 bcast truncated.json; refused 2 "truncated.json: "
  plan 4 '1 [1,0],[2,3],[3,2]' >cycle.json
  ranks 4 bcast cycle.json; refused 2 "cycle.json: /broadcast_trees/0/edges: cycle"
  plan 4 '1 [1,0],[0,2]' >missing.json
  ranks 4 bcast missing.json; refused 2 "'n3' is missing"
  plan 4 '1 [1,0],[0,2],[2,7]' >foreign.json
  ranks 4 bcast foreign.json; refused 2 "/broadcast_trees/0/edges/2/1: node 7 is out of range"
  sed 's/4000000/5000000/' good.json >lies.json; ranks 4 bcast lies.json; refused 2 "/throughput_Bps"
  sed 's/10000,/0,/' good.json >zero.json; ranks 4 bcast zero.json; refused 2 "/slice_bytes"
  sed 's/"broadcast"/"reduce"/' good.json >no-trees.json
  ranks 4 bcast no-trees.json; refused 2 "no-trees.json: the key 'reduce_trees' is missing"
  head -c 3000000 /dev/urandom >noise; ranks 4 bcast noise; refused 2 "noise: "
}

test_trace() {
  ranks 4 bcast good.json --message 100kB --repeat 2 --trace trace.json --as-planned
  done_well
  grep -qE '^espalier-mpi: trace.json: 120 transfers, clock error at most ' stderr || { fail "not 120 transfers"; cat stderr; }
  # 10 segments, 2 messages, 3 edges per tree, a bar at each end of an edge; the bars of a line do not overlap.
  python3 - <<'END' || fail "the trace"
import json, collections
trace = json.load(open("trace.json"))
bars = [event for event in trace["traceEvents"] if event["ph"] == "X"]
assert len(bars) == 120, len(bars)
assert 0 <= trace["otherData"]["clock_error_s"] < 1 and trace["otherData"]["left_out"] == 0
names = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
lines = collections.defaultdict(list)
for bar in bars:
    lines[names[bar["tid"]]].append(bar)
counts = {name: len(line) for name, line in lines.items()}
# n1 is the source; three of four segments go along [1,0],[0,2],[2,3], the others along [1,3],[3,2],[3,0].
assert sorted(lines) == ["rank 0 (n0) receives", "rank 0 (n0) sends", "rank 1 (n1) sends", "rank 2 (n2) receives",
                         "rank 2 (n2) sends", "rank 3 (n3) receives", "rank 3 (n3) sends"], counts
assert counts["rank 1 (n1) sends"] == 20 and counts["rank 2 (n2) receives"] == 20, counts
assert counts["rank 0 (n0) sends"] + counts["rank 3 (n3) sends"] // 2 == 20, counts
for line in lines.values():
    line.sort(key=lambda bar: (bar["ts"], bar["dur"]))
    for first, second in zip(line, line[1:]):
        assert second["ts"] >= first["ts"] + first["dur"] - 1e-3, (first, second)
    assert all(bar["args"]["tree"] in (0, 1) and bar["args"]["slice"] < 10 for bar in line)
END
  head -c 100000 /dev/urandom >in
  ranks 4 bcast good.json --in in --out 'out{rank}' --trace trace.json --quiet
  done_well
  grep -q '"from_rank"' trace.json || fail "no receives of a file"
  same_everywhere
  # Of each part for rank r, one send of each of its two paths' edges: one edge, and two through another rank.
  routes scatter 4 1 >scatter.json
  ranks 4 scatter scatter.json --message 400kB --repeat 3 --trace trace.json --quiet
  done_well
  python3 - <<'END' || fail "the trace of a scatter"
import json
bars = [event["args"] for event in json.load(open("trace.json"))["traceEvents"] if event["ph"] == "X"]
sends = sum("to_rank" in bar for bar in bars)
assert sends == len(bars) - sends > 0 and sends % 3 == 0, (sends, len(bars))
assert {bar["tree"] for bar in bars} == set(range(6)) and {bar["message"] for bar in bars} == {0, 1, 2}
# What rank 1 sends, in all three runs: the parts of all others.
assert sum(bar["bytes"] for bar in bars if bar.get("from_rank") == 1) == 3 * 300000
END
  ranks 4 bcast good.json --message 1 --trace no/such/trace.json
  refused 2 "no/such/trace.json: cannot write: No such file or directory"
}

test_page() {
  ranks 4 bcast good.json --message 1 --platform net.csv; refused 2 '--platform is for --report FILE'
  ranks 4 bcast good.json --message 1 --report -; refused 2 '--report needs a file name'
  ranks 4 bcast good.json --message 1 --report p.html --platform -; refused 2 'give names of files instead of -'
  ranks 4 bcast good.json --message 1 --report no/such/page.html
  refused 2 "no/such/page.html: cannot write: No such file or directory"
  # Pages come from the planner, where it is installed beside espalier-mpi.
  [ -x "$(dirname "$program")/espalier" ] || return 0
  { echo 'from,to,bandwidth_MBps'
    for from in 0 1 2 3; do for to in 0 1 2 3; do [ $from = $to ] || echo "n$from,n$to,100"; done; done; } >test.csv
  sed 's/by hand/optimal/' good.json >plan.json
  ranks 4 bcast plan.json --message 100kB --report page.html --platform test.csv
  done_well
  grep -qE '^espalier-mpi: page.html: 60 transfers' stderr || { fail "not 60 transfers"; cat stderr; }
  for part in '<!DOCTYPE html>' 'plan.json' 'rank 3 (n3) receives'; do
    grep -q "$part" page.html || fail "no $part in the page"
  done
  [ "$(echo *trace*)" = '*trace*' ] || fail "a trace is left: $(echo *trace*)"
  ranks 4 bcast --message 1MB --segment 10kB --report pulled.html --trace pulled.json; done_well
  [ -s pulled.html ] && [ -s pulled.json ] || fail "no page, or no trace, of a pull"
  mkdir thin; sed 's/100$/1/' test.csv >thin/test.csv
  ranks 4 bcast plan.json --message 100kB --report page.html --platform thin/test.csv --quiet
  refused 2 'page.html: espalier report ended with status 5: espalier: plan.json: '
}

# Damaged data are detected and located, and no file is left.
test_damage() {
  damaged() { "$mpiexec" -n 4 env LD_PRELOAD="$damaging_network${LD_PRELOAD:+:$LD_PRELOAD}" "$program" "$@" >stdout 2>stderr; status=$?; }
  damaged bcast good.json --message 1MB --verify --as-planned  # sent by MPI
  refused 5 "of 1000000 is 0x"
  damaged reduce reduce.json --message 1MB --verify --as-planned
  refused 5 "rank 1 on $(uname -n): element "
  damaged allreduce allreduce.json --message 1MB --verify --as-planned
  refused 5 "of 125000 is "
  head -c 300000 /dev/urandom >in
  damaged bcast good.json --in in --out 'out{rank}'
  refused 5 "the received data differ from those sent"
}
