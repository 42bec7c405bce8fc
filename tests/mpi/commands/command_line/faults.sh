# shellcheck shell=bash
# Cases of command_line_test.sh: ranks that stop or die.

# unlucky RANK SIGNAL CALL ARGS...: runs four ranks; RANK gets SIGNAL at CALL (unlucky_rank.c).
unlucky() {
  local victim=$1 signal=$2 call=$3; shift 3
  UNLUCKY_RANK=$victim UNLUCKY_SIGNAL=$signal UNLUCKY_CALL=$call timeout -k 5 "${UNLUCKY_PATIENCE:-60}" "$mpiexec" -n 4 \
    env LD_PRELOAD="$unlucky_rank${LD_PRELOAD:+:$LD_PRELOAD}" "$program" "$@" >stdout 2>stderr </dev/null
  status=$?
}

# timed_out TEXT: the last run ended because of the timeout, and at least one rank reported TEXT.
timed_out() {
  [ "$status" -eq 4 ] || { fail "status $status, not 4"; cat stderr; }
  grep '^espalier-mpi: rank ' stderr | grep -qE -- "$1" || { fail "does not say '$1'"; cat stderr; }
  [ -s stdout ] && { fail "wrote to stdout"; cat stdout; }
  leaves_nothing
}

# A stopped rank, at every point where the others wait.
test_stopped() {
  local stop=19 rank try begun
  no_files_to_remove
  for rank in 0 1 3; do
    unlucky $rank $stop segment bcast good.json --message 10MB --timeout 2s --as-planned
    timed_out "rank [0-9] on .*: rank [0-9]: no progress for 2 s; (receiving|sending) segment [0-9]+ \\(number [0-9]+ of tree [01]\\) (from|to) rank $rank"
  done
  for rank in 1 3; do
    unlucky $rank $stop segment reduce reduce.json --message 10000000 --timeout 2s --as-planned
    timed_out "rank [0-9]: no progress for 2 s; .*(from|to) rank $rank"
  done
  unlucky 0 $stop segment allreduce allreduce.json --message 10000000 --timeout 2s --as-planned
  timed_out "rank [0-9]: no progress for 2 s; .*(from|to) rank 0"
  unlucky 0 $stop report bcast good.json --message 100kB --timeout 1s
  timed_out "rank 1: no progress for .*, waiting for reports of ranks 0$"
  unlucky 3 $stop barrier bcast good.json --message 100kB --timeout 1s
  timed_out "no progress for .*, waiting for all ranks to begin"
  unlucky 2 $stop agree bcast good.json --message 100kB --timeout 1s
  timed_out "no progress for 1 s, waiting for "
  # A rank that is done waits no longer where the plan predicts a slow network: 10 s here.
  for rank in 0 1; do
    begun=$SECONDS
    unlucky $rank $stop report bcast good.json --message 40MB --segment 500kB --timeout 2s --quiet
    timed_out "no progress for .*, waiting for (reports of ranks 0$|rank 1 to collect)"
    [ $((SECONDS - begun)) -le 15 ] || fail "took $((SECONDS - begun)) s"
  done
  unset OMPI_MCA_odls_base_sigkill_timeout
  # If ranks exit while another one finalizes, mpirun 4.1.4 sometimes crashes or hangs after its ranks have ended; the
  # sooner it kills ranks, the more often.
  for try in 1 2 3 4 5 6; do
    UNLUCKY_PATIENCE=20 unlucky 2 $stop finalize bcast good.json --message 100kB --timeout 1s
    [ "$status" -gt 4 ] || break
    echo "try $try: status $status"
  done
  [ "$status" -eq 4 ] || { fail "status $status, not 4"; cat stderr; }
  grep -q 'waiting for all ranks to end' stderr || { fail "does not report that it waits for the end"; cat stderr; }
  head -c 30000000 /dev/urandom >in
  unlucky 1 $stop segment bcast good.json --in in --out 'out{rank}' --timeout 2s
  timed_out "no progress for 2 s; .*(from|to) rank 1"
  NO_TMPFILE=1 unlucky 2 $stop segment bcast good.json --in in --out 'out{rank}' --timeout 2s
  [ "$status" -eq 4 ] || fail "status $status, not 4"
  # A process that is stopped and then killed cannot remove its file; the others remove theirs.
  [ "$(find . -name '.espalier*' | wc -l)" -le 1 ] || { fail "left behind"; ls -a; }
}

# A rank stopped at every point of a probe: before it, in a transfer, between short messages, and before an experiment.
test_stopped_probe() {
  local stop=19 rank begun
  no_files_to_remove
  # The points of unlucky_rank.c at which ranks post sends and receives, send, enter a barrier, and agree.
  while IFS='|' read -r call text; do
    for rank in 0 2; do
      begun=$SECONDS
      unlucky $rank $stop $call probe -o out.json --effort 0.1 --quiet --timeout 2s
      [ $((SECONDS - begun)) -le 12 ] || fail "took $((SECONDS - begun)) s"  # with the start of mpirun
      rm -f out.json.measurements.json
      timed_out "^espalier-mpi: rank [0-9] on [^:]*: no progress for [23](\\.[0-9]+)? s, (${text//RANK/$rank})"
    done
  done <<'END'
segment|.*(sending to|receiving from) rank RANK|waiting for (all ranks to (begin|end) an|rank 0 to begin the next) experiment
report|exchanging messages with rank RANK|waiting for all ranks to end an experiment
barrier|waiting for all ranks to begin an experiment
agree|waiting for all ranks to begin the probe
END
}

# The watchdog's thread needs a thread level.
test_no_threads() {
  no_files_to_remove
  NO_THREADS=1 unlucky 9 9 none bcast good.json --message 100kB
  refused 1 'this MPI provides MPI_THREAD_SINGLE only'
}

# A killed rank: mpirun ends the others, first with SIGTERM.
test_killed() {
  local kill=9 rank
  # The time between SIGTERM and SIGKILL: on a busy machine, cleaning up takes longer than Open MPI's default of a second.
  export OMPI_MCA_odls_base_sigkill_timeout=4
  head -c 30000000 /dev/urandom >in
  for rank in 0 1; do
    unlucky $rank $kill segment bcast good.json --in in --out 'out{rank}'
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "status $status"
    leaves_nothing
    NO_TMPFILE=1 unlucky $rank 15 segment bcast good.json --in in --out 'out{rank}'
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "status $status"
    leaves_nothing
  done
  NO_TMPFILE=1 unlucky 9 $kill segment bcast good.json --in in --out 'out{rank}' --verify
  done_well
  same_everywhere
}
