#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report of all partials of a folder, after the array that writes them (partials.sh). It covers the tasks that
# succeeded; the report says which ranks are missing.
#SBATCH --job-name=stoker-report
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --time=00:10:00
set -eu
parts=$1
find "$parts" -name '*.part' -print0 | stoker partial -q --files-from - -o "$parts.part"
stoker why "$parts.part" | tee "$parts.txt"
