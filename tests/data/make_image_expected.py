#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write image_expected.h: what TensorFlow and Pillow make of small synthetic images.

Usage: make_image_expected.py. Needs tensorflow and Pillow. The images are computed, here and in
tests/image_cases.h, from pixel(y, x, c) = (37 y + 59 x + 101 c + 13 x y) mod 256; files (JPEG, PNG)
are stored as bytes.
"""
import io
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from PIL import Image
import PIL

METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
SIZES = [((5, 7), (3, 4)), ((5, 7), (9, 6)), ((13, 10), (4, 5))]
out = []


def picture(h, w, c):
    """uint8 array (h, w, c)."""
    y, x, k = np.mgrid[0:h, 0:w, 0:c]
    return ((37 * y + 59 * x + 101 * k + 13 * x * y) % 256).astype(np.uint8)


def numbers(values):
    values = np.asarray(values).ravel()
    text = [f"{v:.7g}" if values.dtype.kind == "f" else str(int(v)) for v in values]
    if values.dtype.kind == "f":
        text = [t + ("f" if "." in t or "e" in t else ".0f") for t in text]
    lines, line = [], "    "
    for t in text:
        if len(line) + len(t) > 96:
            lines.append(line.rstrip())
            line = "    "
        line += t + ", "
    return "\n".join(lines + [line.rstrip()]).rstrip(",")


def array(kind, name, values):
    out.append(f"static const {kind} {name}[] = {{\n{numbers(values)}}};")


def resizes():
    rows, values = [], []
    for number, method in enumerate(METHODS):
        for antialias in (False, True):
            if antialias and method in ("nearest", "area"):
                continue
            for (h, w), (to_h, to_w) in SIZES:
                got = tf.image.resize(picture(h, w, 1), [to_h, to_w], method, antialias=antialias).numpy()
                rows.append(f"    {{{number}, {int(antialias)}, {h}, {w}, {to_h}, {to_w}, {len(values)}}},")
                values += list(got.astype("float32").ravel())
    array("float", "resize_values", np.array(values, "float32"))
    out.append("// method, antialias, height, width, new height, new width, first of the values above")
    out.append("static const int resize_cases[][7] = {\n" + "\n".join(rows) + "};")
    for h, w, to_h, to_w in ((5, 7, 9, 6), (13, 10, 4, 5), (40, 30, 3, 2)):
        im = Image.fromarray(picture(h, w, 3)).resize((to_w, to_h), Image.BILINEAR)
        array("uint8_t", f"pillow_{h}_{w}_{to_h}_{to_w}", np.asarray(im))


def colours():
    image = picture(4, 5, 3)
    cases = [("adjust_brightness", -0.2, 0), ("adjust_contrast", 1.7, 0), ("adjust_saturation", 1.6, 0), ("adjust_saturation", 0.3, 0),
             ("adjust_hue", 0.3, 0), ("adjust_hue", -0.7, 0), ("adjust_gamma", 0.6, 1.1), ("rgb_to_grayscale", 0, 0)]
    rows = []
    values = {"uint8": [], "float32": []}
    for name, a, b in cases:
        args = [] if name == "rgb_to_grayscale" else [a, b] if name == "adjust_gamma" else [a]
        rows.append(f'    {{"{name}", {a}f, {b}f, {len(values["uint8"])}}},'.replace(" 0f", " 0"))
        for dtype in values:
            source = image if dtype == "uint8" else (image / 255).astype("float32")
            values[dtype] += list(getattr(tf.image, name)(tf.constant(source), *args).numpy().ravel())
    array("uint8_t", "colour_bytes", np.array(values["uint8"], "uint8"))
    array("float", "colour_floats", np.array(values["float32"], "float32"))
    out.append("struct colour_case {\n    const char *name;\n    float a, b;\n    int first;\n};")
    out.append("static const struct colour_case colour_cases[] = {\n" + "\n".join(rows) + "};")
    source = tf.constant((image / 255).astype("float32"))
    spaces = [getattr(tf.image, n)(source).numpy() for n in ("rgb_to_hsv", "hsv_to_rgb")]
    out.append("// in the order of enum stk_image_space")
    array("float", "space_values", np.array(spaces, "float32"))
    array("float", "standardized", tf.image.per_image_standardization(image).numpy())


def file_case(name, data, pixels):
    array("uint8_t", f"file_{name}", np.frombuffer(data, np.uint8))
    array("uint16_t" if pixels.dtype == np.uint16 else "uint8_t", f"pixels_{name}", pixels)


def files():
    smooth = np.clip(picture(9, 11, 3).astype(int) // 3 + np.mgrid[0:9, 0:11, 0:3][0] * 9, 0, 255).astype(np.uint8)
    progressive = tf.io.encode_jpeg(smooth, quality=90, progressive=True).numpy()
    file_case("progressive", progressive, tf.io.decode_jpeg(progressive, dct_method="INTEGER_ACCURATE").numpy())
    buffer = io.BytesIO()
    Image.fromarray(smooth).convert("CMYK").save(buffer, "JPEG", quality=90)
    file_case("cmyk", buffer.getvalue(), tf.io.decode_jpeg(buffer.getvalue(), channels=3, dct_method="INTEGER_ACCURATE").numpy())
    small = picture(4, 5, 4)
    for name, image in (("palette", Image.fromarray(small[:, :, 0]).convert("P")), ("bilevel", Image.fromarray(small[:, :, 0]).convert("1"))):
        buffer = io.BytesIO()
        image.save(buffer, "PNG", **({"transparency": 3} if name == "palette" else {}))
        file_case(name, buffer.getvalue(), tf.io.decode_png(buffer.getvalue()).numpy())
    wide = picture(4, 5, 3).astype(np.uint16) * 250
    deep = tf.io.encode_png(wide).numpy()
    file_case("deep", deep, wide)
    file_case("deep_as_grey", deep, tf.io.decode_png(deep, channels=1).numpy())


def main():
    out.append(f"""// SPDX-License-Identifier: Apache-2.0
// Written by tests/data/make_image_expected.py: what TensorFlow {tf.__version__} and Pillow {PIL.__version__} give.
#ifndef STK_TESTS_IMAGE_EXPECTED_H
#define STK_TESTS_IMAGE_EXPECTED_H

#include <stdint.h>

// clang-format off
""")
    resizes()
    colours()
    files()
    out.append("\n#endif\n")
    path = pathlib.Path(__file__).resolve().parent / "image_expected.h"
    path.write_text("\n".join(out))
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
