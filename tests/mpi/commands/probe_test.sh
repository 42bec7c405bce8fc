#!/usr/bin/env bash
# espalier-mpi probe as a user runs it: files and output.
# Usage: probe_test.sh CASE ESPALIER_MPI MPIEXEC [ESPALIER]   (CASE: a function below, test_...)
set -u
case_name=$1 program=$2 mpiexec=$3 planner=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# probe N ARGS...: runs a probe on N ranks; output in stdout and stderr, status in $status.
probe() {
  local count=$1; shift
  "$mpiexec" -n "$count" "$program" probe --effort 0.1 "$@" >stdout 2>stderr </dev/null
  status=$?
}
# The same functions as in command_line_test.sh.
no_files_to_remove() { export OMPI_MCA_odls_base_sigkill_timeout=0; }
done_well() { [ "$status" -eq 0 ] || { fail "status $status"; cat stdout stderr; }; }
says() { grep -qE -- "$1" stdout || { fail "stdout lacks '$1'"; cat stdout; }; }
# refused STATUS TEXT: the last run ended with this status and printed one error line, which contains TEXT.
refused() {
  [ "$status" -eq "$1" ] || { fail "status $status, not $1"; cat stderr; }
  [ "$(grep -c '^espalier-mpi: ' stderr)" -eq 1 ] || { fail "not one line of ours"; cat stderr; }
  grep '^espalier-mpi: ' stderr | grep -qF -- "$2" || { fail "does not say '$2'"; cat stderr; }
  [ -s stdout ] && { fail "wrote to stdout"; cat stdout; }
}
# only FILES...: there are these files and no others.
only() {
  local found
  found=$(find . -type f ! -name stdout ! -name stderr -printf '%P\n' | sort | tr '\n' ' ')
  [ "$found" = "$*${*:+ }" ] || fail "files: $found, not $*"
}
count() { grep -cE -- "$1" "$2"; }

# Every ordered pair of ranks is a link, for any number of ranks.
test_ranks() {
  for ranks in 2 3 4 7; do
    probe "$ranks" -o out.json --name 'a "name"'
    done_well
    says "^$ranks ranks, $((ranks * (ranks - 1))) links, measured in"
    says '^model: '
    [ "$(count '"bandwidth_Bps":[0-9.e]+,"latency_s":[0-9.e-]+,"overhead_s":[0-9.e-]+' out.json)" -eq $((ranks * (ranks - 1))) ] ||
      { fail "$ranks ranks: links"; cat out.json; }
    [ "$(count '^  \{"name":"rank[0-9]+"' out.json)" -eq "$ranks" ] || { fail "$ranks ranks: nodes"; cat out.json; }
    grep -qF '"name": "a \"name\"",' out.json || { fail "name"; cat out.json; }
    only out.json
    rm out.json
  done
}

test_json() {
  probe 3 -o out.json --json --measurements raw.json
  done_well
  local keys
  keys=$(grep -oE '^  "[A-Za-z_]+"' stdout | tr -d ' "\n')
  [ "$keys" = operationranksseconds"model"modelsnodeslinksmeasured_linksbandwidth_Bpslatency_soverhead_ssharednoisedisturbed_linksdoubtful_links ] ||
    fail "keys: $keys"
  says '"operation": "probe"'; says '"ranks": 3'; says '"links": 6'; says '"model": "one-port'
  [ "$(count '"flow":\[[012],[012]\]' raw.json)" -eq 6 ] || fail "timings"
  [ "$(count '"purpose":"round"' raw.json)" -eq 6 ] || fail "rounds"
  [ "$(count '"purpose":"fan-(in|out)"' raw.json)" -eq 6 ] || fail "fans"
  only out.json raw.json
  probe 2 -o - --name piped
  done_well
  says '^\{"format": "espalier-platform", "version": 1, "name": "piped",$'
  grep -q '^2 ranks, 2 links' stderr || { fail "no summary"; cat stderr; }
}

test_dry_run() {
  probe 3 -o out.json --dry-run
  done_well
  says '^ranks +3 on 1 host$'; says '^steps +21$'; says '^slow links +[0-9.]+ s$'
  only
}

# A resumed probe does not repeat the measurements of the interrupted one.
test_resume() {
  probe 3 -o whole.json --measurements raw.json --quiet
  done_well
  local kept
  kept=$(($(grep -n '"experiments"' raw.json | cut -d: -f1) + 4))  # one experiment per line
  head -n $kept raw.json | sed '$s/,$/]}/' >out.json.measurements.json
  probe 3 -o out.json --measurements again.json --resume
  done_well
  only again.json out.json raw.json whole.json
  diff <(head -n $kept raw.json) <(head -n $kept again.json) || fail "measured again"
  [ "$(count '"purpose"' again.json)" -ge 15 ] || fail "did not continue"  # 6 rounds, 9 of one rank with the others
  probe 3 -o none.json --resume
  refused 2 'none.json.measurements.json: cannot open'
  cp raw.json few.json.measurements.json
  probe 2 -o few.json --resume
  refused 2 'few.json.measurements.json: /hosts: was measured with 3 ranks, not 2'
  sed 's/"hosts": \["[^"]*"/"hosts": ["elsewhere"/' raw.json >moved.json.measurements.json
  probe 3 -o moved.json --resume
  refused 2 "moved.json.measurements.json: /hosts/0: rank 0 ran on 'elsewhere' and is now on "
  echo '{"format": ' >broken.json.measurements.json
  probe 3 -o broken.json --resume
  refused 2 'broken.json.measurements.json: '
}

# Every model's file has its keys; the table has a row for each size and the requested pairs.
test_models() {
  local model keys
  for model in hockney loggp plogp; do
    probe 3 --model $model -o out.json --largest 4KiB --name 'a "name"'
    done_well
    says '^3 ranks on 1 host, median of 6 of 6 pairs within a host, measured in '
    says "^$model: "
    says '^combining: [0-9.e-]+ ns a byte in 64 KiB, [0-9.e-]+ ns a byte in 1 MiB$'
    [ "$(grep -A 2 '^destinations  *gap for 1 B  *gap for 4 KiB$' stdout | grep -cE '^ +[12] +[0-9]')" -eq 2 ] ||
      { fail "$model: destinations"; cat stdout; }
    for size in '1 B' '64 B' '256 B' '1 KiB' '2 KiB' '4 KiB'; do
      [ "$(count "^ *$size " stdout)" -eq 1 ] || { fail "$model: row of $size"; cat stdout; }
    done
    grep -qF '{ "name": "a \"name\"",' out.json || { fail "$model: name"; cat out.json; }
    keys=$(grep -oE '"[a-z_]+": [^ ]' out.json | tr -d ' 0123456789\n')
    case $model in
      hockney) [ "$keys" = '"name":""model":""alpha_s":"beta_s_per_byte":["computation_s_per_byte":' ] ;;
      loggp) [ "$keys" = '"name":""model":""latency_s":"overhead_s":"gap_s":"gap_per_byte_s":"computation_s_per_byte":' ] ;;
      plogp) [ "$keys" = '"name":""model":""latency_s":"send_overhead_s":["receive_overhead_s":["gap_s":["computation_s_per_byte":' ] ;;
    esac || { fail "$model: keys $keys"; cat out.json; }
    only out.json
    rm out.json
  done
  probe 4 --model plogp -o out.json --json --largest 300 --pair 2,0
  done_well
  says '"ranks": 4'; says '"hosts": 1'; says '"of_pairs": 1'; says '"model": "plogp"'
  [ "$(count '"message_bytes": (1|64|256|300),' stdout)" -eq 4 ] || { fail "sizes"; cat stdout; }
  says '"gap_by_destinations": \[\]'; says '"statistics": "least"'
  [ "$(count '"computation_s_per_byte": [0-9.e-]+$' stdout)" -eq 3 ] || { fail "combining"; cat stdout; }
  [ "$(grep -A 5 '"pairs"' stdout | tr -d ' \n')" = '"pairs":[[2,0]],' ] || { fail "pairs"; cat stdout; }
  [ "$(grep -oE '\[(1|64|256|300),[0-9.e-]+\]' out.json | wc -l)" -eq 12 ] || { fail "tables"; cat out.json; }
  rm out.json
  probe 2 --model loggp -o - --largest 64 --class within-host
  done_well
  says '^\{ "name": "probe of 2 ranks, within a host, median of 2 pairs",$'
  grep -q '^loggp: L ' stderr || { fail "no summary"; cat stderr; }
  only
  probe 4 --model loggp -o out.json --json --largest 64 --statistics steady
  done_well
  says '"statistics": "steady"'; says '"worst_deviation": [0-9.]+'; says '"unsteady": \['
  [ "$(tr -d ' \n' <stdout | grep -oE '\{"destinations":(1|2|3),"message_bytes":(1|64),"gap_s":[0-9.e-]+\}' | wc -l)" -eq 6 ] ||
    { fail "gaps"; cat stdout; }
  rm out.json
  probe 4 --model loggp -o out.json --largest 64 --statistics steady
  done_well
  says '^largest standard deviation: [0-9.]+ % of the mean, '
  says '^not steady \(5 % or more\): [0-9]+ of [0-9]+ values$'
  rm out.json
  no_files_to_remove
  probe 2 --model plogp -o out.json --class between-hosts; refused 2 '--class: all ranks are on one host'
  probe 2 --model plogp -o out.json --pair 0,2; refused 2 '--pair: there is no rank 2; there are 2 ranks'
  probe 2 --model plogp -o out.json --pair=; rm -f out.json
  probe 1 --model plogp -o out.json; refused 2 'one rank has no network to probe; start two or more'
  probe 2 --model plogp -o nowhere/out.json; refused 2 'nowhere/out.json: cannot write: No such file or directory'
  only
}

# What the probe writes can be planned for, and the plans run.
test_end_to_end() {
  probe 4 -o net.json --quiet
  done_well
  local operation
  for operation in broadcast reduce allreduce; do
    "$planner" plan net.json --source rank1 --operation $operation --quiet -o $operation.json >stdout 2>stderr
    status=$?
    done_well
    "$mpiexec" -n 4 "$program" ${operation/broadcast/bcast} $operation.json --message 1600000 --verify --json --quiet \
      >stdout 2>stderr </dev/null
    status=$?
    done_well
    says '"verified": true'
    says '"ranks": 4'
  done
  only allreduce.json broadcast.json net.json reduce.json
}

test_refusals() {
  no_files_to_remove
  probe 1 -o out.json; refused 2 'one rank has no network to probe; start two or more'
  probe 2 -o nowhere/out.json; refused 2 'nowhere/out.json: cannot write: No such file or directory'
  mkdir folder
  probe 2 -o folder; refused 2 'folder: is a directory'
  probe 2 -o out.json --measurements folder; refused 2 'folder: is a directory'
  probe 2 -o out.json --measurements nowhere/m.json; refused 2 'nowhere/m.json: cannot write'
  "$mpiexec" -n 2 "$program" probe -o out.json --effort hard >stdout 2>stderr </dev/null
  status=$?
  refused 2 "--effort: 'hard' is neither quick, normal or thorough nor a number from 0.1 to 100"
  unset OMPI_MCA_odls_base_sigkill_timeout
  probe 2 -o /dev/full --quiet; refused 2 '/dev/full: '
  only
}

"test_$case_name"
[ "$failures" -eq 0 ]
