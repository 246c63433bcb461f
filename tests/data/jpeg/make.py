#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the JPEG files of this folder, each below 1 kB. Seeds of fuzz_jpeg.

Needs Pillow. Before each file stand the five bytes by which the target chooses crop, scale, output,
DCT and upsampling (fuzz_jpeg.c). The pictures are computed: (37 y + 59 x + 101 c + 13 x y) mod 256,
whose blocks have coefficients at every frequency. Without Pillow's words for them, 4:4:0 is made of
4:2:2 and 4:1:1 of 4:2:0: as many blocks to an MCU, in another arrangement.
"""
import io
import os
import struct

from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
FOUR_TWO_ZERO, FOUR_TWO_TWO, FOUR_FOUR_FOUR = 2, 1, 0
HALF, FOURTH, EIGHTH, GREY, FAST, BOX, CROP = 1, 2, 3, 4, 8, 16, 32  # bits of the first byte


def encode(mode, width, height, **options):
    image = Image.new(mode, (width, height))
    values = [tuple((37 * y + 59 * x + 101 * c + 13 * x * y) % 256 for c in range(len(mode) if mode != "L" else 1))
              for y in range(height) for x in range(width)]
    image.putdata([v[0] for v in values] if mode == "L" else values)
    out = io.BytesIO()
    image.save(out, "JPEG", **{"quality": 60, "optimize": True, **options})
    return out.getvalue()


def sampled(file, factors, width, height):
    """The file with other factors of its first component and another size, of as many blocks."""
    at = file.index(b"\xff\xc0")
    head = bytearray(file[at:at + 13])
    head[5:9] = struct.pack(">HH", height, width)
    head[11] = factors
    return file[:at] + bytes(head) + file[at + 13:]


def write(name, file, choice=0, crop=(0, 0, 0, 0)):
    if len(file) > 1000:
        raise ValueError(f"{name}: {len(file)} bytes")
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(bytes([choice, *crop]) + file)


def main():
    wide = encode("RGB", 24, 11, subsampling=FOUR_TWO_TWO)
    square = encode("RGB", 27, 18, subsampling=FOUR_TWO_ZERO, quality=40)
    write("grey", encode("L", 19, 13))
    write("grey_one_pixel", encode("L", 1, 1), GREY | FAST)
    write("yuv420", square, FAST)
    write("yuv422", wide)
    write("yuv440", sampled(wide, 0x12, 11, 24), BOX)
    write("yuv411", sampled(square, 0x41, 60, 9), FAST | BOX)
    write("yuv444", encode("RGB", 9, 17, subsampling=FOUR_FOUR_FOUR), HALF)
    write("restarts", encode("RGB", 33, 17, subsampling=FOUR_TWO_ZERO, quality=25, restart_marker_blocks=1), FOURTH)
    write("restarts_rows", encode("L", 20, 30, restart_marker_rows=1), CROP, (3, 9, 11, 13))
    write("standard_huffman", encode("RGB", 17, 9, subsampling=FOUR_TWO_ZERO, quality=30, optimize=False), CROP, (1, 0, 15, 9))
    write("flat", encode("RGB", 3, 3, quality=1), EIGHTH | GREY)
    write("progressive", encode("RGB", 16, 15, quality=40, progressive=True))
    write("cmyk", encode("CMYK", 8, 9, quality=30))


main()
