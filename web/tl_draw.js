// SPDX-License-Identifier: Apache-2.0
// Draws the timeline on its canvas: ruler, tracks with their events, counters, steps, the area and the
// event that are selected, arrows from launch to kernel. Boxes are pixels of strips (tl_strips.js); text
// is drawn where it fits. Returns counts of what the view merged, and which parts of tiles it shows.

import { cssVar } from './dom.js';
import { fmtCount, fmtNs, fmtNumber, fmtTick } from './format.js';
import { partOf } from './parts.js';
import { drawGapsBehind, drawRibbonRow } from './tl_ribbon.js';
import { ROW_PX } from './tl_rows.js';
import { cssOfWord, pixelOf, pixelOver } from './tl_strips.js';
import { fitText } from './tl_text.js';
import { OUTLIER } from './tl_tile.js';
import { tickStep } from './tl_view.js';

export const RULER_PX = 26;
const FONT = '11px system-ui, sans-serif';

/* Kinds as the index numbers them (docs/view.md), with their color. */
export const KINDS = ['other', 'host_op', 'runtime', 'kernel', 'memcpy', 'memset', 'sync', 'annotation', 'python',
    'collective', 'input', 'memory', 'step', 'finding', 'forward', 'loss', 'backward', 'optimizer'];
const KIND_COLOURS = ['unknown', 'cold', 'host', 'compute', 'transfer', 'transfer', 'sync', 'unknown', 'unknown',
    'comm', 'input', 'unknown', 'cold', 'input', 'transfer', 'unknown', 'cold', 'comm'];

/* What the colors of kinds say, for the legend: [group, words, kinds]. */
export const KIND_WORDS = [['compute', 'kernel', ['kernel']], ['transfer', 'copy', ['memcpy', 'memset']], ['comm', 'collective', ['collective']],
    ['cold', 'operation', ['host_op']], ['host', 'runtime call', ['runtime']], ['sync', 'wait for the device', ['sync']],
    ['input', 'input', ['input']], ['unknown', 'Python, other', ['python', 'annotation', 'memory', 'other']]];
const SHADES = 3; // of each color, by name, so that neighbors differ
const SHADE = 0.09; // how much paler each is
const TEXT_FROM_PX = 26; // boxes as wide as this have room for a name
const SHORT_TEXT_FROM_PX = 16; // those with a short name: a step's number
const QUICK_TEXT_FROM_PX = 70; // while the view moves: names are what takes longest to draw

/* The colors of the current scheme; rebuilt when it changes. `words`: of boxes, by kind and shade. */
export function makePalette() {
    const fills = new Map();
    for (const group of new Set(KIND_COLOURS)) {
        fills.set(group, cssVar(`--g-${group}`));
    }
    const card = cssVar('--card');
    const words = Uint32Array.from({ length: KIND_COLOURS.length * SHADES }, (_, i) =>
        pixelOver(fills.get(KIND_COLOURS[Math.floor(i / SHADES)]), card, 1 - i % SHADES * SHADE));
    return { fills, words, card, patternWord: pixelOf(cssVar('--pattern')), textWord: pixelOf(cssVar('--text')),
        text: cssVar('--text'), muted: cssVar('--muted'), line: cssVar('--line'), page: cssVar('--page'),
        onPiece: cssVar('--on-piece'), select: cssVar('--select'), focus: cssVar('--focus'), bad: cssVar('--bad') };
}

/* The color of a kind, one of its shades by the name. */
export function shadeOf(palette, kind, name) {
    let sum = 0;
    for (let i = 0; i < name.length; i++) {
        sum = (sum * 31 + name.charCodeAt(i)) % 997;
    }
    return cssOfWord(palette.words[kind * SHADES + sum % SHADES]);
}

export function drawTimeline(scene) {
    const { ctx, width, height, palette } = scene;
    ctx.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
    ctx.fillStyle = palette.card;
    ctx.fillRect(0, 0, width, height);
    const batch = { texts: [], merged: 0, events: 0, hits: [], rough: false, parts: [], counters: [] };
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, RULER_PX, width, height - RULER_PX);
    ctx.clip();
    drawStepLines(scene);
    scene.strips.begin(width, scene.ratio);
    for (const line of scene.rows.lines) {
        const y = line.y - scene.scroll + RULER_PX;
        if (y > height || y + line.h < RULER_PX) {
            continue;
        }
        const draw = line.type === 'group' ? drawGroupLine : line.track.ribbon ? drawRibbonTrack : drawTrack;
        draw(scene, line, y, batch);
    }
    scene.strips.paint(ctx);
    drawHits(scene, batch.hits);
    drawTexts(scene, batch.texts);
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

function drawTrackLine({ ctx, palette, width, current }, line, y) {
    if (line.track.id === current) {
        ctx.fillStyle = palette.select;
        ctx.fillRect(0, y, 3, line.h);
    }
    ctx.fillStyle = palette.line;
    ctx.fillRect(0, y + line.h - 1, width, 1);
}

function drawRibbonTrack(scene, line, y) {
    drawTrackLine(scene, line, y);
    scene.ctx.font = FONT;
    drawRibbonRow(scene, line.track, y);
}

function drawTrack(scene, line, y, batch) {
    const { view } = scene;
    const { track } = line;
    drawTrackLine(scene, line, y);
    if (track.group === 'device') {
        drawGapsBehind(scene, track.device, y + 2, ROW_PX - 2);
    }
    const boxes = track.own ? [{ tile: track.own, from: -Infinity, to: Infinity }]
        : scene.data.cover(track.id, scene.level, view.t0, view.t1);
    const shown = scene.rows.rowsOf(track);
    const isCounter = track.group === 'counter';
    const first = isCounter ? 0 : scene.strips.rows.length;
    for (let row = 0; row < shown && !isCounter; row++) {
        scene.strips.row(y + 2 + row * ROW_PX, ROW_PX - 2);
    }
    batch.rough = batch.rough || boxes.some((box) => box.rough);
    if (isCounter) {
        batch.counters.push({ track, boxes });
        drawCounter(scene, boxes, y, line.h);
        return;
    }
    let end = -Infinity;
    for (const box of boxes) {
        const part = { ...box, track, shown, skip: scene.rows.skipOf(track), first, y, joined: box.from === end, t0: view.t0, t1: view.t1 };
        end = box.to;
        drawBoxes(scene, part, batch);
        batch.parts.push(part);
    }
}

/* The first of the page's own items that may reach into the view: they are sorted by start. */
function firstOwn(tile, t0) {
    let low = 0;
    let high = tile.n;
    while (low < high) {
        const middle = (low + high) >> 1;
        tile.start(middle) < t0 - tile.longest ? low = middle + 1 : high = middle;
    }
    return low;
}

/* Whether an event of a part is in sight. The previous tile, if loaded, draws what began before the part. */
function isIn(part, start, end, row) {
    return row >= part.skip && row - part.skip < part.shown && start < part.to && start <= part.t1 && end >= part.t0
        && (start >= part.from || (!part.joined && end >= part.from));
}

/* Calls visit(track, tile, i) for each event in sight. */
export function eachInSight(batch, visit) {
    for (const part of batch.parts) {
        const { tile } = part;
        for (let i = 0; i < tile.n; i++) {
            const start = tile.start(i);
            isIn(part, start, start + tile.dur(i), tile.rows[i]) && visit(part.track, tile, i);
        }
    }
}

function drawBoxes(scene, part, batch) {
    const { view, width, strips, palette, hits } = scene;
    const { tile, track } = part;
    const scale = 1 / view.nsPerPx;
    const textFrom = scene.quick ? QUICK_TEXT_FROM_PX : TEXT_FROM_PX;
    const shortFrom = scene.quick || !tile.shorts ? textFrom : SHORT_TEXT_FROM_PX;
    const filled = track.own ? new Int32Array(track.rows).fill(-9) : null; // of each row the last pixel drawn
    for (let i = track.own ? firstOwn(tile, view.t0) : 0; i < tile.n; i++) {
        const start = tile.start(i);
        const end = start + tile.dur(i);
        const row = tile.rows[i];
        if (filled && start > view.t1) {
            break;
        }
        if (!isIn(part, start, end, row)) {
            continue;
        }
        const x0 = Math.max((start - view.t0) * scale, -2);
        const x1 = Math.max(x0 + 1, Math.min((end - view.t0) * scale, width + 2));
        if (filled) {
            if (Math.floor(x1) === filled[row]) { // the server merges what is its own; this is the page's
                batch.merged++;
                continue;
            }
            filled[row] = Math.floor(x1);
        }
        const line = part.first + row - part.skip;
        strips.box(line, x0, x1, palette.words[tile.kinds[i] * SHADES + tile.names[i] % SHADES]);
        batch.events++;
        if (tile.counts[i] > 1) {
            batch.merged += tile.counts[i] - 1;
            x1 - x0 > 2 && strips.merged(line, x0, x1, palette.patternWord);
        }
        tile.flags[i] & OUTLIER && strips.standsOut(line, x0, x1, palette.textWord);
        const from = tile.shorts && tile.shorts[i] ? shortFrom : textFrom;
        if (x1 - x0 > from || (hits && hits.has(tile.id(i)))) {
            addText(batch, tile, i, [x0, part.y + 2 + (row - part.skip) * ROW_PX, x1 - x0], hits, from);
        }
    }
}

function addText(batch, tile, i, [x, top, w], hits, textFrom) {
    hits && hits.has(tile.id(i)) && batch.hits.push([x, top, w]);
    w > textFrom && batch.texts.push([tile, i, x, top, w]);
}

function drawHits({ ctx, palette }, hits) {
    ctx.strokeStyle = palette.text;
    ctx.lineWidth = 2;
    hits.forEach(([x, y, w]) => ctx.strokeRect(x, y, Math.max(3, w - 1), ROW_PX - 2));
}

function drawTexts(scene, texts) {
    const { ctx, palette } = scene;
    ctx.font = FONT;
    ctx.fillStyle = palette.onPiece;
    for (const [tile, i, x, y, w] of texts) {
        const room = Math.min(x + w, scene.width) - Math.max(x, 0) - 8;
        const name = tile.texts ? tile.texts[i] : scene.data.name(tile.names[i]);
        const whole = (tile.counts[i] > 1 ? `×${fmtCount(tile.counts[i])} ` : '') + name;
        const short = tile.shorts && tile.shorts[i];
        let text = fitText(ctx, whole, room);
        text = short && text !== whole ? fitText(ctx, short, room) : text;
        text && ctx.fillText(text, Math.max(x, 0) + 4, y + ROW_PX - 6);
    }
    for (const [text, x, y] of scene.texts) { // of the ribbons
        ctx.fillText(text, x, y);
    }
}

/* Values of a counter as steps, scaled to the largest in sight, which is written next to them. */
function drawCounter(scene, boxes, y, h) {
    const { ctx, palette, view, width } = scene;
    let top = 0;
    eachValue(boxes, view.last, (start, end, value) => { top = start <= view.t1 && end >= view.t0 ? Math.max(top, value) : top; });
    ctx.fillStyle = palette.fills.get('cold');
    ctx.globalAlpha = 0.75;
    eachValue(boxes, view.last, (start, end, value) => {
        const x0 = Math.max(0, view.x(start));
        const x1 = Math.min(width, view.x(end));
        if (x1 >= 0 && x0 <= width) {
            const high = top > 0 ? value / top * (h - 18) : 0;
            ctx.fillRect(x0, y + h - 2 - high, Math.max(1, x1 - x0), Math.max(1, high));
        }
    });
    ctx.globalAlpha = 1;
    ctx.font = FONT;
    ctx.fillStyle = palette.muted;
    ctx.fillText(`0 to ${fmtNumber(top)}`, 4, y + 11);
}

/* Calls visit(start, end, value): a value holds until the next one. */
function eachValue(boxes, last, visit) {
    for (const { tile, from, to } of boxes) {
        for (let i = 0; i < tile.n; i++) {
            const start = Math.max(tile.start(i), from);
            const end = i + 1 < tile.n ? tile.start(i + 1) : Math.min(to, last);
            end >= from && start <= to && visit(start, end, tile.dur(i));
        }
    }
}

/* The value of a counter in sight at a time; undefined: none is known there. */
export function counterAt(batch, trackId, t, last) {
    let found;
    for (const { track, boxes } of batch.counters) {
        track.id === trackId && eachValue(boxes, last, (start, end, value) => { found = t >= start && t < end ? value : found; });
    }
    return found;
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
    const place = scene.selected && !scene.selected.segment && placeOf(scene, scene.selected);
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
    const row = Math.max(0, Math.min((event.row || 0) - scene.rows.skipOf(line.track), scene.rows.rowsOf(line.track) - 1));
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

export function stepText(step) {
    const largest = Object.entries(step.parts || {}).filter(([id]) => id !== 'compute').sort((a, b) => b[1] - a[1])[0];
    return `step ${step.number}: ${fmtNs(step.dur_ns)}${largest && largest[1] > 0 ? `, ${partOf(largest[0]).label} ${fmtNs(largest[1])}` : ''}`;
}
