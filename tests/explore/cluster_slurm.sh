#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cluster_slurm.sh TESSERA SOURCE: the jobs of a Slurm array make the document of one process. Starts
# munge and a Slurm of one node in a folder of its own, and ends them. Needs root.
set -eu
export TESSERA=$1
source=$2
export TESSERA_CLUSTER=$source/examples/cluster
if [ "$(id -u)" != 0 ]; then
  echo "skipped: Slurm starts as root only"
  exit 77
fi
folder=$(mktemp -d)
chmod 755 "$folder"
pids=
finish() {
  for pid in $pids; do kill "$pid" 2> /dev/null || true; done
  wait
  rm -rf "$folder"
}
trap finish EXIT
cd "$folder"
mkdir state spool munge jobs
chmod 700 munge
chown -R munge munge
dd if=/dev/urandom of=munge/key bs=64 count=16 2> /dev/null
chown munge munge/key
chmod 400 munge/key
setpriv --reuid=munge --regid=munge --clear-groups /usr/sbin/munged --foreground --force \
  --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
  --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" > munged.txt 2>&1 &
pids="$pids $!"
chmod 711 munge
host=$(hostname -s)
cat > slurm.conf <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
END
export SLURM_CONF=$folder/slurm.conf
slurmctld -D > slurmctld.txt 2>&1 & pids="$pids $!"
slurmd -D > slurmd.txt 2>&1 & pids="$pids $!"
await() {
  for _ in $(seq 300); do
    if eval "$1" > /dev/null 2>&1; then return 0; fi
    sleep 0.2
  done
  echo "never came true: $1" >&2
  tail -n 20 slurmctld.log slurmd.log munge/log >&2
  return 1
}
await 'sinfo -h -o %T | grep -q idle'
cd jobs
. "$source/tests/explore/cluster_space.sh"
# One piece comes later, as after a failure.
sbatch --array=1,3 "$source/examples/cluster/slurm.sh" space.yaml 3
sbatch --array=2 "$source/examples/cluster/slurm.sh" space.yaml 3
cd ..
await 'test -z "$(squeue -h)"'
cd jobs
cat tessera.*.log
"$TESSERA" explore merge space.1.db space.2.db space.3.db --output space.db > /dev/null
"$TESSERA" explore export space.db --canonical | cmp - whole.json
