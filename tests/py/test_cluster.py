# SPDX-License-Identifier: Apache-2.0
"""Many profiles in Python: object stores through fsspec, a Ray cluster, Dask's futures. Each gives the report of the files."""

import os
import pathlib
import re
import subprocess
import tempfile
import warnings

import checks as c
import stoker

SIM = pathlib.Path(stoker.__file__).resolve().parent.parent.parent / "lab/stoker_sim"
FOLDER = tempfile.mkdtemp(prefix="cluster-")
RANKS = 6


def job():
    """Profiles of a job, made once; none without the simulator."""
    place = pathlib.Path(FOLDER) / "job"
    if not SIM.exists():
        c.skip("stoker_sim was not built")
        return []
    if not place.exists():
        words = [SIM, "run", "-", f"ranks={RANKS}", "steps=6", "layers=3", "slow_rank=3", "--write", "kineto", place]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return sorted(place.iterdir())


def needs(name):
    try:
        return __import__(name)
    except ImportError:
        c.skip(f"{name} is not installed")
        return None


def figures(report, folder):
    """Of a stream the size isn't known; its name has the store's folder."""
    return re.sub(r"'bytes': \d+, ", "", repr(dict(report))).replace(folder, "")


def test_store():
    files, fsspec = job(), needs("fsspec")
    if not (files and fsspec):
        return
    memory = fsspec.filesystem("memory")
    for f in files:
        memory.pipe(f"/run/{f.name}", f.read_bytes())
    wanted = figures(stoker.why(*files), f"{files[0].parent}/")
    for url in ("memory://run/*.json", "memory://run"):
        c.same(figures(stoker.why(url), "memory:///run/"), wanted, url)
    c.raises(FileNotFoundError, lambda: stoker.why("memory://nothing/*.json"), "no object")
    memory.pipe("/bad/rank0.json", b"nothing")
    c.raises(stoker.ProfileError, lambda: stoker.why("memory://bad/rank0.json"), "rank0.json")


def test_s3():
    files = job()
    if not (files and needs("s3fs") and needs("moto")):
        return
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_ENDPOINT_URL=f"http://{host}:{port}", AWS_DEFAULT_REGION="us-east-1")
    try:
        import s3fs

        store = s3fs.S3FileSystem()
        store.mkdir("bucket")
        for f in files:
            store.put(str(f), f"bucket/run/{f.name}")
        wanted = figures(stoker.why(*files), f"{files[0].parent}/")
        c.same(figures(stoker.why("s3://bucket/run/*.json"), "s3://bucket/run/"), wanted, "s3")
    finally:
        server.stop()


def test_ray():
    files = job()
    import stoker.ray

    if not files or not needs("ray"):
        c.raises(ImportError, lambda: stoker.ray.why(["a"]), "pip install stoker[ray]")
        return
    import ray

    ray.init(num_cpus=2, include_dashboard=False, configure_logging=False, log_to_driver=False)
    try:
        wanted = stoker.why(*files)
        c.same(dict(stoker.ray.why(files)), dict(wanted), "one task per file")
        c.same(dict(stoker.ray.why(reversed(files))), dict(wanted), "another order")
        stoker.ray.FAN_IN = 2
        c.same(dict(stoker.ray.why(files)), dict(wanted), "a deeper tree")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            report = stoker.ray.why([*files, files[0].parent / "absent.json"])
        c.same(dict(report), dict(wanted), "the others")
        c.same(["absent.json" in str(w.message) for w in said if "left out" in str(w.message)], [True])
        c.raises(stoker.ProfileError, lambda: stoker.ray.why("/nowhere/rank0.json"), "rank0.json")
        c.raises(stoker.ProfileError, lambda: stoker.ray.why([]), "no profiles")
        c.raises(stoker.ProfileError, lambda: stoker.ray.why(files, steps="1:2"), "--steps")
    finally:
        ray.shutdown()


def partial(path):
    """As the recipe of docs/cluster.md has it."""
    out = f"{path}.part"
    subprocess.run([stoker.program(), "partial", "-q", path, "-o", out], check=True)
    return out


def test_dask():
    files = job()
    if not files or not needs("distributed"):
        return
    from distributed import Client

    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        parts = client.gather(client.map(partial, [str(f) for f in files]))
    c.same(dict(stoker.why(*parts)), dict(stoker.why(*files)), "Dask's futures")
    for part in parts:
        os.unlink(part)


if __name__ == "__main__":
    c.main(globals())
