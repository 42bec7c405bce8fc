# shellcheck shell=bash
# Cases of command_line_test.sh: files and folders.

same_everywhere() {
  local rank
  for rank in 0 1 2 3; do cmp in "out$rank" || fail "out$rank differs"; done
  [ -z "$(find . -name '.espalier*')" ] || fail "a temporary file is left"
  rm -f out?
}

test_files() {
  for size in 0 1 9999 10000 12345678; do
    head -c $size /dev/urandom >in
    ranks 4 bcast good.json --in in --out 'out{rank}' --verify --repeat 2 --json
    done_well; says '"verified": true'; says "\"message_bytes\": $size"
    same_everywhere
  done
  # An existing file is replaced and keeps its mode; a symbolic link is kept.
  echo old >target; chmod 640 target; ln -s target out2
  ranks 4 bcast good.json --in in --out 'out{rank}'
  done_well
  [ -L out2 ] || fail "the link is gone"
  [ "$(stat -c %a target)" = 640 ] || fail "mode $(stat -c %a target)"
  same_everywhere
  # An output that is also the source's input is not changed. {host} is the host's name.
  mkdir "d$(uname -n)"; cp in in1
  ranks 4 bcast good.json --in in1 --out 'in{rank}' --verify
  done_well
  for rank in 0 2 3; do cmp in "in$rank" || fail "in$rank differs"; done
  ranks 4 bcast good.json --in in --out 'd{host}/x{rank}'
  done_well
  cmp in "d$(uname -n)/x3" || fail "x3 differs"
  ranks 4 bcast good.json --in in --out /dev/null; done_well
}

# Folders, and several files and folders; they are written completely or not at all.
test_trees() {
  mkdir -p src/sub/deep src/empty.d
  head -c 1234567 /dev/urandom >src/big; echo small >src/sub/small; : >src/empty; ln -s sub/small src/link
  chmod 750 src/sub; chmod 640 src/big; touch -d '2001-02-03 04:05:06.789' src/sub/deep src/big
  for i in 1 2 3 4 5 6 7 8 9; do echo "$i" >"src/sub/deep/f $i"; done
  attributes() { (cd "$1" && find . -mindepth 1 -printf '%P %y %m %l %T@\n' | sort); }
  ranks 4 bcast good.json --in src --out 'out{rank}' --verify --repeat 2
  done_well
  for rank in 0 1 2 3; do
    diff -r --no-dereference src "out$rank" || fail "out$rank differs"
    [ "$(attributes src)" = "$(attributes "out$rank")" ] || fail "attributes of out$rank differ"
  done
  ranks 4 bcast good.json --in src --out 'out{rank}'
  [ "$status" -eq 2 ] || fail "status $status"
  grep -q 'cannot write: exists; several files need a new or empty folder' stderr || fail "$(cat stderr)"
  rm -r out?; mkdir out0 out1 out2 out3
  ranks 4 bcast good.json --in src/big --in src/sub/ --in src/link --out 'out{rank}' --verify
  done_well
  for rank in 0 1 2 3; do
    cmp src/big "out$rank/big" && diff -r src/sub "out$rank/sub" && cmp src/sub/small "out$rank/link" ||
      fail "out$rank differs"
  done
  rm -r out?; mkdir leer
  ranks 4 bcast good.json --in leer --out 'out{rank}' --verify; done_well; [ -d out3 ] || fail "no out3"
  rmdir out?
  ranks 4 bcast good.json --in src/big --in src/../src/big --out 'out{rank}'
  refused 2 "src/../src/big: would be stored as 'big', like another --in"
  mkfifo src/pipe
  ranks 4 bcast good.json --in src --out 'out{rank}'; refused 2 "src/pipe: is not a file, folder or symbolic link"
  rm src/pipe
  ranks 4 bcast good.json --in src --out 'nowhere/out{rank}'; refused 2 "cannot write: No such file or directory"
  echo x >a; ranks 4 bcast good.json --in src --out 'a'; refused 2 "put {rank} into --out"
}

# interrupted FILE: a run is killed in the middle and leaves files from which the next run can resume.
interrupted() {
  "$mpiexec" -n 4 "$program" bcast good.json --in "$1" --out 'out{rank}' --resume --segment 2kB >/dev/null 2>&1 </dev/null &
  local run=$! turn
  for turn in $(seq 2000); do
    [ "$(cat .espalier-out?.part.progress 2>/dev/null | grep -vc ' 0*$')" -eq 4 ] && break
    sleep 0.02
  done
  kill -9 $run; wait $run 2>/dev/null
  # Wait until the ranks, which end after their mpirun, no longer write.
  while pgrep -f "bcast good.json --in $1 --out out{rank} --resume" >/dev/null; do sleep 0.02; done
}

test_resume() {
  head -c 60000000 /dev/urandom >in
  interrupted in
  [ -e out0 ] && fail "it ended too soon"
  ranks 4 bcast good.json --in in --out 'out{rank}' --resume --verify --json
  done_well; says '"resumed_bytes": [1-9]'
  same_everywhere
  # If the remains are of another file, or damaged, the run starts from the beginning.
  interrupted in
  touch in
  ranks 4 bcast good.json --in in --out 'out{rank}' --resume --verify --json
  done_well; says '"message_bytes": 60000000'
  same_everywhere
  interrupted in
  printf X | dd of=.espalier-out2.part bs=1 seek=4711 conv=notrunc status=none
  ranks 4 bcast good.json --in in --out 'out{rank}' --resume --verify --json
  done_well; says '"message_bytes": 60000000'
  same_everywhere
  mkdir tree; for i in 1 2 3 4; do head -c 15000000 in >"tree/$i"; done
  interrupted tree
  ranks 4 bcast good.json --in tree --out 'out{rank}' --resume --verify --json
  done_well; says '"resumed_bytes": [1-9]'
  for rank in 0 1 2 3; do diff -r tree "out$rank" || fail "out$rank differs"; done
  rm -r out?
}

# changing COMMAND ARGS...: the source runs the command when it has sent some segments of its --in.
changing() {
  local command=$1; shift
  UNLUCKY_COMMAND=$command unlucky 1 0 segment bcast good.json --out 'out{rank}' --quiet "$@"
}

# A source that changes while it is sent gives no copy, whatever changes it.
test_changes() {
  local try command what file rank
  for try in 'dd if=/dev/urandom of=in bs=1000 count=1 conv=notrunc status=none|modification time' \
             'echo more >>in|size and modification time' \
             'truncate -s 20000000 in|size and modification time' \
             'truncate -s 10 in|size and modification time' \
             'cp -p in new && mv new in|another file has its name' \
             'rm in|No such file or directory' \
             'touch -r in old && dd if=/dev/zero of=in bs=9 count=1 conv=notrunc status=none && touch -r old in|time of the last status change'; do
    command=${try%|*} what=${try#*|}
    head -c 30000000 /dev/urandom >in
    changing "$command" --in in
    refused 5 "rank 1 on $(uname -n): in: changed while it was sent ($what); run again when nothing writes it"
  done
  # --resume keeps what was written, and does not continue with it: the source is another one.
  head -c 60000000 /dev/urandom >in
  changing 'printf X | dd of=in bs=1 seek=59999999 conv=notrunc status=none' --in in --resume
  [ "$status" -eq 5 ] || { fail "status $status, not 5"; cat stderr; }
  [ -z "$(ls -d out* 2>/dev/null)" ] || fail "there is an output"
  [ -e .espalier-out3.part ] || fail "nothing is kept"
  ranks 4 bcast good.json --in in --out 'out{rank}' --resume --verify --json
  done_well; says '"message_bytes": 60000000'
  same_everywhere
  rm -f out?
  # A log that grows: what it contained at the start.
  head -c 30000000 /dev/urandom >in; cp in before
  changing 'echo more >>in' --in in --allow-changes --verify --json
  done_well; says '"source_change": "in: changed while it was sent \(size and modification time\)"'
  grep -q '^espalier-mpi: warning: in: changed while it was sent (size and modification time); the copies' stderr || fail "$(cat stderr)"
  for rank in 0 1 2 3; do cmp before "out$rank" || fail "out$rank differs"; done
  rm out?
  changing true --in in --allow-changes; done_well; [ -s stderr ] && fail "$(cat stderr)"
  rm out?
  changing 'truncate -s 10 in' --in in --allow-changes; refused 2 'in: became shorter while it was read'
  # Folders, and several files.
  mkdir -p src/sub; for file in a b c; do head -c 10000000 /dev/urandom >src/$file; done; ln -s a src/link
  changing 'for file in a b c; do echo x | dd of=src/$file conv=notrunc status=none; done' --in src
  refused 5 "src/a: changed while it was sent (modification time); so did 2 other files"
  changing 'ln -sfn b src/link' --in src; refused 5 "src/link: changed while it was sent (another file has its name); run"
  changing 'echo x >>src/c' --in src/a --in src/c; refused 5 "src/c: changed while it was sent (size and modification time); run"
  changing 'rm src/b' --in src; refused 5 "src/b: changed while it was sent (No such file or directory); run"
  changing 'echo x >>src/c; echo x >src/new' --in src --allow-changes
  done_well; [ -e out0/c ] || fail "no copy"
  rm -r out?
  ranks 4 bcast good.json --message 1kB --allow-changes; refused 2 "--allow-changes needs --in"
}

test_bad_files() {
  head -c 300000 /dev/urandom >in
  ranks 4 bcast good.json --in in --out outs; refused 2 "is the file of rank 0 and of rank 1"
  mkdir sub
  ranks 4 bcast good.json --in in --out './sub/../out/'; refused 2 "put {rank} into --out"
  ranks 4 bcast good.json --in none --out 'out{rank}'; refused 2 "rank 1 on $(uname -n): none: cannot open"
  mkfifo pipe; ranks 4 bcast good.json --in pipe --out 'out{rank}'; refused 2 "pipe: cannot read: is not a regular file"
  ranks 4 bcast good.json --in in --out '/no/such{rank}/out'; refused 2 "rank 0 on $(uname -n): /no/such0/out: cannot write"
  mkdir d0 d1 d2  # and rank 3 has none
  ranks 4 bcast good.json --in in --out 'd{rank}/out'; refused 2 "rank 3 on $(uname -n): d3/out: cannot write: No such"
  mkdir -p d3/out
  ranks 4 bcast good.json --in in --out 'd{rank}/out'; status_keep=$status; rmdir d3/out; status=$status_keep
  refused 2 "rank 3 on $(uname -n): d3/out: cannot write: Is a directory"
  # A disk that is full from the first byte on, on one rank only: detected during the transfer.
  for full in 0 1 3; do
    rm -rf d?/*; ln -s /dev/full "d$full/file"
    for rank in 0 1 2 3; do [ "$rank" = "$full" ] || ln -sfn . "d$rank/self"; done
    ranks 4 bcast good.json --in in --out 'd{rank}/file'
    refused 2 "rank $full on $(uname -n): d$full/file: cannot write: No space left on device"
    for rank in 0 1 2 3; do [ "$rank" = "$full" ] || [ ! -e "d$rank/file" ] || fail "d$rank/file is there"; done
  done
}

# A limit on the file size simulates a full disk; MPI's own files must stay below it. The space is allocated before
# anything is sent.
test_full_disk() {
  truncate -s 300M in
  echo old >out2
  (ulimit -f 200000; "$mpiexec" -n 4 "$program" bcast good.json --in in --out 'out{rank}') >stdout 2>stderr
  status=$?
  [ "$(cat out2)" = old ] || fail "out2 has changed"
  rm out2
  refused 2 "cannot write: File too large"
}


# Sparse files keep their holes, which are not sent.
test_sparse() {
  local rank file blocks
  truncate -s 50000000 in
  for at in 100 20000 20001 35000; do head -c 3000 /dev/urandom | dd of=in bs=1000 seek=$at conv=notrunc status=none; done
  blocks=$(stat -c %b in)
  [ "$blocks" -lt 1000 ] || { echo "this file system has no holes"; return; }
  ranks 4 bcast good.json --in in --out 'out{rank}' --verify --json
  done_well
  for rank in 0 1 2 3; do
    cmp in "out$rank" || fail "out$rank differs"
    [ "$(stat -c %b "out$rank")" -le $((blocks + 16)) ] || fail "out$rank has $(stat -c %b "out$rank") blocks, not $blocks"
  done
  says '"message_bytes": [0-9]{5},'; says '"hole_bytes": 499[0-9]{5}'
  rm out?
  truncate -s 70000000 empty
  ranks 4 bcast good.json --in empty --out 'out{rank}' --verify
  done_well; says '^0 B to 4 ranks'; says '^70 MB of holes, which were not sent$'
  for rank in 0 1 2 3; do cmp empty "out$rank" || fail "out$rank differs"; done
  rm out?
  mkdir -p src/sub; cp --sparse=always in src/sub/holes; cp --sparse=always empty src; head -c 100000 /dev/urandom >src/dense
  ranks 4 bcast good.json --in src --out 'out{rank}' --verify
  done_well
  for rank in 0 1 2 3; do
    diff -r src "out$rank" || fail "out$rank differs"
    for file in sub/holes empty; do
      [ "$(stat -c %b "out$rank/$file")" -le $((blocks + 16)) ] || fail "$file of out$rank has $(stat -c %b "out$rank/$file") blocks"
    done
  done
  rm -r out?
  # A run that is interrupted and continued, and a device, which may contain anything.
  head -c 60000000 /dev/urandom | dd of=in bs=1000000 seek=100 conv=notrunc status=none
  interrupted in
  ranks 4 bcast good.json --in in --out 'out{rank}' --resume --verify --json
  done_well; says '"resumed_bytes": [1-9]'
  [ "$(stat -c %b out3)" -le $((blocks + 60000000 / 512 + 32)) ] || fail "out3 has $(stat -c %b out3) blocks"
  same_everywhere
  ranks 4 bcast good.json --in in --out /dev/null; done_well
}
