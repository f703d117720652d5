#!/usr/bin/env bash
# Slurm, all of it on this machine and below a scratch directory: a task of an array is cancelled, and the merge behind it
# runs all the same and names the shard; the second time only that shard runs.
. "$(dirname -- "$0")/common.sh"
for program in slurmctld slurmd sbatch scancel munged; do
  type -P "$program" >/dev/null || skip "Slurm ($program)"
done
((EUID == 0)) || skip 'root, which Slurm here needs,'
engine slurm "$1"

cluster=$scratch/cluster
daemons=()
stop() {
  # From the last to the first: munged is needed by the others to stop well.
  local i
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    kill "${daemons[i]}" 2>/dev/null || true
    for _ in {1..50}; do
      kill -0 "${daemons[i]}" 2>/dev/null || break
      sleep .1
    done
    kill -KILL "${daemons[i]}" 2>/dev/null || true
  done
}

mkdir -p "$cluster/state" "$cluster/spool"
chmod 755 "$scratch" "$cluster"
(umask 077 && head -c 1024 /dev/urandom >"$cluster/munge.key")
read -r port_1 port_2 <<<"$(python3 -c '
import socket
ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(port.getsockname()[1] for port in ports))')"
host=$(hostname -s)
cat >"$cluster/slurm.conf" <<CONF
ClusterName=shards
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port_1
SlurmdPort=$port_2
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$cluster/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=0
ReturnToService=2
KillWait=2
MinJobAge=300
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$cluster/slurm.conf

# start PROGRAM...: in the foreground of Slurm, in the background of this script.
start() {
  "$@" >>"$cluster/start.log" 2>&1 &
  daemons+=($!)
}
start munged --foreground --force --socket="$cluster/munge.socket" --key-file="$cluster/munge.key" \
  --pid-file="$cluster/munge.pid" --log-file="$cluster/munge.log" --seed-file="$cluster/munge.seed"
for _ in {1..50}; do
  [[ -S $cluster/munge.socket ]] && break
  sleep .1
done
start slurmctld -D
start slurmd -D
for _ in {1..100}; do
  [[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]] && break
  sleep .1
done
[[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]] ||
  fail "Slurm is not up: $(tail -n 5 "$cluster"/*.log)"

# ended JOB: waits until it has left the queue.
ended() {
  local _
  for _ in {1..600}; do
    [[ -z $(squeue --noheader --states=PENDING,RUNNING,CONFIGURING,COMPLETING --jobs="$1" 2>/dev/null) ]] && return
    sleep .1
  done
  fail "job $1 does not end: $(squeue)"
}

# submit: sets `array` and `merge`.
submit() {
  exits 0 bash "$examples/slurm.sh" "$actual" "$golden" "$shards"
  array=$(sed -n 's/^array \(.*\), merge.*/\1/p' "$scratch/output.txt")
  merge=$(sed -n 's/.*merge \([0-9]*\),.*/\1/p' "$scratch/output.txt")
}

DYING=wait submit
for _ in {1..300}; do
  [[ -e part/3.jsonl.partial ]] && break
  sleep .1
done
scancel "${array}_3"
ended "$merge"
scontrol --oneliner show job "${array}_3" | grep -q 'JobState=CANCELLED' || fail "task 3 was not cancelled"
scontrol --oneliner show job "$merge" | grep -q 'ExitCode=2:0' || fail "the merge behind it did not exit with 2"
lacks_third

submit
ended "$merge"
scontrol --oneliner show job "$array" | grep -q 'ArrayTaskId=3 ' || fail "not only shard 3 was run again"
scontrol --oneliner show job "$merge" | grep -q "ExitCode=$expected:0" || fail "the merge did not exit with $expected"
[[ -s merge.txt ]] || fail "the merge wrote nothing"
same_as_single
