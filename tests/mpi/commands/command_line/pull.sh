# shellcheck shell=bash
# Cases of command_line_test.sh: broadcasts without a plan.

test_pull() {
  local size keys
  for size in 0 1 9999 10000 10001 1MB; do
    ranks 4 bcast --message $size --segment 10kB --verify --repeat 3
    done_well
    says 'from rank 0 to 4 ranks, pulled without a plan, segments of'
    says '^verified'
  done
  ranks 4 bcast --message 1MB; done_well; says '^not verified'
  ranks 1 bcast --message 1MB --verify; done_well
  ranks 7 bcast --message 1234567 --source 6 --verify --json --compare-mpi-bcast --repeat 2
  done_well
  keys=$(grep -oE '^  "[A-Za-z_]+"' stdout | tr -d ' "\n,')
  [ "$keys" = operationorderrankssourcemessage_bytessegment_bytesslice_bytessecondsmedian_sachieved_Bpsverifiedmpi_bcastrelative_to_mpi_bcast ] ||
    fail "keys: $keys"
  says '"operation": "broadcast"'; says '"order": "pull"'; says '"ranks": 7'; says '"source": 6'
  says '"message_bytes": 1234567'; says '"verified": true'
  ranks 4 bcast --message 1MB --source 4; refused 2 '--source: there is no rank 4; give 0 to 3'
  ranks 2 bcast --message 20MB --segment 1; refused 2 'make them larger, for at most 16777216'
  # Every other rank receives each of 100 segments, which another one sends.
  ranks 4 bcast --message 1MB --segment 10kB --trace pulled.json; done_well
  grep -qE '^espalier-mpi: pulled.json: 600 transfers' stderr || { fail "not 600 transfers"; cat stderr; }
  ranks 4 bcast --message 1MB --window 2; refused 2 '--window needs a plan; give PLAN'
}

test_pull_parts() {
  local size keys
  for size in 0 1 9999 10000 10001 1MB; do
    ranks 4 allgather --message $size --segment 1kB --verify --repeat 2
    done_well
    says 'from all 4 ranks to all, pulled without a plan, segments of'
    says '^verified on every rank'
  done
  ranks 1 allgather --message 1MB --verify; done_well
  ranks 7 allgather --message 1234567 --verify --json --compare-mpi --repeat 2
  done_well
  keys=$(grep -oE '^  "[A-Za-z_]+"' stdout | tr -d ' "\n,')
  [ "$keys" = operationorderranksmessage_bytessegment_bytesslice_bytessecondsmedian_sachieved_Bpsverifiedmpi_allgathervrelative_to_mpi_allgatherv ] ||
    fail "keys: $keys"
  says '"operation": "allgather"'; says '"order": "pull"'; says '"ranks": 7'
  # Every rank receives the 75 segments of the others' parts, which another one sends.
  ranks 4 allgather --message 100kB --segment 1kB --trace parts.json; done_well
  grep -qE '^espalier-mpi: parts.json: 600 transfers' stderr || { fail "not 600 transfers"; cat stderr; }
  ranks 4 allgather --window 2; refused 2 '--window needs a plan; give PLAN'
  ranks 4 allgather --message 60MB --verify --cache kept --platform-out net.json --json; done_well
  says '"order": "pull"'; says '"relative_to_bound": [0-9]'; says '"cache": "kept/'
  if [ -x "$(dirname "$program")/espalier" ]; then
    ranks 4 allgather --message 60MB --verify --cache kept; done_well
    says 'by a plan of the learnt network'; says '^verified on every rank'
  fi
}

# What the first call learns, the second one uses. On one host only where a folder is given.
test_learning() {
  local kept command
  ranks 4 bcast --message 30MB --verify; done_well; says 'pulled without a plan'
  ranks 4 bcast --message 30MB --verify --cache kept --platform-out net.json --json; done_well
  says '"order": "pull"'; says '"relative_to_bound": 0\.'; says '"limit": "'; says '"last_rank": "'
  kept=$(echo kept/*.json)
  says "\"cache\": \"$kept\""; says '"platform": "net.json"'
  grep -q '"format": "espalier-platform"' net.json || fail 'net.json is not a platform'
  # A plan comes from the planner, where it is installed beside espalier-mpi.
  if [ -x "$(dirname "$program")/espalier" ]; then
    cp "$kept" learnt
    ranks 4 bcast --message 30MB --verify --cache kept; done_well
    says 'by a plan of the learnt network'; says '^verified on every rank'
    # On a busy machine that run may have been slower than the pull; then the next one would not follow a plan.
    mv learnt "$kept"
    head -c 3000000 /dev/urandom >in
    ranks 4 bcast --in in --out 'out{rank}' --verify --cache kept; done_well
    says 'by a plan of the learnt network'
    same_everywhere
    for command in reduce allreduce scatter alltoall; do
      ranks 4 $command --message 3MB --verify --cache kept; done_well; says '^verified'
      grep -q '^espalier-mpi: a plan of the network that pulls have learnt$' stderr || { fail "$command"; cat stderr; }
      ranks 4 $command --message 3MB --verify --cache kept --no-cache; done_well
      grep -q '^espalier-mpi: a plan of which ranks share a host$' stderr || { fail "$command --no-cache"; cat stderr; }
    done
    rm -r kept
    ranks 4 bcast --message 30MB --verify --cache kept --repeat 3 --json; done_well
    says '"planned_runs": 2'; says '"verified": true'
    ranks 4 bcast --message 30MB --cache kept --no-cache; done_well; says 'pulled without a plan'
  fi
  # A fault in the file costs a line; the file is written anew. Short messages do not read it.
  echo '{' >"$kept"
  ranks 4 bcast --message 500kB --cache kept; done_well; [ -s stderr ] && { fail 'it warns'; cat stderr; }
  ranks 4 bcast --message 30MB --verify --cache kept; done_well; says 'pulled without a plan'
  [ "$(grep -c "^espalier-mpi: warning: $kept: .*; the network is measured again" stderr)" -eq 1 ] || fail 'no warning'
  grep -q '"format": "espalier-learnt"' "$kept" || fail "$kept is not written"
  ranks 2 bcast --message 30MB --platform-out none/net.json; refused 2 'none/net.json'
}

test_pull_files() {
  local size rank full
  for size in 0 1 9999 10000 12345678; do
    head -c $size /dev/urandom >in
    ranks 4 bcast --in in --out 'out{rank}' --source 2 --segment 10kB --verify --repeat 2 --json
    done_well; says '"verified": true'; says "\"message_bytes\": $size"; says '"order": "pull"'
    same_everywhere
  done
  ranks 1 bcast --in in --out out0 --verify; done_well; cmp in out0 || fail "out0 differs"; rm out0
  # Buffers for four segments.
  head -c 40000000 /dev/urandom >in
  ranks 4 bcast --in in --out 'out{rank}' --segment 8MiB --verify; done_well
  same_everywhere
  # A folder, and an output that is also the source's input.
  mkdir -p src/sub; head -c 1234567 in >src/big; echo small >src/sub/small; ln -s sub/small src/link
  ranks 4 bcast --in src --out 'out{rank}' --verify; done_well
  for rank in 0 1 2 3; do diff -r src "out$rank" || fail "out$rank differs"; done
  rm -r out?
  cp in in1
  ranks 4 bcast --in in1 --out 'in{rank}' --source 1 --verify; done_well
  for rank in 0 2 3; do cmp in "in$rank" || fail "in$rank differs"; done
  # A disk that is full from the first byte on, on one rank: all end, and leave nothing.
  mkdir d0 d1 d2 d3
  for full in 0 1 3; do
    rm -rf d?/*; ln -s /dev/full "d$full/file"
    ranks 4 bcast --in in --out 'd{rank}/file'
    refused 2 "rank $full on $(uname -n): d$full/file: cannot write: No space left on device"
    for rank in 0 1 2 3; do [ "$rank" = "$full" ] || [ ! -e "d$rank/file" ] || fail "d$rank/file is there"; done
  done
  ranks 4 bcast --in none --out 'out{rank}'; refused 2 "rank 0 on $(uname -n): none: cannot open"
  # Ranks that share an output: the source pulls it, or else the first of them.
  mkdir own0 own1; ln -s own0 own2; ln -s own1 own3
  ranks 4 bcast --in in --out 'own{rank}/file' --source 3 --verify --json; done_well
  says '"ranks": 2'; says '"verified": true'
  grep -q '^espalier-mpi: pulled by 2 of 4 ranks; the others have the same files' stderr || fail "no note"
  for rank in 0 1; do cmp in "own$rank/file" || fail "own$rank/file differs"; done
  ranks 4 bcast --in in --out once --verify --quiet; done_well; cmp in once || fail "once differs"
  ranks 4 bcast --in none --out once --quiet; refused 2 "none: cannot open"
}

# A stopped rank: the others name it, within the timeout.
test_stopped_pull() {
  local stop=19 rank begun
  no_files_to_remove
  for rank in 0 1 3; do
    begun=$SECONDS
    unlucky $rank $stop segment bcast --message 30MB --timeout 2s --quiet
    [ $((SECONDS - begun)) -le 12 ] || fail "took $((SECONDS - begun)) s"  # with the start of mpirun
    timed_out "rank [0-9] on .*: rank [0-9]: no progress for 2 s, waiting for .*(segments from rank $rank|rank $rank, which has [0-9]+ of [0-9]+ segments)"
  done
  unlucky 2 $stop agree bcast --message 100kB --timeout 1s
  timed_out "no progress for 1 s, waiting for "
  head -c 30000000 /dev/urandom >in
  unlucky 1 $stop segment bcast --in in --out 'out{rank}' --timeout 2s --quiet
  timed_out "no progress for 2 s, waiting for .*rank 1"
}
