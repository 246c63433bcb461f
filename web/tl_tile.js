// SPDX-License-Identifier: Apache-2.0
// One tile: the events of a track in a stretch of time, as columns. Level L has buckets of 2^L ns, a
// tile 1024 of them. Short events of a bucket are merged: the longest stands for them, `counts` says
// for how many. Little-endian on the wire, as typed arrays are wherever a browser runs, so that columns
// are looked at where they lie; include/stoker/timeline.h has what they mean.

export const TILE_BUCKETS = 1024;
const MAGIC = 0x32544b53; // "SKT2"
const HEADER = 40;
const BYTES_EACH = 4 + 4 + 4 + 4 + 4 + 2 + 1 + 1;
const BYTES_FAR = 16;
export const OUTLIER = 1;
const FAR = 8; // start and duration stand in `far`

export class Tile {
    constructor(columns) {
        Object.assign(this, columns);
    }

    /* Begin of an event, ns. */
    start(i) {
        return this.flags[i] & FAR ? this.far[2 * this.starts[i]] : this.from + this.starts[i] * this.unit;
    }

    /* How long it lasts, ns; of counters, its value. */
    dur(i) {
        return this.flags[i] & FAR ? this.far[2 * this.starts[i] + 1] : this.durs[i];
    }

    /* Whole and below 2^53: the trace is in the upper half. */
    id(i) {
        return this.trace * 2 ** 32 + this.events[i];
    }
}

/* A tile in `length` bytes at an offset that is a multiple of 8. */
export function decodeTile(buffer, offset = 0, length = buffer.byteLength) {
    if (length < HEADER) {
        throw new Error('a tile is incomplete');
    }
    const [magic, n, merged, events] = new Uint32Array(buffer, offset, 4);
    const [from, unit] = new Float64Array(buffer, offset + 16, 2);
    const [trace, fars] = new Uint32Array(buffer, offset + 32, 2);
    if (magic !== MAGIC || length < HEADER + n * BYTES_EACH + fars * BYTES_FAR) {
        throw new Error('a tile is damaged');
    }
    let at = offset + HEADER;
    const column = (Type, count) => {
        const array = new Type(buffer, at, count);
        at += count * Type.BYTES_PER_ELEMENT;
        return array;
    };
    return new Tile({ n, merged, count: events, from, unit, trace, bytes: length,
        starts: column(Uint32Array, n), durs: column(Uint32Array, n), events: column(Uint32Array, n),
        names: column(Uint32Array, n), counts: column(Uint32Array, n), rows: column(Uint16Array, n),
        kinds: column(Uint8Array, n), flags: column(Uint8Array, n), far: column(Float64Array, 2 * fars) });
}

/* Several tiles in one answer, each after its length in 8 bytes. */
export function decodeTiles(buffer) {
    const found = [];
    for (let at = 0; at + 8 <= buffer.byteLength;) {
        const [low, high] = new Uint32Array(buffer, at, 2);
        const length = low + high * 2 ** 32;
        if (length > buffer.byteLength - at - 8) {
            throw new Error('the tiles are incomplete');
        }
        found.push(decodeTile(buffer, at + 8, length));
        at += 8 + length;
    }
    return found;
}

/* A tile of the page's own making: the steps, or the findings' evidence. items: {start_ns, dur_ns, text, row, short},
   `short` for where the text has no room; kind: its number, where an item has none of its own. */
export function ownTile(given, kind) {
    const items = [...given].sort((a, b) => a.start_ns - b.start_ns);
    const n = items.length;
    return new Tile({ n, merged: 0, count: n, from: 0, unit: 1, trace: -1, bytes: 0,
        starts: Uint32Array.from(items, (_, i) => i), durs: new Uint32Array(n), events: Uint32Array.from(items, (_, i) => i),
        names: Uint32Array.from(items, (_, i) => i), counts: new Uint32Array(n).fill(1),
        rows: Uint16Array.from(items, (item) => item.row || 0), kinds: Uint8Array.from(items, (item) => item.kind ?? kind),
        flags: new Uint8Array(n).fill(FAR), far: Float64Array.from(items.flatMap((item) => [item.start_ns, item.dur_ns])),
        longest: items.reduce((most, item) => Math.max(most, item.dur_ns), 0), texts: items.map((item) => item.text), shorts: items.map((item) => item.short), items });
}

/* The level whose buckets are no wider than a pixel. */
export function levelOf(nsPerPx, highest) {
    return Math.max(0, Math.min(highest, Math.floor(Math.log2(Math.max(1, nsPerPx)))));
}

export function tileSpan(level) {
    return TILE_BUCKETS * 2 ** level;
}
