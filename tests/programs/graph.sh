# Engine program: the graph of tree.py, for many executions at little cost: `sh graph.sh INPUT OUT`.
# An input is a line with a node and PADDING. RUNS: log that gets the node of each run; NODES: how
# many there are; PAUSE: seconds of each run.
read -r node < "$1"
echo "$node" >> "$RUNS"
for child in $((2 * node + 1)) $((2 * node + 2)) $(((7 * node + 3) % NODES)); do
  if [ "$child" -lt "$NODES" ]; then
    printf '%s\n%s' "$child" "$PADDING" > "$2/$child"
  fi
done
exec sleep "$PAUSE"
