# Plans, platforms and decision tables by hand, to be sourced.
# shellcheck shell=bash

# plan_in_segments SEGMENT NODES SOURCE TREE...: a plan file on stdout, with segments of SEGMENT bytes; a tree is
# "RATE EDGE,EDGE...", an edge "[0, 1]" without blanks.
plan_in_segments() {
  local segment=$1 nodes=$2 source=$3; shift 3
  local names='"n0"' trees='' sum=0 i tree
  for ((i = 1; i < nodes; i++)); do names+=", \"n$i\""; done
  for tree in "$@"; do
    trees+="${trees:+, }{\"rate_Bps\": ${tree%% *}, \"edges\": [${tree#* }]}"
    sum=$((sum + ${tree%% *}))
  done
  cat <<END
{"format": "espalier-plan", "version": 1, "operation": "broadcast", "platform": "test", "source": "n$source",
 "model": "one-port", "algorithm": "by hand", "nodes": [$names], "slice_bytes": $segment,
 "throughput_Bps": $sum, "optimum_Bps": null, "broadcast_trees": [$trees]}
END
}

# reversed PLAN: the trees of such a file, from the leaves to the source.
reversed() { sed -E 's/.*"broadcast_trees": (.*)\}$/\1/; t; d' "$1" | sed -E 's/\[([0-9]+),([0-9]+)\]/[\2,\1]/g'; }

# routes OPERATION NODES ROOT: a plan of a scatter or a gather with that root, or of an alltoall, on stdout. Each part of
# equal size has a direct path, and one through another node.
routes() {
  local operation=$1 nodes=$2 root=$3 names='"n0"' blocks='' from to other i
  for ((i = 1; i < nodes; i++)); do names+=", \"n$i\""; done
  for ((from = 0; from < nodes; from++)); do
    for ((to = 0; to < nodes; to++)); do
      case $operation in
        scatter) [ "$from" -eq "$root" ] || continue ;;
        gather) [ "$to" -eq "$root" ] || continue ;;
      esac
      [ "$from" -ne "$to" ] || continue
      other=0
      while [ "$other" -eq "$from" ] || [ "$other" -eq "$to" ]; do other=$((other + 1)); done
      blocks+="${blocks:+,
  }{\"kind\": \"route\", \"root\": $from, \"members\": [$to], \"share\": $(awk "BEGIN {print 1 / $nodes}"), \"after\": null, "
      blocks+="\"trees\": [{\"rate_Bps\": 600000, \"edges\": [[$from, $to]]}, "
      blocks+="{\"rate_Bps\": 400000, \"edges\": [[$from, $other], [$other, $to]]}]}"
    done
  done
  cat <<END
{"format": "espalier-plan", "version": 2, "operation": "$operation", "platform": "test", "model": "one-port",
 "algorithm": "by hand", "nodes": [$names], "segment_bytes": 10000, "throughput_Bps": $((nodes * 1000000)),
 "optimum_Bps": null, "blocks": [$blocks]}
END
}

# helped: a plan of a broadcast from n0 to n2 and n3, of which n1 copies a half on the way, on stdout.
helped() {
  cat <<END
{"format": "espalier-plan", "version": 2, "operation": "broadcast", "platform": "test", "model": "one-port",
 "algorithm": "by hand", "nodes": ["n0", "n1", "n2", "n3"], "segment_bytes": 10000, "throughput_Bps": 4000000,
 "optimum_Bps": null, "blocks": [{"kind": "spread", "root": 0, "members": [2, 3], "share": 1, "after": null,
  "trees": [{"rate_Bps": 2000000, "edges": [[0, 1], [1, 2], [1, 3]]}, {"rate_Bps": 2000000, "edges": [[0, 2], [2, 3]]}]}]}
END
}

# platform HOSTS: a complete graph with different rates.
platform() {
  echo from,to,bandwidth_Gbps
  local i j
  for ((i = 0; i < $1; i++)); do
    for ((j = 0; j < $1; j++)); do [ "$i" -eq "$j" ] || echo "h$i,h$j,$((1 + (3 * i + j) % 4))"; done
  done
}

# table OPERATION RANKS "BYTES ALGORITHM SEGMENT"...: a decision table for this number of ranks, with predicted times at
# 1 MB/s.
table() {
  local operation=$1 ranks=$2 rows='' row bytes algorithm segment; shift 2
  for row in "$@"; do
    read -r bytes algorithm segment <<<"$row"
    rows+="${rows:+,
 }{\"ranks\": $ranks, \"message_bytes\": $bytes, \"algorithm\": \"$algorithm\", \"segment_bytes\": $segment, "
    rows+="\"predicted_s\": $bytes.0e-6}"
  done
  printf '{"operation": "%s", "model": "loggp", "network": "test", "rows": [%s]}\n' "$operation" "$rows"
}
