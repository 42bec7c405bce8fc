# shellcheck shell=bash
# Cases of command_line_test.sh: the order that keeps hosts and groups together. All ranks share this host;
# tests/clusters/cluster_test.sh has several.

test_reorder() {
  local host
  ranks 1 reorder --json; done_well
  host=$(sed -n 's/.*"host": "\(.*\)",\{0,1\}/\1/p' stdout)
  echo "$host rack1" >groups
  ranks 3 reorder --groups groups --hostfile hostfile --rankfile rankfile; done_well
  says '^hosts +1$'
  says "^ *2 +2 +$host +rack1"
  printf "rank %d=$host slot=%d\n" 0 0 1 1 2 2 | cmp - rankfile || { fail "rankfile"; cat rankfile; }
  if "$mpiexec" --version | grep -qE "Open MPI|OpenRTE"; then
    echo "$host slots=3" | cmp - hostfile || { fail "hostfile"; cat hostfile; }
    "$mpiexec" --hostfile hostfile -n 3 "$program" reorder >stdout 2>stderr </dev/null || { fail "hostfile"; cat stderr; }
  else
    echo "$host:3" | cmp - hostfile || { fail "hostfile"; cat hostfile; }
    "$mpiexec" -f hostfile -n 3 "$program" reorder >stdout 2>stderr </dev/null || { fail "hostfile"; cat stderr; }
  fi
  ranks 2 reorder --groups groups --json; done_well
  says '"group": "rack1"'
  says '"reordered_host_changes": 0'

  echo "elsewhere rack1" >groups
  ranks 2 reorder --groups groups --hostfile none; refused 2 "groups: does not say the group of host '$host'"
  echo "$host" >groups
  ranks 2 reorder --groups groups; refused 2 "groups: line 1: has 1 word; a line is HOST GROUP"
  ranks 2 reorder --groups no-such-file; refused 2 "no-such-file: "
  ranks 2 reorder --hostfile no/such/folder; refused 2 "no/such/folder: "
  [ ! -e none ] || fail "a file was written"
}

# Plans that need no more than the topology.
test_topology() {
  local operation host
  [ -x "$(dirname "$program")/espalier" ] || return
  for operation in bcast reduce allreduce allgather reduce-scatter scatter gather alltoall; do
    ranks 5 $operation --algorithm hierarchical-node:binomial --message 120kB --verify; done_well
    says '^verified on '
  done
  ranks 4 barrier --algorithm hierarchical-node; done_well
  ranks 1 reorder --json; done_well
  host=$(sed -n 's/.*"host": "\(.*\)",\{0,1\}/\1/p' stdout)
  echo "$host island" >groups
  ranks 4 bcast --algorithm hierarchical --groups groups --root 2 --message 1MB --verify --repeat 2; done_well
  ranks 4 bcast --algorithm tac --message 4MiB --verify --json; done_well; says '"verified": true'
  ranks 4 alltoall --algorithm tac; refused 2 "--algorithm: TAC's alltoalls have no plan; bench --by-leaders times them"
  ranks 4 allgather --algorithm tac; refused 2 '--algorithm: TAC has no rule for an allgather of 64 MiB here'
  ranks 4 bcast --algorithm hierarchicl; refused 2 "did you mean 'hierarchical'"
  ranks 4 bcast --algorithm chain --root 4; refused 2 '--root: there is no rank 4; give 0 to 3'
  ranks 4 bcast --algorithm chain --groups nowhere; refused 2 'nowhere: '
}
