# shellcheck shell=bash
# Cases of command_line_test.sh: bench, tune, decisions.

test_bench() {
  plan 4 '1000000 [1,0],[0,2],[2,3]' >chain.json
  ranks 4 bench good.json chain.json --sizes 1kB,1MB --repeat 3 --warm-up 1 --verify --as-planned
  done_well
  says '^broadcast to 4 ranks, 3 rounds after 1, verified on every rank$'
  [ "$(grep -cE ' MPI_Bcast +- .* - +- +-$' stdout)" -eq 2 ] || { fail "MPI_Bcast's rows"; cat stdout; }
  [ "$(grep -cE ' (good|chain).json .* %$' stdout)" -eq 4 ] || { fail "the plans' rows"; cat stdout; }
  # 1 MB at 1 MB/s, plus two hops of 10 kB; each segment has an overhead of 10 us.
  grep -E '1 MB +chain.json' stdout | grep -qF '1.021 s' || { fail "predicted"; cat stdout; }
  ranks 4 bench good.json --sizes 0,1,10001 --repeat 2 --warm-up 0 --json
  done_well
  says '"operation": "broadcast"'; says '"verified": false'; says '"relative_to_mpi": null'
  [ "$(grep -c '"method": "good.json"' stdout)" -eq 3 ] || fail "not three rows"
  [ "$(grep -c '"predicted_s": [0-9]' stdout)" -eq 3 ] || fail "not three predictions"
  [ "$(grep -cE '"algorithm": ("by hand"|null)' stdout)" -eq 6 ] || fail "not six algorithms"
  ranks 4 bench good.json chain.json good.json --sizes 1kB --repeat 1 --json; done_well
  says '"method": "good.json"'; says '"method": "good.json \(2\)"'
  ranks 2 bench --sizes 1kB --repeat 2; done_well; says 'MPI_Bcast'
  ranks 1 bench good.json; refused 2 "good.json: the plan has 4 nodes, but 1 rank is running it; start it with 4"
  ranks 3 bench good.json; refused 2 "good.json: the plan has 4 nodes, but 3 ranks"
  ranks 4 bench good.json --sizes ''; refused 2 "--sizes"
  ranks 4 bench good.json --sizes 1kB,,2kB; refused 2 "--sizes: "
  ranks 4 bench good.json --sizes 1000TiB; refused 2 "--sizes 1000 TiB: 4 ranks on one host"
  sed 's/"n1",$/"n0",/; s/"source": "n1"/"source": "n0"/; s/\[1,0\],\[0,2\],\[2,3\]/[0,1],[1,2],[2,3]/' chain.json >other.json
  ranks 4 bench good.json other.json; refused 2 "other.json: /source: 'n0' is not 'n1', the source of good.json"
}

test_bench_reductions() {
  sed -E 's/"reduce_trees": .*/"reduce_trees": [{"rate_Bps": 1000000, "edges": [[0,1],[2,0],[3,2]]}]}/; s/"throughput_Bps": [0-9]+/"throughput_Bps": 1000000/' reduce.json >chain.json
  ranks 4 bench reduce.json chain.json --sizes 1000,1MB --repeat 3 --warm-up 1 --verify
  done_well
  says '^reduce from 4 ranks, sum of double, 3 rounds after 1, verified on the root$'
  [ "$(grep -cE ' MPI_Reduce +- .* - +- +-$' stdout)" -eq 2 ] || { fail "MPI_Reduce's rows"; cat stdout; }
  [ "$(grep -cE ' (reduce|chain).json .* %$' stdout)" -eq 4 ] || { fail "the plans' rows"; cat stdout; }
  # 1 MB at 1 MB/s, plus two hops of 10 kB; each segment has an overhead of 10 us.
  grep -E '1 MB +chain.json' stdout | grep -qF '1.021 s' || { fail "predicted"; cat stdout; }
  # Each type and each operation once; tests/cli/espalier_mpi/elements_test.cpp checks how they are verified.
  local pair type op
  for pair in double:prod float:sum int32:max int64:min uint32:prod uint64:sum; do
    type=${pair%:*} op=${pair#*:}
    ranks 4 bench allreduce.json --sizes 0,200000 --repeat 2 --warm-up 0 --verify --type "$type" --op "$op" --segment 777
    done_well
    says "^allreduce from and to 4 ranks, $op of $type, 2 rounds after 0, verified on every rank"
  done
  ranks 4 bench allreduce.json --sizes 8,10000 --repeat 2 --json --op max --type int32 --ports 1
  done_well
  says '"operation": "allreduce"'; says '"op": "max"'; says '"type": "int32"'; says '"method": "MPI_Allreduce"'
  says '"verified": false'
  [ "$(grep -c '"method": "allreduce.json"' stdout)" -eq 2 ] || fail "not two rows"
  [ "$(grep -c '"predicted_s": [0-9]' stdout)" -eq 2 ] || fail "not two predictions"
  ranks 3 bench --operation reduce --sizes 1kB --repeat 2 --verify; done_well; says ' MPI_Reduce '
  ranks 3 bench --operation allreduce --sizes 1000 --repeat 2 --verify; done_well; says ' MPI_Allreduce '
  ranks 4 bench good.json reduce.json; refused 2 "reduce.json: /operation: the plan is for a reduce, not for a broadcast"
  ranks 4 bench reduce.json --operation allreduce; refused 2 "/operation: the plan is for a reduce, not for an allreduce"
  ranks 4 bench reduce.json --rounds; refused 2 "/reduce_trees/0: rounds need colors"
  ranks 4 bench good.json --op max; refused 2 "--op is for reductions"
  ranks 4 bench reduce.json --op bxor; refused 2 "--op: MPI_BXOR is not defined on MPI_DOUBLE"
  ranks 4 bench reduce.json --sizes 1kB,100; refused 2 "--sizes: 100 bytes are not a multiple of a double's 8"
  ranks 3 bench reduce.json; refused 2 "reduce.json: the plan has 4 nodes, but 3 ranks"
  sed 's/"n1",$/"n0",/; s/"source": "n1"/"source": "n0"/; s/\[0,1\],\[2,0\],\[3,2\]/[1,0],[2,1],[3,2]/' chain.json >other.json
  ranks 4 bench reduce.json other.json; refused 2 "other.json: /source: 'n0' is not 'n1', the source of reduce.json"
}

# segment_in FILE MESSAGE: the tuned segment size of that message size.
segment_in() { sed -nE "s/.*\"message_bytes\":$2,\"slice_bytes\":([0-9]+),.*/\1/p" "$1"; }

# On a chain of four hosts at 100 MB/s with an overhead of 10 us per segment, 800,000 bytes in k segments take
# (k + 2) (10 us + 8 ms / k), which is least for k = 40. A build without the planner reports that it cannot simulate.
tune_around_the_simulated_segment() {
  plan 4 '100000000 [1,0],[0,2],[2,3]' >line.json
  local link='"bandwidth_Bps": 1e8'
  cat >line-platform.json <<END
{"format": "espalier-platform", "version": 1, "name": "test",
 "nodes": [{"name": "n0"}, {"name": "n1"}, {"name": "n2"}, {"name": "n3"}],
 "links": [{"from": "n1", "to": "n0", $link}, {"from": "n0", "to": "n2", $link}, {"from": "n2", "to": "n3", $link}]}
END
  ranks 4 tune line.json --platform line-platform.json --message 800000,100 --repeat 1 --warm-up 0 -o about --json
  if [ "$status" -ne 0 ]; then
    refused 2 '--platform: this build cannot simulate'
    return
  fi
  says '"method": "simulated -20 %"'
  local middle
  middle=$(grep -A3 '"method": "simulated",' stdout | grep -oE '"slice_bytes": [0-9]+' | grep -oE '[0-9]+' | head -1)
  [ "${middle:-0}" -ge 18000 ] && [ "${middle:-0}" -le 22000 ] || { fail "segments about $middle"; cat stdout; }
  [ "$(segment_in about 800000)" ] && [ "$(segment_in about 100)" ] || { fail 'not remembered'; cat about; }
  rm about
  ranks 4 tune line.json --platform line-platform.json --segment plan --message 1kB
  refused 2 '--platform and --segment both set where to search'
  ranks 4 tune line.json --platform nowhere.json --message 1kB; refused 2 'nowhere.json: cannot open'
  ranks 4 tune line.json --platform line.json --message 1kB; refused 2 'line.json: '
  sed 's/"name": "test"/"name": "other"/' line-platform.json >other-platform.json
  ranks 4 tune line.json --platform other-platform.json --message 1kB
  refused 2 "other-platform.json: does not fit the plan: /platform: the plan is for platform 'test', not for 'other'"
  printf 'n1,n0,1\n' >edges.csv
  ranks 4 tune line.json --platform edges.csv --message 1kB; refused 2 "edges.csv: is not a platform in Espalier's JSON"
}

test_tune() {
  ranks 4 tune good.json --message 100000,1MB --repeat 2 --warm-up 1 --verify
  done_well
  says '^broadcast to 4 ranks, 2 rounds after 1, verified on every rank$'
  # The default on one host is the plan's segment, 10,000 bytes. The prediction sqrt(message * 10 us * 4 MB/s / 3 hops)
  # is below the least segment, 8 KiB: therefore 8192 bytes, and 10 % and 20 % less and more, are tried.
  for segment in '10 kB' '8 KiB' '6.55 kB' '7.37 kB' '9.01 kB' '9.83 kB'; do
    [ "$(grep -cE "1 MB +(by default|predicted.*) +$segment " stdout)" -eq 1 ] || { fail "segments of $segment"; cat stdout; }
  done
  grep -q ' MPI_Bcast ' stdout && fail "MPI's own"
  [ "$(grep -cE '^tuned: .* times as fast as by default$' stdout)" -eq 2 ] || { fail "what was found"; cat stdout; }
  cp good.json.tuned.json first.json
  ranks 4 tune good.json --segment plan --message 100000 --repeat 1 --warm-up 0 -o about; done_well
  for segment in "the plan's -20 % +8" "the plan's \\+20 % +12" 'by default +10'; do
    says "^ *100 kB +$segment kB "  # of 10,000 bytes
  done
  rm about
  tune_around_the_simulated_segment
  # Tuned segments are used for messages of about the tuned size, and for no others.
  local segment
  segment=$(segment_in first.json 1000000)
  case $segment in 10000 | 8192 | 6554 | 7373 | 9011 | 9830) ;; *) fail "segment $segment" ;; esac
  for message in 1000000 600000 2000000; do
    ranks 4 bcast good.json --tuned first.json --message $message --verify --json; done_well
    says "\"slice_bytes\": $segment,"
  done
  sed -E 's/"slice_bytes":[0-9]+/"slice_bytes":777/' first.json >odd.json
  ranks 4 bcast good.json --tuned odd.json --message 2000001 --verify --json; done_well; says '"slice_bytes": 10000,'
  ranks 4 bcast good.json --tuned odd.json --message 0 --verify --json; done_well; says '"slice_bytes": 10000,'
  ranks 4 bcast good.json --tuned odd.json --message 100kB --verify --repeat 3 --json; done_well; says '"slice_bytes": 777,'
  head -c 123456 /dev/urandom >in
  ranks 4 bcast good.json --tuned odd.json --in in --out 'out{rank}' --verify; done_well; same_everywhere
  rm -f out*
  plan 4 '1000000 [1,0],[0,2],[2,3]' >chain.json
  ranks 4 bench chain.json good.json --tuned odd.json --sizes 1MB --repeat 1 --warm-up 0 --json; done_well
  [ "$(grep -oE '"slice_bytes": [0-9a-z]+' stdout | tr '\n' ' ')" = \
    '"slice_bytes": null "slice_bytes": 10000 "slice_bytes": 777 ' ] || { fail "bench"; cat stdout; }
  # Another size is added, the same size is replaced, and other entries are kept.
  ranks 4 tune good.json --message 5MB,1MB --repeat 1 --warm-up 0 --segment 5000 --json; done_well
  says '"method": "--segment \+20 %"'; says '"slice_bytes": 6000'; says '"default_median_s": '
  [ "$(grep -c message_bytes good.json.tuned.json)" -eq 3 ] || { fail "sizes"; cat good.json.tuned.json; }
  [ "$(segment_in good.json.tuned.json 102400)$(segment_in good.json.tuned.json 100000)" = "$(segment_in first.json 100000)" ] ||
    fail "an earlier entry is missing"
  for operation in reduce allreduce; do
    ranks 4 tune $operation.json --message 200000 --repeat 2 --warm-up 0 --verify --op max --type int32 -o $operation.tuned
    done_well
    says "^$operation from .*max of int32, 2 rounds after 0, verified on "
    ranks 4 $operation $operation.json --tuned $operation.tuned --message 200000 --verify --type int32 --json; done_well
    says "\"slice_bytes\": $(segment_in $operation.tuned 200000),"
  done
}

# decided OPERATION "RANKS BYTES ALGORITHM SEGMENT"...: a decision function as written by decide --json.
decided() {
  local operation=$1 rows='' ranks bytes algorithm segment; shift
  while read -r ranks bytes algorithm segment; do
    rows+="${rows:+, }{\"ranks\": $ranks, \"message_bytes\": $bytes, \"algorithm\": \"$algorithm\", "
    rows+="\"segment_bytes\": $segment, \"predicted_s\": 0.001}"
  done < <(printf '%s\n' "$@")
  printf '{"operation": "%s", "model": "loggp", "network": "test", "rows": [%s]}\n' "$operation" "$rows"
}

test_decisions() {
  decided broadcast '4 1000 linear 0' '4 100000 pipeline 7000' '4 1000000 split-binary 0' '8 1000 binary 100' >table.json
  for root in 0 3; do
    ranks 4 bcast --decisions table.json --root $root --message 90kB --verify --repeat 3; done_well
    says '^90 kB to 4 ranks, 1 tree, segments of 7 kB: '
    ranks 4 bcast --decisions table.json --root $root --message 1200001 --verify; done_well
    says '^1.2 MB to 4 ranks, 2 trees, segments of 600 kB: '
    ranks 3 bcast --decisions table.json --root $((root / 2)) --message 1 --verify --json; done_well
    says '"slice_bytes": 1,'
  done
  ranks 6 bcast --decisions table.json --verify --message 500 --json; done_well; says '"slice_bytes": 100,'
  ranks 1 bcast --decisions table.json --verify --message 1MB; done_well
  decided reduce '4 1000 binomial 0' '4 1000000 pipeline 40000' >up.json
  ranks 4 reduce --decisions up.json --root 2 --message 800kB --verify; done_well
  says '^800 kB from 4 ranks, sum of double, 1 tree, segments of 40 kB: '
  ranks 4 reduce --decisions table.json; refused 2 "table.json: /operation: the decisions are for broadcast, not for reduce"
  ranks 4 allreduce --decisions up.json; refused 2 "up.json: /operation: the decisions are for reduce, not for allreduce"
  ranks 4 bcast --decisions table.json --root 4; refused 2 '--root: there is no rank 4; give 0 to 3'
  ranks 4 bcast --decisions none.json; refused 2 'none.json: cannot open'
  head -c 100 table.json >cut.json; ranks 4 bcast --decisions cut.json; refused 2 'cut.json: '
}

# Which methods are timed is tested in tests/cost_models/refinement_test.cpp.
test_tune_algorithms() {
  local operation
  echo '{"model": "loggp", "latency_s": 2e-4, "overhead_s": 8e-6, "gap_s": 8e-6, "gap_per_byte_s": 8e-8}' >loggp.json
  for operation in broadcast reduce allreduce; do
    ranks 4 tune --algorithms pipeline,binomial,two-tree --operation $operation --parameters loggp.json \
      --message 1kB..1MB:10 --segments 0,10kB --repeat 2 --warm-up 0 --verify -o $operation.decisions
    done_well
    says '^   1 MB  MPI_.* '
    says '^message  decided '
    [ "$(grep -c '"ranks_per_host": 4, "ranks": 4' $operation.decisions)" -eq 4 ] || fail "the table of $operation"
    if grep -q library $operation.decisions; then fail "what was not named was chosen"; fi
  done
  # The table is followed, and more decisions are added to it.
  ranks 4 bcast --decisions broadcast.decisions --message 1MB --verify; done_well
  ranks 4 allreduce --decisions allreduce.decisions --message 100kB --verify --type float; done_well
  ranks 3 tune --algorithms library,linear --parameters loggp.json --message 1kB --repeat 1 --warm-up 0 \
    -o broadcast.decisions --json
  done_well
  says '"decisions": \['
  [ "$(grep -c '"ranks"' broadcast.decisions)" -eq 5 ] || fail "the table was not extended"
  sed 's/"algorithm": "[a-z-]*"/"algorithm": "library"/' broadcast.decisions >library.decisions
  ranks 4 bcast --decisions library.decisions --message 1MB
  refused 2 "library.decisions: the table leaves 1 MB among 4 ranks to MPI's own function"
  # Hockney's model has no formula for two trees, which are timed everywhere.
  echo '{"model": "hockney", "alpha_s": 2e-4, "beta_s_per_byte": 8e-8}' >hockney.json
  ranks 4 tune --algorithms linear,two-tree --parameters hockney.json --message 1kB,1MB --segments 0 --repeat 1 --warm-up 0 -o h.json
  done_well
  [ "$(grep -c ' two-tree ' stdout)" -ge 2 ] || { fail "what has no formula was not timed"; cat stdout; }
  ranks 4 tune --algorithms two-tree --parameters hockney.json --message 1kB -o none.json
  refused 2 "--algorithms: the parameters' model has no formula for these"
  # Without parameters they are measured first.
  ranks 3 tune --algorithms pipeline,linear --message 10kB --repeat 1 --warm-up 0 -o measured.json; done_well
  [ "$(grep -c '"predicted_s": [1-9]' measured.json)" -eq 1 ] || { fail "nothing was predicted"; cat measured.json; }
  ranks 1 tune --algorithms all --message 10kB -o alone.json; refused 2 "one rank has no network to measure"
  # Nothing is changed by what is refused.
  cp broadcast.decisions before
  ranks 4 tune --algorithms all --operation reduce --parameters loggp.json --message 1kB -o broadcast.decisions
  refused 2 "broadcast.decisions: /operation: has decisions for broadcast; name another file with -o"
  ranks 4 tune --algorithms all --parameters no.json --message 1kB -o broadcast.decisions; refused 2 'no.json: cannot open'
  table broadcast 4 '100000 pipeline 0' >model.json
  ranks 4 tune --algorithms all --parameters loggp.json --message 1kB -o model.json
  refused 2 "model.json: /rows/0: has no ranks_per_host"
  cmp -s before broadcast.decisions || fail "a refused call changed the table"
}

test_tune_refusals() {
  ranks 4 tune good.json --message 100kB --repeat 1 --warm-up 0 -o out.tuned; done_well
  mv out.tuned tuned
  no_files_to_remove
  ranks 4 tune good.json --message 0; refused 2 "--message: an empty message has no segments"
  ranks 4 tune good.json --message 1kB,x; refused 2 "--message: "
  ranks 4 tune reduce.json --message 100; refused 2 "--message: 100 bytes are not a multiple of a double's 8"
  ranks 4 tune good.json --message 1000TiB; refused 2 "--message 1000 TiB: 4 ranks on one host"
  ranks 4 tune good.json --message 1kB --rounds; refused 2 "--rounds needs the plan's segments; leave it out"
  ranks 4 tune good.json --message 1kB --op max; refused 2 "--op is for reductions"
  ranks 4 tune good.json --message 1kB -o -; refused 2 "-o needs a file name"
  ranks 4 tune - --message 1kB; refused 2 "-o is required for a plan from standard input"
  ranks 4 tune good.json --message 1kB -o no/such; refused 2 "no/such: cannot write: No such file or directory"
  ranks 3 tune good.json --message 1kB; refused 2 "the plan has 4 nodes, but 3 ranks"
  plan 4 '1000000 [1,0],[0,2],[2,3]' >chain.json
  stale='tuned: /plan: was tuned for another plan or an earlier version of this one; tune this plan into a new file'
  ranks 4 tune chain.json --message 1kB -o tuned; refused 2 "$stale"
  ranks 4 bcast chain.json --tuned tuned; refused 2 "$stale"
  ranks 4 bench chain.json --tuned tuned; refused 2 "$stale"
  ranks 4 bench --tuned tuned; refused 2 "--tuned needs a plan; give PLAN"
  sed 's/"ranks": 4/"ranks": 5/' tuned >more; ranks 4 bcast good.json --tuned more
  refused 2 "more: /ranks: was tuned with 5 ranks, not 4"
  sed 's/"hosts": 1/"hosts": 2/' tuned >hosts; ranks 4 bench good.json --tuned hosts
  refused 2 "hosts: /hosts: was tuned with ranks on 2 hosts, not 1"
  head -c 60 tuned >cut; ranks 4 bcast good.json --tuned cut; refused 2 "cut: "
  ranks 4 bcast good.json --tuned good.json; refused 2 "good.json: "
  ranks 4 bcast good.json --tuned none; refused 2 "none: cannot open"
}
