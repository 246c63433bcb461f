#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two steps of one job: the training, recorded in a folder for each task, and the report of all tasks.
# Each task leaves its partial when its window ends, so a job that is killed later is covered as well.
#
#   sbatch --nodes=4 --ntasks-per-node=8 steps.sh /shared/run7 python train.py
#SBATCH --job-name=train
#SBATCH --time=04:00:00
set -eu
out=$1
shift
# srun replaces %t only in its own options, so a shell in each task names its folder.
# shellcheck disable=SC2016
srun bash -c 'out=$1; shift; exec stoker run --out "$out/rank-$SLURM_PROCID" -- "$@"' run "$out" "$@" || echo "the training failed" >&2
srun --nodes=1 --ntasks=1 stoker why "$out"/rank-*/run.part | tee "$out/why.txt"
