# SPDX-License-Identifier: Apache-2.0
"""What is measured: cases with several rows, the first ours, the others peers doing the same."""

import collections

import settings as S

# key: of the raw figures; unit: "records/s", "images/s" (rates), "ns", "us" (times per element), "ms" (per batch),
# "busy" (a share), "reach" (seconds until 90% of the best), "cores" (cores in use); aim: the minimum ratio, by row.
Case = collections.namedtuple("Case", "group key title unit rows")
# A peer is one row: its candidates are the settings searched; the best one counts. aim: the minimum ratio ours must
# have over it (None: not set); for our own rows, the minimum "bytes" or "elements" per second of CPU time. length: how
# long its passes are, found by the search: (the parameter, the shortest, the longest, a multiple of this). variant: ""
# or how the peer's variant differs in kind from the case's. borrows: the cell whose best setting is used, for rows that
# aren't searched themselves (no ratio is printed for those).
Row = collections.namedtuple(
    "Row",
    "label side function params aim candidates length variant borrows",
    defaults=(None, None, None, "", None),
)

AUTO = -1
RECORDS = {"70": "11", "800": "193", "100000": "raw"}  # bytes of an Example: floats in x
FULL = {
    "records": {"70": 2_000_000, "800": 400_000, "100000": 4_000},
    "elements": 20_000_000,
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
    "elements": 4_000_000,
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


def cell(case, row):
    """The name of a row's cell in the file of search results."""
    return row.borrows or f"{case.key}: {row.label}"


def record_cases(scale, made):
    """made: (size, compression) -> make_records's answer."""
    for size, kind in RECORDS.items():
        for compression in ("", "GZIP"):
            found = made[size, compression]
            n, large = scale["records"][size], size == "100000"
            batch = 64 if large else 1024
            base = {
                "files": found["files"],
                "kind": kind,
                "batch": batch,
                "compression": compression,
                "record": found["record"],
                "total": n,
                "n": n,
            }
            aim = 2.5 if compression else 1.5 if large else 10
            one_thread = None if compression else ("bytes", 5e9) if large else ("elements", 5e6)
            ours = [
                ("parse_example of a batch", {"single": False, "parallel": AUTO}, None),
                ("parse_single_example", {"single": True, "parallel": AUTO}, None),
                (
                    "parse_single_example, one thread",
                    {"single": True, "parallel": None},
                    one_thread,
                ),
            ]
            rows = [
                Row(f"stoker.data, {label}", "stoker", "records", {**base, **more}, its_aim)
                for label, more, its_aim in ours
            ]
            length = ("n", max(batch * FILES, n // 4 // (batch * FILES) * batch * FILES), n, batch * FILES)
            rows.append(Row("tf.data", "tf", "records", base, aim, S.tf_records(), length))
            ratio = found["stored"] / found["payload"]
            packed = f", GZIP to {ratio:.0%}" if compression else ""
            yield Case(
                "records",
                f"records-{size}{'-gzip' if compression else ''}",
                f"TFRecord, {found['record']:,.0f} B a record{packed}",
                "records/s",
                rows,
            )


def overhead_cases(scale):
    """One number at a time, and for comparison the form in which a map gets a batch."""
    many = {"n": scale["elements"], "batch": 1000}
    for maps in (1, 5):
        base = {**many, "maps": maps}
        rows = [
            Row("stoker.data", "stoker", "overhead", base, None),
            Row("stoker.data, AUTOTUNE", "stoker", "overhead", {**base, "parallel": AUTO}, None),
            Row(
                "stoker.data, map of batches",
                "stoker",
                "overhead",
                {**base, "of_batches": True},
                None,
                variant="map of batches",
            ),
        ]
        length = ("n", 20_000, 20_000_000, 1000)
        whole = ("n", 200_000, 40_000_000, 1000)
        for label, side, aim, singly, batched in (
            ("tf.data", "tf", 200, S.tf_overhead(), S.tf_overhead_of_batches()),
            ("Grain", "grain", 80, S.grain_overhead(), S.grain_overhead_of_batches()),
            ("DataLoader", "torch", 4, S.torch_overhead(), S.torch_overhead_of_batches()),
            ("dataloader-rs", "loader_rs", None, S.loader_rs_numbers(), S.loader_rs_blocks()),
        ):
            vector = ("overhead_of_blocks", {})
            if side in ("tf", "loader_rs"):
                vector = ("overhead", {"of_batches": True} if side == "tf" else {})
            rows += [
                Row(label, side, "overhead", base, aim, singly, length),
                Row(
                    f"{label}, map of batches",
                    side,
                    vector[0],
                    {**base, **vector[1]},
                    None,
                    batched,
                    whole,
                    "map of batches",
                ),
            ]
        title = f"range, {maps} map{'s' if maps > 1 else ''} of x + 1, batch 1000"
        yield Case("overhead", f"overhead-{maps}", title, "ns", rows)


def next_cases(scale):
    params = {"rounds": scale["rounds"], "ready": 8}
    length = ("rounds", 20, scale["rounds"], 1)
    rows = [
        Row("stoker.data", "stoker", "next", params, None),
        Row("tf.data", "tf", "next", params, None, S.tf_next(), length),
        Row("Grain", "grain", "next", params, None, S.grain_next(), length),
        Row("DataLoader", "torch", "next", params, None, S.torch_next(), length),
    ]
    yield Case(
        "next", "next", "next() in Python, the batch (32, 8) float32 being ready", "us", rows
    )


def jpeg_cases(scale, files, tar):
    n, batch = scale["jpeg"], 64
    params = {"files": files, "batch": batch, "n": n}
    length = ("n", 2 * batch, 4 * n, batch)
    rows = [
        Row("stoker.data, jpeg_random_resized_crop", "stoker", "jpeg", params, None),
        Row(
            "stoker.data, separate operations",
            "stoker",
            "jpeg",
            {**params, "is_fused": False},
            None,
        ),
        Row("tf.data", "tf", "jpeg", params, 2, S.tf_jpeg(), length),
        Row("DALI, CPU", "dali", "jpeg", params, 3, S.dali_jpeg(), length),
        Row("DataLoader, torchvision", "torch", "jpeg", params, 4.5, S.torch_jpeg(), length),
        Row("DataLoader, torchcodec", "codec", "jpeg", params, None, S.codec_jpeg(), length),
        Row("LitData", "codec", "lit_jpeg", params, None, S.lit_jpeg(), length),
        Row("dataloader-rs, Pillow", "loader_rs", "jpeg", params, None, S.loader_rs_jpeg(), length),
        Row("SPDL", "spdl", "jpeg", params, None, S.spdl_jpeg(), length),
        Row("FFCV, its own file of them", "ffcv", "jpeg", params, None, S.ffcv(), length),
        Row(
            "WebDataset",
            "torch",
            "web_jpeg",
            {"tar": tar, "batch": batch, "n": n},
            None,
            S.web_jpeg(),
            length,
        ),
    ]
    yield Case(
        "jpeg", "jpeg", "JPEG files, random-resized-crop 224, flip, normalise", "images/s", rows
    )


def raw_cases(scale, made):
    """made: make_raw's answer."""
    for normalised in (False, True):
        params = dict(made, batch=64, n=scale["raw"], normalised=normalised)
        del params["stored"]
        length = ("n", 2 * 64, 4 * scale["raw"], 64)
        own = {**params, "parallel": None}
        rows = [
            Row("stoker.data, one thread", "stoker", "raw", own, ("elements", 12_000)),
            Row("stoker.data", "stoker", "raw", params, None),
        ] + [
            Row(label, side, "raw", params, None, candidates, length)
            for label, side, candidates in (
                ("FFCV, its own file of them", "ffcv", S.ffcv(normalised)),
                ("DALI, CPU", "dali", S.dali_raw()),
                ("tf.data", "tf", S.tf_raw(normalised)),
                ("DataLoader, torchvision v2", "torch", S.torch_raw(normalised)),
            )
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
    ordered, shuffled = {**params, "shuffled": False}, {**params, "shuffled": True}
    length = ("batches", 4, 4 * scale["assembled"], 1)
    rows = [
        Row("stoker.data, elements in order", "stoker", "assemble", ordered, None),
        Row("stoker.data, shuffled", "stoker", "assemble", shuffled, None),
        Row("np.copyto of as many bytes", "stoker", "assemble_copy", params, None),
        Row("tf.data, elements in order", "tf", "assemble", ordered, None, S.tf_assemble(), length),
        Row("tf.data, shuffled", "tf", "assemble", shuffled, None, S.tf_assemble(), length),
        Row("DataLoader, shuffled", "torch", "assemble", params, None, S.torch_assemble(), length),
    ]
    title = "64 ready elements (3, 224, 224) float32 become a batch of 38.5 MB"
    yield Case("assemble", "assemble", title, "ms", rows)


def shuffle_cases(scale):
    for buffer in (10_000, 100_000):
        params = {"buffer": buffer, "batch": 1000, "n": scale["elements"]}
        length = ("n", max(50_000, 2 * buffer), 20_000_000, 1000)
        rows = [Row("stoker.data", "stoker", "shuffle", params, None)] + [
            Row(label, side, function, params, aim, candidates, length)
            for label, side, function, aim, candidates in (
                ("tf.data", "tf", "shuffle", 20, S.tf_shuffle()),
                ("Grain", "grain", "shuffle", None, S.grain_shuffle()),
                ("DataLoader", "torch", "shuffle", None, S.torch_shuffle()),
                ("WebDataset", "torch", "web_shuffle", None, S.web_shuffle()),
                ("dataloader-rs", "loader_rs", "shuffle", None, S.loader_rs_numbers()),
            )
        ]
        yield Case(
            "shuffle", f"shuffle-{buffer}", f"range, shuffle({buffer:,}), batch 1000", "ns", rows
        )


def borrowing(label, side, function, params, jpeg_label):
    """A row in the best setting of the JPEG case."""
    return Row(label, side, function, params, None, borrows=f"jpeg: {jpeg_label}")


def tune_cases(scale, files):
    """For rows of "reach", their best with fixed parallelism is measured first: see the runner."""
    params = {"files": files, "batch": 32, "seconds": scale["arrivals"]}
    rows = [
        Row("stoker.data", "stoker", "arrivals", params, None),
        borrowing("tf.data", "tf", "arrivals", params, "tf.data"),
    ]
    yield Case(
        "autotune",
        "autotune",
        "JPEG by separate operations, AUTOTUNE (ours from one thread a stage): seconds to 90% of the "
        "best fixed setting",
        "reach",
        rows,
    )
    paced = {"files": files, "batch": 64, "seconds": scale["paced"]}
    ffcv = "FFCV, its own file of them"
    rows = [
        Row("stoker.data", "stoker", "paced", paced, None),
        Row("ready batches, all processors busy", "stoker", "paced_ready", paced, None),
        borrowing("tf.data", "tf", "paced", paced, "tf.data"),
        borrowing("DALI, CPU", "dali", "paced", paced, "DALI, CPU"),
        borrowing("DataLoader", "torch", "paced", paced, "DataLoader, torchvision"),
        borrowing("SPDL", "spdl", "paced", paced, "SPDL"),
        borrowing(ffcv, "ffcv", "paced", paced, ffcv),
    ]
    yield Case(
        "starve",
        "starve",
        "JPEG, a device step at 90% of the tool's own offline rate: the device is busy",
        "busy",
        rows,
    )
    quarter = dict(paced, batch=32, share=0.25, settle=1.0, seconds=0.6 * scale["paced"])
    yield Case(
        "throttle",
        "throttle",
        "JPEG, a device step that needs 25% of the tool's own offline rate: CPU cores in use",
        "cores",
        [
            Row("stoker.data", "stoker", "paced", quarter, None),
            Row("the same in bursts, no threads", "stoker", "paced_in_bursts", quarter, None),
            borrowing("tf.data", "tf", "paced", quarter, "tf.data"),
            borrowing("DALI, CPU", "dali", "paced", quarter, "DALI, CPU"),
            borrowing(ffcv, "ffcv", "paced", quarter, ffcv),
        ],
    )


def reaction_cases(scale, files, large_files):
    """Large files take about twice the time; the step needs 75% of the rate they allow."""
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
            borrowing("tf.data", "tf", "reaction", params, "tf.data"),
        ],
    )
