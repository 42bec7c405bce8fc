# shellcheck shell=bash
# Cases of command_line_test.sh: scatter, gather and alltoall, files of each rank, and plans that are made.

route_plans() {
  routes scatter 4 2 >scatter.json
  routes gather 4 2 >gather.json
  routes alltoall 4 0 >alltoall.json
}

test_routes() {
  route_plans
  for command in scatter gather alltoall; do
    for size in 0 7 40001 1MB; do
      ranks 4 $command $command.json --message $size --verify --repeat 3
      done_well
      says " $command among 4 ranks, (6|24) paths, segments of 10 kB"
      says '32.0000 Mbit/s planned'
      says '^verified on every rank$'
    done
    ranks 4 $command $command.json --message 1MB --verify --window 1 --receives 1 --segment 77 --compare-mpi
    done_well
    says 'segments of 77 B'; says '^MPI_[A-Z][a-z]+v: '
    ranks 4 $command $command.json --message 100kB --repeat 2 --json
    done_well
    says "\"operation\": \"$command\""; says '"message_bytes": 100000'; says '"planned_Bps": 4000000.0'
    ranks 4 bench $command.json --sizes 0,5,100kB --repeat 2 --warm-up 0 --verify
    done_well
    says "^$command among 4 ranks, 2 rounds after 0, verified on every rank"
    [ "$(grep -c " $command.json " stdout)" -eq 3 ] || { fail "the plan's rows"; cat stdout; }
    ranks 3 bench --operation $command --sizes 1kB --repeat 2 --verify; done_well; says ' MPI_[A-Z][a-z]+v '
  done
  # Parts of different sizes: most of what a rank has is for itself.
  sed 's/"share": 0.25/"share": 0.125/; s/"rate_Bps": 600000/"rate_Bps": 300000/; s/"rate_Bps": 400000/"rate_Bps": 200000/' alltoall.json >unequal.json
  ranks 4 alltoall unequal.json --message 100001 --verify; done_well
  ranks 4 alltoall alltoall.json --message 700kB --ports 1 --verify; done_well
  # Beside them, by one rank of each host.
  ranks 4 bench unequal.json --sizes 0,5,100kB --repeat 2 --by-leaders --verify
  done_well
  [ "$(grep -cE ' leaders(, rank by rank)? ' stdout)" -eq 6 ] || { fail "the rows by leaders"; cat stdout; }
}

test_route_refusals() {
  no_files_to_remove
  route_plans
  ranks 4 scatter gather.json; refused 2 "gather.json: /operation: the plan is for a gather, not for a scatter"
  ranks 4 allgather alltoall.json; refused 2 "alltoall.json: /operation: the plan is for an alltoall, not for an allgather"
  ranks 3 alltoall alltoall.json; refused 2 "the plan has 4 nodes, but 3 ranks"
  ranks 4 gather gather.json --rounds; refused 2 "rounds are for operations that copy or combine the whole message"
  ranks 4 scatter scatter.json --type int32; refused 2 "--type"
  ranks 4 scatter scatter.json --message 1000TiB; refused 2 "4 ranks on one host with"
  ranks 4 bench scatter.json gather.json; refused 2 "gather.json: /operation: the plan is for a gather, not for a scatter"
  routes scatter 4 1 >other.json
  ranks 4 bench scatter.json other.json; refused 2 "other.json: /source: 'n1' is not 'n2', the source of scatter.json"
  ranks 4 bench scatter.json --schedule; refused 2 "a schedule is for a broadcast, a reduce or an allreduce with one root"
  ranks 4 alltoall alltoall.json --in x; refused 2 "--in"
  ranks 4 bench scatter.json --by-leaders; refused 2 "--by-leaders is for alltoalls"
  ranks 4 scatter scatter.json --in x; refused 2 "--in and --out must be given together"
  ranks 4 scatter scatter.json --in x --out y --message 1kB; refused 2 "--message and --in are given"
  ranks 4 scatter scatter.json --in x --out y --compare-mpi; refused 2 "--compare-mpi needs a --message"
  ranks 4 gather gather.json --in - --out y; refused 2 "- is not supported"
}

# gather(scatter(x)) is x.
test_route_files() {
  route_plans
  for size in 0 1 3 9999 12345678; do
    head -c $size /dev/urandom >in
    ranks 4 scatter scatter.json --in in --out 'part.{rank}' --verify --repeat 2 --json
    done_well; says "\"message_bytes\": $size"; says '"verified": true'
    cat part.[0-3] | cmp - in || fail "the parts differ from what was scattered"
    ranks 4 gather gather.json --in 'part.{node}' --out out; refused 2 "part.n0: cannot open: No such file"
    ranks 4 gather gather.json --in 'part.{rank}' --out out --verify
    done_well
    cmp in out || fail "what was gathered differs"
    [ -z "$(find . -name '.espalier*')" ] || fail "a temporary file is left"
    rm -f part.* out
  done
  # Parts of any size; an existing file is replaced, and keeps its mode.
  for rank in 0 1 2 3; do head -c $((rank * rank * 77777)) /dev/urandom >"part.n$rank"; done
  echo old >out; chmod 640 out
  ranks 4 gather gather.json --in 'part.{node}' --out out; done_well
  cat part.n[0-3] | cmp - out || fail "what was gathered differs"
  [ "$(stat -c %a out)" = 640 ] || fail "mode $(stat -c %a out)"
  ranks 4 scatter scatter.json --in out --out /dev/null; done_well
  rm out
  # Refused, without an output anywhere.
  ranks 4 scatter scatter.json --in none --out 'out{rank}'; refused 2 "rank 2 on $(uname -n): none: cannot open"
  ranks 4 scatter scatter.json --in part.n3 --out out; refused 2 "is the file of rank 0 and of rank 1"
  mkdir d0 d1 d2  # and rank 3 has none
  ranks 4 scatter scatter.json --in part.n3 --out 'd{rank}/out'; refused 2 "rank 3 on $(uname -n): d3/out: cannot write: No such"
  ranks 4 gather gather.json --in 'part.n{rank}' --out /no/such/out; refused 2 "rank 2 on $(uname -n): /no/such/out: cannot write"
  ln -s /dev/full d1/out; mkdir d3
  ranks 4 scatter scatter.json --in part.n3 --out 'd{rank}/out'; status_keep=$status; rm d1/out; status=$status_keep
  refused 2 "rank 1 on $(uname -n): d1/out: cannot write: No space left on device"
  truncate -s 1200M part.n3
  (ulimit -f 200000; "$mpiexec" -n 4 "$program" scatter scatter.json --in part.n3 --out 'out{rank}') >stdout 2>stderr
  status=$?
  refused 2 "cannot write: File too large"
}

# A file of each rank: all parts to all, a part of each to each, and what is combined.
test_rank_files() {
  local rank from how
  routes alltoall 4 0 >alltoall.json
  for rank in 0 1 2 3; do head -c $((rank * rank * 77777)) /dev/urandom >"in$rank"; done
  cat in[0-3] >all
  for how in '' '--algorithm chain'; do
    # shellcheck disable=SC2086  # several words
    ranks 4 allgather $how --in 'in{rank}' --out 'out{rank}' --verify --repeat 2 --json; done_well
    says '"verified": true'; says "\"message_bytes\": $(stat -c %s all)"
    for rank in 0 1 2 3; do cmp "out$rank" all || fail "out$rank differs"; rm "out$rank"; done
  done
  ranks 4 allgather --in 'in{rank}' --out all; refused 2 "is the file of rank 0 and of rank 1"
  ranks 4 allgather --in 'in{rank}0' --out 'out{rank}'; refused 2 "rank 0 on $(uname -n): in00: cannot open"
  # Twice is the identity where all parts have one size.
  head -c 400000 /dev/urandom >whole; split -b 100000 -d -a 1 whole part
  ranks 4 alltoall alltoall.json --in 'part{rank}' --out 'once{rank}' --verify; done_well
  for rank in 0 1 2 3; do
    for from in 0 1 2 3; do
      cmp -n 25000 -i $((rank * 25000)):$((from * 25000)) "part$from" "once$rank" || fail "once$rank differs"
    done
  done
  ranks 4 alltoall alltoall.json --in 'once{rank}' --out 'twice{rank}'; done_well
  cat twice[0-3] | cmp - whole || fail "what came back differs"
  ranks 4 alltoall alltoall.json --in 'in{rank}' --out 'odd{rank}' --verify; done_well
  # The sums of 32-bit ones, twos, threes and fours are tens.
  for rank in 0 1 2 3; do
    for ((from = 0; from < 10001; from++)); do printf "\\x$((rank + 1))\\0\\0\\0"; done >"n$rank"
  done
  for ((from = 0; from < 10001; from++)); do printf '\xa\0\0\0'; done >tens
  ranks 4 reduce --algorithm chain --type int32 --in 'n{rank}' --out sum --root 1; done_well
  says '^not verified'; cmp sum tens || fail "the sum differs"
  ranks 4 allreduce --algorithm chain --type int32 --in 'n{rank}' --out 'sum{rank}'; done_well
  for rank in 0 1 2 3; do cmp "sum$rank" tens || fail "sum$rank differs"; done
  ranks 4 reduce-scatter --algorithm chain --type int32 --in 'n{rank}' --out 'sum{rank}'; done_well
  cat sum[0-3] | cmp - tens || fail "the parts of the sum differ"
  ranks 4 allreduce --algorithm chain --in 'n{rank}' --out 'sum{rank}'
  refused 2 "n0: 40004 bytes are not whole elements of 8 bytes"
  truncate -s 40000 n2
  ranks 4 allreduce --algorithm chain --type int32 --in 'n{rank}' --out 'sum{rank}'
  refused 2 "the file of rank 0 has 40004 bytes, that of rank 2 40000; files that are combined have one size"
}

test_stopped_route() {
  local stop=19 rank
  no_files_to_remove
  route_plans
  for rank in 0 2; do
    unlucky $rank $stop segment alltoall alltoall.json --message 10MB --timeout 2s
    timed_out "rank [0-9]: no progress for 2 s; .*(from|to) rank $rank"
  done
}

# Whole files: the root's folder divided among the ranks, and those of ranks in one folder.
test_rank_folders() {
  local rank i how
  route_plans
  mkdir -p shards/more/deep shards/none
  for i in 1 2 3 4 5 6 7 8 9 10 11; do head -c $((i * 5000 + 1)) /dev/urandom >"shards/shard.$i"; done
  : >shards/more/empty; echo run >shards/more/deep/script; chmod 755 shards/more/deep/script
  ln -s ../shard.1 shards/more/link; touch -d 2001-02-03 shards/shard.10
  ranks 4 scatter scatter.json --in shards --out 'got.{rank}' --verify --repeat 2 --json
  done_well; says "\"message_bytes\": $(cat shards/shard.* shards/more/deep/script | wc -c)"; says '"verified": true'
  [ "$(ls got.3)" = "$(printf 'shard.10\nshard.11')" ] || fail "rank 3 has $(ls got.3)"
  mkdir whole
  for rank in 0 1 2 3; do cp -a "got.$rank/." whole; done
  diff -r --no-dereference shards whole || fail "the parts differ from what was scattered"
  [ "$(stat -c %y whole/shard.10)" = "$(stat -c %y shards/shard.10)" ] || fail "another time"
  [ -x whole/more/deep/script ] || fail "other permissions"
  # As many files as ranks: one each, whatever their sizes.
  mkdir four
  for i in 8 9 10 11; do head -c $((i * i * i * i * i)) /dev/urandom >"four/part.$i"; done
  ranks 4 scatter scatter.json --in four --out 'one.{rank}'; done_well
  for rank in 0 1 2 3; do cmp "one.$rank/part.$((rank + 8))" "four/part.$((rank + 8))" || fail "rank $rank"; done
  # A gather brings all into one folder, or each rank's into one of its own; a scatter takes it from there.
  ranks 4 gather gather.json --in 'got.{rank}' --out all --verify --repeat 2; done_well
  diff -r --no-dereference shards all || fail "what was gathered differs"
  ranks 4 gather gather.json --in 'got.{rank}' --out 'by/host/{node}/its' --verify; refused 2 "by/host/: cannot write"
  mkdir by
  ranks 4 gather gather.json --in 'got.{rank}' --out 'by/host/{node}/its' --verify; done_well
  for rank in 0 1 2 3; do diff -r --no-dereference "got.$rank" "by/host/n$rank/its" || fail "rank $rank"; done
  ranks 4 scatter scatter.json --in 'by/host/{node}' --out 'back.{rank}'; done_well
  for rank in 0 1 2 3; do diff -r --no-dereference "got.$rank" "back.$rank/its" || fail "rank $rank"; done
  # The same with files.
  for rank in 0 1 2 3; do head -c $((rank * 33333)) /dev/urandom >"file$rank"; done
  ranks 4 gather gather.json --in 'file{rank}' --out 'files/{rank}.bin' --verify; done_well
  ranks 4 scatter scatter.json --in 'files/{rank}.bin' --out 'again.{rank}' --verify; done_well
  for rank in 0 1 2 3; do cmp "file$rank" "again.$rank" || fail "rank $rank"; done
  # Everyone's to all, along trees and pulled.
  for how in '' '--algorithm chain'; do
    # shellcheck disable=SC2086  # several words
    ranks 4 allgather $how --in 'got.{rank}' --out 'each.{rank}' --verify --repeat 2; done_well
    for rank in 0 1 2 3; do
      diff -r --no-dereference shards "each.$rank" || fail "rank $rank"
      rm -r "each.$rank"
    done
  done
  # Refused, without an output anywhere.
  ranks 4 gather gather.json --in by/host/n2 --out twice; refused 2 "rank 0 and rank 1 both have 'its/"
  ranks 4 allgather --in shards --out 'twice.{rank}'; refused 2 "rank 0 and rank 1 both have '"
  ranks 4 gather gather.json --in 'got.{rank}' --out all; refused 2 "all: cannot write: exists; several files need a new or empty folder"
  ranks 4 scatter scatter.json --in 'by/host/{rank}' --out 'bad.{rank}'; refused 2 "by/host/0: cannot read: No such file"
  ranks 4 alltoall alltoall.json --in 'got.{rank}' --out 'bad.{rank}'; refused 2 "got.0: cannot read: is not a regular file"
  [ -z "$(find . -name '.espalier*' -o -name 'twice*' -o -name 'bad*')" ] || fail "an output is left"
}

# All operations run without PLAN: one is made of which ranks share a host, or of what pulls have learnt.
test_planless() {
  local command
  for command in reduce allreduce reduce-scatter scatter gather alltoall; do
    ranks 4 $command --message 100kB --verify --json; done_well
    says "\"operation\": \"$command\""; says '"verified": true'
    grep -q '^espalier-mpi: a plan of which ranks share a host$' stderr || { fail "says nothing"; cat stderr; }
  done
  ranks 4 barrier --repeat 3; done_well; says '^barrier of 4 ranks'
  head -c 40001 /dev/urandom >in
  ranks 4 scatter --root 2 --in in --out 'part.{rank}' --verify --quiet; done_well
  [ -s stderr ] && { fail "is not quiet"; cat stderr; }
  ranks 4 gather --root 1 --in 'part.{rank}' --out out; done_well; says ' gather among 4 ranks'
  cmp in out || fail "what was gathered differs"
  for rank in 0 1 2 3; do echo "$(uname -n)" "g$((rank / 2))"; done | sort -u | head -n 1 >groups
  ranks 4 allreduce --groups groups --message 1MB --verify; done_well
  rm out
  ranks 4 scatter --root 4 --message 1kB; refused 2 "--root"
}
