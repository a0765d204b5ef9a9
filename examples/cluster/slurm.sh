#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sbatch --array=1-N slurm.sh SPEC N: a piece of an exploration for each job of a Slurm array.
#
# N says how many pieces there are, as an array need not have all of them: --array=7 makes piece 7 of
# N again.
#
# The stores are in the folder from which the array was submitted. When all jobs are done:
#
#     tessera explore merge SPEC.*.db --output SPEC.db
#
# At its time limit Slurm sends SIGTERM first: the process ends, and the same job goes on from there.
#SBATCH --job-name=tessera
#SBATCH --cpus-per-task=1
#SBATCH --output=tessera.%a.log
set -u
spec=$1
piece=$SLURM_ARRAY_TASK_ID
pieces=${2:?expected the number of pieces: slurm.sh SPEC N}
# Slurm runs a copy of this file, so the folder of the others must be known.
here=${TESSERA_CLUSTER:-$(dirname "$0")}
THREADS=${SLURM_CPUS_PER_TASK:-1} exec "$here/piece.sh" "$spec" "$piece/$pieces" \
  "$(basename "$spec" .yaml).$piece.db"
