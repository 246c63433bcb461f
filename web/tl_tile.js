// SPDX-License-Identifier: Apache-2.0
// One tile: the events of a track in a stretch of time, as columns. Level L has buckets of 2^L ns, a
// tile 1024 of them. Short events of a bucket are merged: the longest stands for them, `counts` says
// for how many. Little-endian on the wire, as typed arrays are wherever a browser runs; ids are
// whole numbers below 2^53 (the rank is in their upper half).

export const TILE_BUCKETS = 1024;
const MAGIC = 0x544b5453; // "STKT"
const HEADER = 16;
const BYTES_EACH = 8 + 8 + 8 + 4 + 4 + 2 + 1 + 1;

export function decodeTile(buffer) {
    if (buffer.byteLength < HEADER) {
        throw new Error('a tile is cut off');
    }
    const [magic, n, merged, events] = new Uint32Array(buffer, 0, 4);
    if (magic !== MAGIC || buffer.byteLength < HEADER + n * BYTES_EACH) {
        throw new Error('a tile is damaged');
    }
    let at = HEADER;
    const column = (Type) => {
        const array = new Type(buffer, at, n);
        at += n * Type.BYTES_PER_ELEMENT;
        return array;
    };
    return { n, merged, events, bytes: buffer.byteLength,
        starts: column(Float64Array), durs: column(Float64Array), ids: column(Float64Array), names: column(Uint32Array),
        counts: column(Uint32Array), rows: column(Uint16Array), kinds: column(Uint8Array), flags: column(Uint8Array) };
}

/* Of several tiles in one answer, each behind its length in 8 bytes, filled up to 8: their buffers. */
export function splitTiles(buffer) {
    const found = [];
    for (let at = 0; at + 8 <= buffer.byteLength;) {
        const [low, high] = new Uint32Array(buffer, at, 2);
        const length = low + high * 2 ** 32;
        if (length > buffer.byteLength - at - 8) {
            throw new Error('tiles are cut off');
        }
        found.push(buffer.slice(at + 8, at + 8 + length));
        at += 8 + length + (8 - length % 8) % 8;
    }
    return found;
}

/* The level whose buckets are no wider than a pixel. */
export function levelOf(nsPerPx, highest) {
    return Math.max(0, Math.min(highest, Math.floor(Math.log2(Math.max(1, nsPerPx)))));
}

export function tileSpan(level) {
    return TILE_BUCKETS * 2 ** level;
}
