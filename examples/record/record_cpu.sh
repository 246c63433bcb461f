#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records all CPU profiles of examples/profiles again: record_cpu.sh OUT [ENVS]
# OUT: folder for the profiles. ENVS: where the environments venv-tf, venv-torch and venv-jax are (default /tmp).
# The scripts run from /tmp/job under the host name host0, so that neither a user's paths nor the host's name get
# into the files. unshare needs root or user namespaces.
set -eu
out=$(realpath "$1")
envs=${2:-/tmp}
here=$(dirname "$(realpath "$0")")
job=/tmp/job
mkdir "$job"
cp "$here"/*.py "$job"
cd "$job"

record() { # record ENV SCRIPT [FLAGS]
    python="$envs/venv-$1/bin/python"
    shift
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --map-root-user --uts sh -c 'hostname host0; exec "$0" "$@"' "$python" "$@" --out profiles
}

record tf keras_input.py
record tf keras_input.py --fixed
record torch torch_loop.py
record torch torch_loop.py --fixed
record jax jax_loop.py
record jax jax_loop.py --fixed
record jax jax_loop.py --no-python-tracer

for file in profiles/*.gz; do
    if gzip -dc "$file" | grep -aqE "$here|$HOME/|/home/"; then
        echo "record_cpu.sh: $file holds a path of this machine; nothing copied to $out" >&2
        exit 1
    fi
done
mkdir -p "$out"
cp profiles/* "$out"
cd /
rm -r "$job"
