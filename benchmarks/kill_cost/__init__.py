"""What kills cost (evidence scenario E20): `python -m benchmarks.kill_cost [--pairs 10]`.

Pairs of campaigns of our own engine on cJSON, one undisturbed, one in which a random process of the
job (worker, executor, root, mpirun, or the launcher, which is then started again) gets SIGKILL
every `--every` seconds of wall time. Roles are drawn as from a pack of cards. Which of a pair comes
first alternates.

Equal CPU. A campaign's budget is `--seconds` of CPU time for each slot. What counts is the CPU time
that executions were given: user and system time, from /proc/PID/stat, of each executor and of all
processes below it, of dead ones as far as the executor's tree has reaped them. It is read every
0.1 s and just before each kill. What an executor used after the last look at it is missed: at most
0.1 s for each of its lives. Neither the root nor workers, mpirun and launchers are charged. Beside
it stands the CPU time of the whole job, exactly: `getrusage(RUSAGE_CHILDREN)` of this process,
which adopts every orphan of the job. When the budget is used up the edges are read, and SIGTERM
asks for the clean end.

What is counted, and how:

* edges and decisions: those of the ledger when the budget was used up. Ratios are disturbed by
  undisturbed.
* executions lost: those that workers began (their own lines, `traced_ranks`) less those
  that the ledger has decided. The clean end itself may cut off one for each slot, in both kinds.
* executions repeated: those that began, less the different items that began.
* execution time lost: wall time from the begin of a lost execution to its result, or to the next
  kill, or to the end. CPU time lost is estimated as the same share of the executors' CPU time.
* solver time repeated: the time inside solver calls of executions that were lost (wall time of one
  thread, as executors measure it: their CPU time is at most that). An execution that was cut off
  reports none. Where its item was decided later, both took their solver time evenly: a run that
  came half as far in wall time has spent half of it. Else the campaign's mean share is taken.
* recovery: from a kill to the begin of the first transaction with a decision after it
  (`decided_wall`). After the death of a root, an mpirun or a launcher it has to be one of a later
  epoch: the old one may still commit for an instant. Results of a dead worker that were on their
  way count, and so do those of other slots. More kills may come before it; then it is long. Kills
  that no decision followed before the campaign's end have none: their number is told apart.
* durability: shares of the root's wall and CPU time, in undisturbed campaigns, that are spent
  in COMMIT alone, and in all that makes things durable: COMMIT, folding the log back, the fsync of
  files, and the syncfs of publication. Statements inside transactions are not part of it.

Figures are medians with the distribution-free interval between two order statistics whose
confidence is at least 95 % (see `median_interval`); with fewer than six values it is their range,
and `confidence` says what that is worth. Kills of one campaign are not independent of each other.

Each campaign is audited: a finding, a poisoned item, a fault counter that is not 0, an item that
ran after its decision, a process or file that is left, or a wrong exit code is a problem. The
result is a dated file in benchmarks/results; the exit code is 1 when there is any problem. Then the
folder in build/ is kept. Run it from a copy of the tree, on a machine with nothing else to do: wall
times, and thereby recovery, solver time and the number of kills, depend on what else runs.
"""
