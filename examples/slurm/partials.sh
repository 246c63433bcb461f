#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job array, one task per profile: task i writes the partial of line i of a list. A task that is preempted starts over;
# a partial gets its name once it is complete, so a task that runs again finds it and stops.
#
#   ls /shared/run7/*.json.gz > files.txt
#   array=$(sbatch --parsable --array=0-$(($(wc -l < files.txt) - 1))%64 partials.sh files.txt parts)
#   sbatch --dependency=afterany:"$array" report.sh parts
#SBATCH --job-name=stoker-partials
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=00:10:00
#SBATCH --requeue
set -eu
list=$1 parts=$2
profile=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$list")
part=$parts/$SLURM_ARRAY_TASK_ID.part
if [ -z "$profile" ]; then
    echo "$list has no line $((SLURM_ARRAY_TASK_ID + 1))" >&2
    exit 2
fi
mkdir -p "$parts"
[ -e "$part" ] || stoker partial -q "$profile" -o "$part"
