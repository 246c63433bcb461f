# SPDX-License-Identifier: Apache-2.0
"""Reads the protocol buffer wire format, for messages that aren't in the engine."""


def varint(data, at):
    """(number, end offset). IndexError, ValueError: not a varint."""
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & (2**64 - 1), at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def fields(data):
    """(number, wire type, value) of each field: bytes for lengths, ints for numbers."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 5):
            end = at + (8 if kind == 1 else 4)
            value, at = data[at:end], end
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {kind}")
        if at > len(data):
            raise ValueError("it ends within a field")
        yield tag >> 3, kind, value
