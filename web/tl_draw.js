// SPDX-License-Identifier: Apache-2.0
// Draws the timeline on its canvas: ruler, tracks with their events, counters, steps, the area and the
// event that are selected, arrows from launch to kernel. Rectangles are collected by colour and filled
// in one go each; text is drawn where it fits. Returns counts of what the view merged.

import { cssVar } from './dom.js';
import { fmtCount, fmtNs, fmtTick } from './format.js';
import { partOf } from './parts.js';
import { ROW_PX } from './tl_rows.js';
import { tickStep } from './tl_view.js';

export const RULER_PX = 26;
const CHAR_PX = 6.1; // of the font below, on average
const FONT = '11px system-ui, sans-serif';

/* Kinds as the index numbers them (docs/view.md), with their colour. */
export const KINDS = ['other', 'host_op', 'runtime', 'kernel', 'memcpy', 'memset', 'sync', 'annotation', 'python',
    'collective', 'input', 'memory', 'step', 'finding', 'phase'];
const KIND_COLOURS = ['unknown', 'cold', 'host', 'compute', 'transfer', 'transfer', 'sync', 'unknown', 'unknown',
    'comm', 'input', 'unknown', 'cold', 'input', 'unknown'];
const SHADES = 3; // of each colour, by name, so that neighbours differ

/* The colours of the scheme in force; made anew when it changes. */
export function makePalette() {
    const fills = new Map();
    for (const group of new Set(KIND_COLOURS)) {
        fills.set(group, cssVar(`--g-${group}`));
    }
    return { fills, text: cssVar('--text'), muted: cssVar('--muted'), line: cssVar('--line'), card: cssVar('--card'),
        page: cssVar('--page'),
        onPiece: cssVar('--on-piece'), select: cssVar('--select'), focus: cssVar('--focus'), bad: cssVar('--bad'),
            pattern: cssVar('--pattern') };
}

export function drawTimeline(scene) {
    const { ctx, width, height, palette } = scene;
    ctx.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
    ctx.fillStyle = palette.card;
    ctx.fillRect(0, 0, width, height);
    const batch = { buckets: new Map(), texts: [], merged: 0, events: 0, marks: [], rough: false, boxes: [] };
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, RULER_PX, width, height - RULER_PX);
    ctx.clip();
    drawStepLines(scene);
    for (const line of scene.rows.lines) {
        const y = line.y - scene.scroll + RULER_PX;
        if (y > height || y + line.h < RULER_PX) {
            continue;
        }
        line.type === 'group' ? drawGroupLine(scene, line, y) : drawTrack(scene, line, y, batch);
    }
    flush(scene, batch);
    drawSelection(scene);
    drawLinks(scene);
    ctx.restore();
    drawRuler(scene);
    return batch;
}

function drawGroupLine(scene, line, y) {
    scene.ctx.fillStyle = scene.palette.page;
    scene.ctx.fillRect(0, y, scene.width, line.h);
}

function drawTrack(scene, line, y, batch) {
    const { ctx, palette, view } = scene;
    const { track } = line;
    if (track.id === scene.current) {
        ctx.fillStyle = palette.select;
        ctx.fillRect(0, y, 3, line.h);
    }
    ctx.fillStyle = palette.line;
    ctx.fillRect(0, y + line.h - 1, scene.width, 1);
    const boxes = track.own ? [{ tile: track.own, from: -Infinity, to: Infinity }]
        : scene.data.cover(track.id, scene.level, view.t0, view.t1);
    const shown = scene.rows.rowsOf(track);
    let end = -Infinity;
    for (const box of boxes) {
        box.joined = box.from === end;
        end = box.to;
        batch.rough = batch.rough || Boolean(box.rough);
        track.group === 'counter' ? drawCounter(scene, box, y, line.h) : drawBoxes(scene, box, track, y, shown, batch);
    }
}

/* The first of the page's own items that may reach into the view: they are sorted by start. */
function firstOwn({ starts, longest }, t0) {
    let low = 0;
    let high = starts.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        starts[middle] < t0 - longest ? low = middle + 1 : high = middle;
    }
    return low;
}

/* The events of one tile. What began before it is drawn whole by the tile before, where that is there. */
function drawBoxes(scene, { tile, from, to, joined }, track, y, shown, batch) {
    const { view, width } = scene;
    const scale = 1 / view.nsPerPx;
    const filled = track.own ? new Int32Array(track.rows).fill(-9) : null; // of each row the last pixel drawn
    for (let i = track.own ? firstOwn(tile, view.t0) : 0; i < tile.n; i++) {
        const start = tile.starts[i];
        const end = start + tile.durs[i];
        const row = tile.rows[i];
        if (filled && start > view.t1) {
            break;
        }
        if (row >= shown || start >= to || start > view.t1 || end < view.t0
            || (start < from && (joined || end < from))) {
            continue;
        }
        const x0 = Math.max((start - view.t0) * scale, -2);
        const x1 = Math.min((end - view.t0) * scale, width + 2);
        const w = Math.max(1, x1 - x0);
        if (filled) {
            if (Math.floor(x1) === filled[row]) { // the server merges what is its own; this is the page's
                batch.merged++;
                continue;
            }
            filled[row] = Math.floor(x1);
        }
        const top = y + 2 + row * ROW_PX;
        const hit = scene.hits && scene.hits.has(tile.ids[i]);
        const key = tile.kinds[i] * 4 + tile.names[i] % SHADES;
        let list = batch.buckets.get(key);
        if (!list) {
            batch.buckets.set(key, list = []);
        }
        list.push(x0, top, w > 3 ? w - 1 : w);
        batch.events++;
        if (tile.counts[i] > 1) {
            batch.merged += tile.counts[i] - 1;
            w > 2 && batch.marks.push(x0, top, w, 0);
        }
        (tile.flags[i] & 1) && batch.marks.push(x0, top, w, 1);
        hit && batch.marks.push(x0, top, w, 2);
        batch.boxes.push(track.id, i, tile);
        if (w > 26) {
            batch.texts.push([tile, i, x0, top, w]);
        }
    }
}

function flush(scene, batch) {
    const { ctx, palette } = scene;
    for (const [key, list] of batch.buckets) {
        ctx.fillStyle = palette.fills.get(KIND_COLOURS[key >> 2] || 'unknown');
        ctx.globalAlpha = 1 - (key & 3) * 0.09;
        for (let i = 0; i < list.length; i += 3) {
            ctx.fillRect(list[i], list[i + 1], list[i + 2], ROW_PX - 2);
        }
    }
    ctx.globalAlpha = 1;
    for (let i = 0; i < batch.marks.length; i += 4) {
        const [x, y, w, what] = batch.marks.slice(i, i + 4);
        if (what === 0) { // merged: a bar along the bottom
            ctx.fillStyle = palette.pattern;
            ctx.fillRect(x, y + ROW_PX - 6, w, 4);
        } else if (what === 1) { // an outlier: a mark on top
            ctx.fillStyle = palette.text;
            ctx.fillRect(x, y - 2, Math.max(2, Math.min(w, 6)), 3);
        } else {
            ctx.strokeStyle = palette.text;
            ctx.lineWidth = 2;
            ctx.strokeRect(x, y, Math.max(3, w - 1), ROW_PX - 2);
        }
    }
    drawTexts(scene, batch.texts);
}

function drawTexts(scene, texts) {
    const { ctx, palette } = scene;
    ctx.font = FONT;
    ctx.fillStyle = palette.onPiece;
    for (const [tile, i, x, y, w] of texts) {
        const room = Math.floor((Math.min(x + w, scene.width) - Math.max(x, 0) - 8) / CHAR_PX);
        if (room < 2) {
            continue;
        }
        const name = tile.texts ? tile.texts[i] : scene.data.name(tile.names[i]);
        const count = tile.counts[i] > 1 ? `×${fmtCount(tile.counts[i])} ` : '';
        const text = count + name;
        ctx.fillText(text.length > room ? text.slice(0, Math.max(1, room - 1)) + '…' : text, Math.max(x, 0) + 4,
            y + ROW_PX - 6);
    }
}

/* Values of a counter as steps, to scale with the largest in sight. */
function drawCounter(scene, { tile, from, to }, y, h) {
    const { ctx, palette, view, width } = scene;
    let top = 0;
    for (let i = 0; i < tile.n; i++) {
        top = Math.max(top, tile.durs[i]);
    }
    ctx.fillStyle = palette.fills.get('cold');
    ctx.globalAlpha = 0.75;
    for (let i = 0; i < tile.n; i++) {
        const end = i + 1 < tile.n ? tile.starts[i + 1] : Math.min(to, view.last);
        const x0 = Math.max(0, view.x(Math.max(tile.starts[i], from)));
        const x1 = Math.min(width, view.x(end));
        if (x1 >= 0 && x0 <= width) {
            const high = top > 0 ? tile.durs[i] / top * (h - 6) : 0;
            ctx.fillRect(x0, y + h - 2 - high, Math.max(1, x1 - x0), Math.max(1, high));
        }
    }
    ctx.globalAlpha = 1;
}

function drawStepLines(scene) {
    const { ctx, palette, view, height } = scene;
    const list = scene.steps;
    if (!list.length || (view.span / list[0].dur_ns) > scene.width / 8) {
        return;
    }
    ctx.fillStyle = palette.line;
    for (const step of list) {
        const x = view.x(step.start_ns);
        x >= 0 && x <= scene.width && ctx.fillRect(x, RULER_PX, 1, height);
    }
}

function drawSelection(scene) {
    const { ctx, palette, view, area } = scene;
    if (area) {
        const x0 = view.x(area.t0);
        const x1 = view.x(area.t1);
        ctx.fillStyle = palette.select;
        ctx.fillRect(x0, RULER_PX, x1 - x0, scene.height);
        ctx.fillStyle = palette.focus;
        ctx.fillRect(x0, RULER_PX, 1, scene.height);
        ctx.fillRect(x1, RULER_PX, 1, scene.height);
    }
    const place = scene.selected && placeOf(scene, scene.selected);
    if (place) {
        ctx.strokeStyle = palette.text;
        ctx.lineWidth = 2.5;
        ctx.strokeRect(place.x - 1, place.y - 1, Math.max(4, place.w + 1), ROW_PX);
    }
}

/* Where an event {track, row, start_ns, dur_ns} stands on the canvas; null if its track is not shown. */
export function placeOf(scene, event) {
    const line = scene.rows.lineOf(event.track);
    if (!line) {
        return null;
    }
    const row = Math.min(event.row || 0, scene.rows.rowsOf(line.track) - 1);
    return { x: scene.view.x(event.start_ns), w: event.dur_ns / scene.view.nsPerPx,
        y: line.y - scene.scroll + RULER_PX + 2 + row * ROW_PX };
}

function drawLinks(scene) {
    const { ctx, palette, selected } = scene;
    const here = selected && placeOf(scene, selected);
    for (const other of (here && selected.links) || []) {
        const there = placeOf(scene, other);
        if (!there) {
            continue;
        }
        const [a, b] = other.dir === 'from' ? [there, here] : [here, there];
        const x0 = a.x + Math.min(a.w, 4);
        const y0 = a.y + ROW_PX / 2;
        const y1 = b.y + ROW_PX / 2;
        ctx.strokeStyle = palette.bad;
        ctx.fillStyle = palette.bad;
        ctx.lineWidth = 1.8;
        ctx.beginPath();
        ctx.moveTo(x0, y0);
        ctx.bezierCurveTo(x0 + 30, y0, b.x - 30, y1, b.x, y1);
        ctx.stroke();
        ctx.beginPath();
        ctx.moveTo(b.x, y1);
        ctx.lineTo(b.x - 7, y1 - 4);
        ctx.lineTo(b.x - 7, y1 + 4);
        ctx.fill();
    }
}

function drawRuler(scene) {
    const { ctx, palette, view, width } = scene;
    ctx.fillStyle = palette.page;
    ctx.fillRect(0, 0, width, RULER_PX);
    ctx.fillStyle = palette.line;
    ctx.fillRect(0, RULER_PX - 1, width, 1);
    ctx.font = FONT;
    const step = tickStep(view.nsPerPx);
    for (let t = Math.ceil(view.t0 / step) * step; t <= view.t1; t += step) {
        const x = view.x(t);
        ctx.fillStyle = palette.line;
        ctx.fillRect(x, 14, 1, RULER_PX - 14);
        ctx.fillStyle = palette.muted;
        ctx.fillText(fmtTick(t, step), x + 3, 13);
    }
    for (const note of scene.notes || []) {
        const x = view.x(note.t);
        ctx.fillStyle = palette.focus;
        ctx.fillRect(x, 0, 2, scene.height);
        ctx.fillText(note.text, x + 5, RULER_PX + 12);
    }
    if (scene.area) {
        ctx.fillStyle = palette.text;
        ctx.fillText(fmtNs(scene.area.t1 - scene.area.t0), Math.max(2, view.x(scene.area.t0) + 3), RULER_PX - 4);
    }
}

/* A track of the page's own making, in the shape of a tile: the steps, or the findings' evidence. */
export function ownTile(given, kind) {
    const items = [...given].sort((a, b) => a.start_ns - b.start_ns);
    const n = items.length;
    return { n, merged: 0, events: n, bytes: 0, longest: items.reduce((most, item) => Math.max(most, item.dur_ns), 0), texts: items.map((item) => item.text), items,
        starts: Float64Array.from(items, (item) => item.start_ns),
            durs: Float64Array.from(items, (item) => item.dur_ns),
        names: Uint32Array.from(items, (_, i) => i), ids: new Float64Array(n).fill(-1),
            counts: new Uint32Array(n).fill(1),
        rows: Uint16Array.from(items, (item) => item.row || 0), kinds: new Uint8Array(n).fill(KINDS.indexOf(kind)),
            flags: new Uint8Array(n) };
}

export function stepText(step) {
    const largest = Object.entries(step.parts || {}).filter(([id]) => id !== 'compute').sort((a, b) => b[1] - a[1])[0];
    return `step ${step.number}: ${fmtNs(step.dur_ns)}${largest && largest[1] > 0 ? `, ${partOf(largest[0]).label} ${fmtNs(largest[1])}` : ''}`;
}
