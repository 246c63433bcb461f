# SPDX-License-Identifier: Apache-2.0
"""What is measured: cases of several rows, the first ours, the others peers doing the same."""

import collections

# key: of the raw figures; unit: "records/s", "images/s" (rates), "ns", "us" (times of one element),
# "ms" (of a batch), "busy" (a share), "reach" (seconds until 90 % of the best), "cores" (processors
# in use); aim: the least ratio, by row.
Case = collections.namedtuple("Case", "group key title unit rows")
# label, side, its function and parameters, least ratio ours must have over it (None: none set). Of our
# own rows the aim is ("bytes" or "elements", the least of them a second of one processor's time).
Row = collections.namedtuple("Row", "label side function params aim")

AUTO = -1
RECORDS = {"70": "11", "800": "193", "100000": "raw"}  # bytes of an Example: floats in x
FULL = {
    "records": {"70": 2_000_000, "800": 400_000, "100000": 4_000},
    "single": 100_000,
    "elements": 20_000_000,
    "tf_elements": 200_000,
    "py_elements": 400_000,
    "images": 256,
    "jpeg": 4096,
    "paced": 10.0,
    "arrivals": 6.0,
    "rounds": 200,
    "raw": 2048,
    "assembled": 30,
    "reaction": 5.0,
}
QUICK = {
    "records": {"70": 400_000, "800": 100_000, "100000": 1_000},
    "single": 15_000,
    "elements": 4_000_000,
    "tf_elements": 20_000,
    "py_elements": 100_000,
    "images": 128,
    "jpeg": 512,
    "paced": 2.5,
    "arrivals": 3.0,
    "rounds": 40,
    "raw": 1024,
    "assembled": 12,
    "reaction": 2.5,
}
FILES = 4


def record_cases(scale, made):
    """made: (size, compression) -> what make_records answered."""
    for size, kind in RECORDS.items():
        for compression in ("", "GZIP"):
            found = made[size, compression]
            n = scale["records"][size]
            base = {
                "files": found["files"],
                "kind": kind,
                "batch": 1024 if size != "100000" else 64,
                "compression": compression,
                "parallel": AUTO,
            }

            def params(count, single, base=base, found=found, n=n, **more):
                payload = found["payload"] * count // n
                return dict(base, n=count, single=single, bytes=payload, **more)

            one = min(n, scale["single"])
            large = size == "100000"
            aim = 2.5 if compression else 1.5 if large else 10
            rows = [
                Row(
                    "stoker.data, parse_example of a batch",
                    "stoker",
                    "records",
                    params(n, False),
                    None,
                ),
                Row(
                    "stoker.data, parse_single_example", "stoker", "records", params(n, True), None
                ),
                Row(
                    "stoker.data, parse_single_example, one thread",
                    "stoker",
                    "records",
                    params(n, True, parallel=None),
                    None if compression else ("bytes", 5e9) if large else ("elements", 5e6),
                ),
                Row(
                    "tf.data, parse_example of a batch",
                    "tf",
                    "records",
                    params(n if large or not compression else n // 2, False),
                    aim,
                ),
                Row("tf.data, parse_single_example", "tf", "records", params(one, True), aim),
            ]
            ratio = found["stored"] / found["payload"]
            title = f"TFRecord, {found['record']:,.0f} B a record" + (
                f", GZIP to {ratio:.0%}" if compression else ""
            )
            yield Case(
                "records",
                f"records-{size}{'-gzip' if compression else ''}",
                title,
                "records/s",
                rows,
            )


def overhead_cases(scale):
    for maps in (1, 5):
        small = {"n": scale["py_elements"] // maps, "batch": 1000, "maps": maps}
        rows = [
            Row(
                "stoker.data",
                "stoker",
                "overhead",
                {"n": scale["elements"], "batch": 1000, "maps": maps},
                None,
            ),
            Row(
                "stoker.data, AUTOTUNE",
                "stoker",
                "overhead",
                {"n": scale["elements"], "batch": 1000, "maps": maps, "parallel": AUTO},
                None,
            ),
            Row(
                "tf.data",
                "tf",
                "overhead",
                {"n": scale["tf_elements"] // maps, "batch": 1000, "maps": maps},
                200,
            ),
            Row(
                "tf.data, AUTOTUNE",
                "tf",
                "overhead",
                {"n": scale["tf_elements"] // maps, "batch": 1000, "maps": maps, "parallel": AUTO},
                200,
            ),
            Row("Grain", "grain", "overhead", dict(small, threads=0), 80),
            Row("Grain, 4 reading threads", "grain", "overhead", dict(small, threads=4), 80),
            Row("DataLoader in process", "torch", "overhead", dict(small, workers=0), 4),
            Row("DataLoader, 2 workers", "torch", "overhead", dict(small, workers=2), 50),
        ]
        yield Case(
            "overhead",
            f"overhead-{maps}",
            f"range, {maps} map{'s' if maps > 1 else ''} of x + 1, batch 1000",
            "ns",
            rows,
        )


def next_cases(scale):
    params = {"rounds": scale["rounds"], "ready": 8}
    rows = [
        Row("stoker.data", "stoker", "next", params, None),
        Row("tf.data", "tf", "next", params, None),
        Row("Grain, reading threads", "grain", "next", params, None),
        Row("DataLoader, iterable in process", "torch", "next", dict(params, workers=0), None),
        Row("DataLoader, 2 workers", "torch", "next", dict(params, workers=2), None),
    ]
    yield Case(
        "next", "next", "next() in Python, the batch (32, 8) float32 being ready", "us", rows
    )


def jpeg_cases(scale, files, tar):
    n, batch = scale["jpeg"], 64
    params = {"files": files, "batch": batch, "n": n}
    half = dict(params, n=n // 2 // batch * batch)
    rows = [
        Row("stoker.data, jpeg_random_resized_crop", "stoker", "jpeg", params, None),
        Row(
            "stoker.data, separate operations", "stoker", "jpeg", dict(params, is_fused=False), None
        ),
        Row("tf.data, decode_and_crop_jpeg INTEGER_FAST", "tf", "jpeg", params, 2),
        Row("DALI, CPU", "dali", "jpeg", params, 3),
        Row(
            "DataLoader, 2 workers, torchvision on PIL", "torch", "jpeg", dict(half, workers=2), 4.5
        ),
        Row("DataLoader in process", "torch", "jpeg", dict(half, workers=0), 4.5),
        Row("SPDL", "spdl", "jpeg", half, None),
        Row("FFCV, its own file of them", "ffcv", "jpeg", params, None),
        Row(
            "WebDataset, 2 workers",
            "torch",
            "web_jpeg",
            {"tar": tar, "batch": batch, "n": half["n"], "workers": 2},
            None,
        ),
    ]
    yield Case(
        "jpeg", "jpeg", "JPEG files, random-resized-crop 224, flip, normalise", "images/s", rows
    )


def raw_cases(scale, made):
    """made: what make_raw answered."""
    for normalised in (False, True):
        params = dict(made, batch=64, n=scale["raw"], normalised=normalised)
        del params["stored"]
        rows = [
            Row(
                "stoker.data, one thread",
                "stoker",
                "raw",
                dict(params, parallel=None),
                ("elements", 12_000),
            ),
            Row("stoker.data", "stoker", "raw", params, None),
            Row("FFCV, its own file of them", "ffcv", "raw", params, None),
            Row("DALI, CPU", "dali", "raw", params, None),
            Row("tf.data", "tf", "raw", params, None),
            Row(
                "DataLoader, 2 workers, torchvision v2",
                "torch",
                "raw",
                dict(params, workers=2, n=scale["raw"] // 2),
                None,
            ),
        ]
        yield Case(
            "raw",
            f"raw-{'normalised' if normalised else 'uint8'}",
            "256 px images stored as uint8, random-resized-crop 224, flip"
            + (", normalise" if normalised else ""),
            "images/s",
            rows,
        )


def assemble_cases(scale):
    params = {"count": 128, "batch": 64, "batches": scale["assembled"]}
    rows = [
        Row(
            "stoker.data, elements in order",
            "stoker",
            "assemble",
            dict(params, shuffled=False),
            None,
        ),
        Row("stoker.data, shuffled", "stoker", "assemble", dict(params, shuffled=True), None),
        Row("np.copyto of as many bytes", "stoker", "assemble_copy", params, None),
        Row("tf.data, elements in order", "tf", "assemble", dict(params, shuffled=False), None),
        Row("tf.data, shuffled", "tf", "assemble", dict(params, shuffled=True), None),
        Row("DataLoader in process", "torch", "assemble", dict(params, workers=0), None),
        Row("DataLoader, 2 workers", "torch", "assemble", dict(params, workers=2), None),
    ]
    yield Case(
        "assemble",
        "assemble",
        "64 ready elements (3, 224, 224) float32 become a batch of 38.5 MB",
        "ms",
        rows,
    )


def shuffle_cases(scale):
    for buffer in (10_000, 100_000):
        params = {"buffer": buffer, "batch": 1000}
        rows = [
            Row("stoker.data", "stoker", "shuffle", dict(params, n=scale["elements"]), None),
            Row("tf.data", "tf", "shuffle", dict(params, n=5 * scale["tf_elements"]), 20),
            Row(
                "Grain, shuffle of all",
                "grain",
                "shuffle",
                dict(params, n=scale["py_elements"]),
                None,
            ),
            Row(
                "DataLoader, sampler of all, in process",
                "torch",
                "shuffle",
                dict(params, n=scale["py_elements"]),
                None,
            ),
            Row("WebDataset", "torch", "web_shuffle", dict(params, n=scale["py_elements"]), None),
        ]
        yield Case(
            "shuffle", f"shuffle-{buffer}", f"range, shuffle({buffer:,}), batch 1000", "ns", rows
        )


def tune_cases(scale, files):
    """Rows of "reach" are asked for their best with fixed parallelism first: see the runner."""
    params = {"files": files, "batch": 32, "seconds": scale["arrivals"]}
    rows = [
        Row("stoker.data", "stoker", "arrivals", params, None),
        Row("tf.data", "tf", "arrivals", params, None),
    ]
    yield Case(
        "autotune",
        "autotune",
        "JPEG by separate operations, AUTOTUNE (ours from one thread a stage): seconds to 90 % of the "
        "best fixed setting",
        "reach",
        rows,
    )
    paced = {"files": files, "batch": 64, "seconds": scale["paced"]}
    rows = [
        Row("stoker.data", "stoker", "paced", paced, None),
        Row("ready batches, all processors busy", "stoker", "paced_ready", paced, None),
        Row("tf.data", "tf", "paced", paced, None),
        Row("DALI, CPU", "dali", "paced", paced, None),
        Row("DataLoader, 2 workers", "torch", "paced", dict(paced, workers=2), None),
        Row("SPDL", "spdl", "paced", paced, None),
        Row("FFCV, its own file of them", "ffcv", "paced", paced, None),
    ]
    yield Case(
        "starve",
        "starve",
        "JPEG, a step of the device at 90 % of the tool's own offline rate: the device is busy",
        "busy",
        rows,
    )
    quarter = dict(paced, batch=32, share=0.25, settle=1.0, seconds=0.6 * scale["paced"])
    yield Case(
        "throttle",
        "throttle",
        "JPEG, a step of the device that asks for 25 % of the tool's own offline rate: processors in "
        "use",
        "cores",
        [
            Row("stoker.data", "stoker", "paced", quarter, None),
            Row("the same in bursts, no threads", "stoker", "paced_in_bursts", quarter, None),
            Row("tf.data", "tf", "paced", quarter, None),
            Row("DALI, CPU", "dali", "paced", quarter, None),
            Row("FFCV, its own file of them", "ffcv", "paced", quarter, None),
        ],
    )


def reaction_cases(scale, files, large_files):
    """The large files take about twice the time; the step asks for 75 % of what they allow."""
    params = {
        "files": files,
        "large_files": large_files,
        "batch": 32,
        "seconds": scale["reaction"],
    }
    yield Case(
        "react",
        "react",
        "JPEG by separate operations, AUTOTUNE, whose files become twice as large: seconds until the "
        "step is kept up with again",
        "reach",
        [
            Row("stoker.data", "stoker", "reaction", params, None),
            Row("tf.data", "tf", "reaction", params, None),
        ],
    )
