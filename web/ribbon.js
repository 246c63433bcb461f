// SPDX-License-Identifier: Apache-2.0
// The cause ribbon: a device's whole recording as one strip, each moment in the color of its cause.
// Step marks stand above it, the functions that held the device up below. A column stacks the shares of
// its time, so that the colours' areas are the report's parts; time outside of the steps that count is
// pale. A slider for the keyboard: arrows go from stretch to stretch, Page Up and Down to those of the
// same cause. The twin lists the stretches.

import { legend } from './bar.js';
import { add, announce, button, clear, cssVar, el, link, twin } from './dom.js';
import { fmtNs } from './format.js';
import { PARTS, partOf } from './parts.js';
import { goTo, hashOf } from './state.js';
import { readyCanvas, watchSize } from './strip.js';
import { dataTable, makeTable } from './table.js';

const MARKS_PX = 14;
const STRIP_PX = 44;
const FUNCTIONS_PX = 18;
const PALE = 0.3; // time that doesn't count
const BUCKETS_MOST = 2048;
const NUMBER_GAP_PX = 9; // from a step's number to the next
const HOLDER_CHARS = 60;
const HOLDER_SHARE = 0.15; // of all time that is held up: less is not written
const SEARCHED_PX = 5; // around a click, to find a listed stretch
const BUSY = new Set(PARTS.slice(0, 6).map((part) => part.id).filter((id) => id !== 'collective_wait'));

export function isBusyPart(id) {
    return BUSY.has(id);
}

/* What held the device up, as people know it: their function, else the event that fills the time. */
export function holderOf(segment) {
    const name = segment.function || (isBusyPart(segment.part) ? '' : segment.around || segment.name || '');
    return name.replace(/ of \w+ object at 0x[0-9a-f]+>$/, '>'); // "<built-in method conv2d>": its address says nothing
}

export function placeText(segment) {
    return segment.file ? `${segment.file.split('/').pop()}:${segment.line}` : '';
}

/* [{part, used, other}] of each bucket, in the report's order of the parts. */
export function bucketsOf(doc) {
    const buckets = new Map();
    for (const [bucket, part, used, other] of doc.cells) {
        buckets.has(bucket) || buckets.set(bucket, []);
        buckets.get(bucket).push({ part: doc.parts[part], used, other });
    }
    return buckets;
}

/* "GPU 0/1", as the device is called; threads and ranks keep their names. */
export function deviceText(id, name) {
    return /^\d/.test(id) ? `${kindOf(name)} ${id}` : id === 'host' ? 'training thread' : id;
}

function kindOf(name) {
    return /\bTPU\b/.test(name || '') ? 'TPU' : 'GPU';
}

/* The colors of parts; made again when the scheme changes. */
export function partColours() {
    return new Map(PARTS.map((part) => [part.id, cssVar(`--g-${part.group}`)]));
}

/* Draws the columns of a document between x0 and x1 of the time that `place` maps to pixels, as high as h. One
   color after another: to change it is what takes long. `pattern` marks what waits, as color alone doesn't tell. */
export function drawColumns(ctx, buckets, doc, place, top, h, colours, pattern) {
    const boxes = new Map(); // "part alpha" -> [x, y, w, high, …]
    for (const [bucket, cells] of buckets) {
        const from = place(doc.from_ns + bucket * doc.bucket_ns);
        const to = place(Math.min(doc.to_ns, doc.from_ns + (bucket + 1) * doc.bucket_ns));
        const x = Math.floor(from);
        const w = Math.max(1, Math.floor(to) - x); // whole pixels: no seams
        let y = top + h;
        for (const { part, used, other } of cells) {
            for (const [ns, alpha] of [[used, 1], [other, PALE]]) {
                const high = ns / doc.bucket_ns * h;
                y -= high;
                const key = `${part} ${alpha}`;
                high > 0 && (boxes.get(key) || boxes.set(key, []).get(key)).push(x, y, w, high);
            }
        }
    }
    for (const [key, list] of boxes) {
        const [part, alpha] = key.split(' ');
        ctx.globalAlpha = Number(alpha);
        for (const fill of [colours.get(part) || colours.get('idle_unknown'), partOf(part).pattern !== 'solid' && pattern]) {
            ctx.fillStyle = fill || 'transparent';
            for (let i = 0; fill && i < list.length; i += 4) {
                ctx.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
            }
        }
    }
    ctx.globalAlpha = 1;
}

/* Sums by part of what counts: what the colors cover. */
function sumsOf(doc) {
    const sums = {};
    for (const [, part, used] of doc.cells) {
        sums[doc.parts[part]] = (sums[doc.parts[part]] || 0) + used;
    }
    return sums;
}

function stepsOfDevice(report, device) {
    return (report.steps.list || []).filter((step) => (step.device ?? 'host') === device
        || (step.device === undefined && device.startsWith('rank ') && device === `rank ${step.rank}`));
}

/* The ribbon with its choice of devices; null without one. `start`: time of the stretch that is chosen. */
export async function ribbonBlock(api, report, { device, start, onFinding }) {
    const info = await api.info();
    let doc;
    const wanted = device || (report.breakdown.median_step || {}).device || undefined;
    try {
        doc = await api.ribbon(wanted, 0, (info.last_ns || 0) + 1, BUCKETS_MOST);
    } catch {
        return null; // no timeline, or no time that is explained
    }
    if (!doc.devices.length) {
        return null;
    }
    if (start && api.can('tiles') && !doc.segments.some((segment) => String(segment.start_ns) === start)) {
        const near = await api.ribbon(doc.device, Number(start), Number(start) + 1, 1); // too short for the list
        doc = { ...doc, segments: joined(doc.segments, near.segments) };
    }
    const place = el('div', { class: 'ribbon-place' });
    const show = (found, chosen) => add(clear(place), ribbonOf({ api, report, doc: found, onFinding }, chosen));
    const choose = doc.devices.length > 1 && el('select', { 'aria-label': 'Device', id: 'ribbon-device', onchange: async () =>
        show(await api.ribbon(choose.value, 0, info.last_ns + 1, BUCKETS_MOST)) },
    doc.devices.map(({ id, name }) => el('option', { value: id }, `${deviceText(id, name)}${name ? `, ${name}` : ''}`)));
    if (choose) {
        choose.value = doc.device;
    }
    show(doc, start);
    return el('section', { id: 'ribbon', class: 'card', 'aria-labelledby': 'ribbon-title' },
        el('div', { class: 'ribbon-head' }, el('h2', { id: 'ribbon-title' },
            doc.device === 'host' || doc.device.startsWith('rank') ? 'Every moment of the training thread, by cause' : `Every moment of the ${kindOf((doc.devices.find(({ id }) => id === doc.device) || {}).name)}, by cause`), choose), place);
}

function ribbonOf({ api, report, doc, onFinding }, start) {
    const sums = sumsOf(doc);
    const canvas = el('canvas', { class: 'ribbon-canvas', tabindex: '0', role: 'slider', 'aria-label': 'Stretches of time by cause',
        'aria-valuemin': 0, 'aria-valuemax': Math.max(0, doc.segments.length - 1) });
    canvas.dataset.sums = JSON.stringify(sums);
    canvas.dataset.device = doc.device;
    const detail = el('div', { class: 'ribbon-detail', id: 'ribbon-detail' });
    const ribbon = { api, report, doc, onFinding, canvas, detail, at: -1, segments: doc.segments, buckets: bucketsOf(doc),
        steps: stepsOfDevice(report, doc.device), colours: partColours() };
    listenRibbon(ribbon);
    watchSize(canvas, () => { ribbon.colours = partColours(); drawRibbon(ribbon); });
    chooseStretch(ribbon, firstOf(ribbon, start), false);
    const parts = PARTS.filter((part) => sums[part.id] > 0).map((part) => ({ id: part.id, ns: sums[part.id] }));
    const total = parts.reduce((sum, part) => sum + part.ns, 0);
    return twin('Ribbon', el('div', {}, canvas, detail, legend(parts, total)), () => segmentTable(ribbon));
}

/* The stretch to begin with: the one of the address, else the longest of what takes most time besides compute, in steps that count. */
function firstOf({ doc, segments, steps, report }, start) {
    const there = segments.findIndex((segment) => String(segment.start_ns) === String(start));
    if (there >= 0) {
        return there;
    }
    const left = new Set((report.steps.excluded || []).map((x) => x.step));
    const used = steps.filter((step) => !left.has(step.number));
    const [from, to] = used.length ? [used[0].start_ns, used[used.length - 1].start_ns + used[used.length - 1].dur_ns] : [-Infinity, Infinity];
    const sums = sumsOf(doc);
    const cause = Object.keys(sums).filter((part) => part !== 'compute').reduce((a, b) => (sums[b] > (sums[a] || 0) ? b : a), '');
    let best = -1;
    segments.forEach((segment, i) => {
        const counts = segment.part === cause && segment.start_ns >= from && segment.start_ns + segment.dur_ns <= to;
        best = counts && (best < 0 || segment.dur_ns > segments[best].dur_ns) ? i : best;
    });
    return best >= 0 ? best : 0;
}

/* The next stretch of the same part, or -1. */
function sameKind({ segments, at }, by) {
    for (let i = at + by; i >= 0 && i < segments.length; i += by) {
        if (segments[i].part === segments[at].part) {
            return i;
        }
    }
    return -1;
}

function chooseStretch(ribbon, index, tell) {
    const { segments, canvas } = ribbon;
    if (!segments.length) {
        return;
    }
    ribbon.at = Math.max(0, Math.min(segments.length - 1, index));
    const segment = segments[ribbon.at];
    const text = `${partOf(segment.part).label}, ${fmtNs(segment.dur_ns)} at ${fmtNs(segment.start_ns)}${holderOf(segment) ? `: ${holderOf(segment)} ${placeText(segment)}` : ''}`;
    canvas.setAttribute('aria-valuenow', ribbon.at);
    canvas.setAttribute('aria-valuetext', text);
    showDetail(ribbon, segment);
    drawRibbon(ribbon);
    tell && announce(text);
}

/* The finding about a part, whose fix is on the page. */
function findingOf(report, part) {
    return (report.findings || []).find((finding) =>
        (finding.evidence || []).some((e) => e.values && e.values.part === part));
}

function openSegment({ doc }, segment) {
    goTo('timeline', { t0: Math.round(segment.start_ns - segment.dur_ns * 0.4), t1: Math.round(segment.start_ns + segment.dur_ns * 1.4),
        sel: segment.event ?? '', back: `why?seg=${segment.start_ns}&device=${doc.device}` });
}

function showDetail(ribbon, segment) {
    const part = partOf(segment.part);
    const finding = findingOf(ribbon.report, segment.part);
    const holder = holderOf(segment);
    const go = (by, text) => {
        const to = sameKind(ribbon, by);
        return button(text, () => { chooseStretch(ribbon, sameKind(ribbon, by), true); ribbon.detail.querySelector(by < 0 ? '.before' : '.after').focus(); },
            { class: `quiet ${by < 0 ? 'before' : 'after'}`, disabled: to < 0, 'aria-label': `${by < 0 ? 'Previous' : 'Next'} stretch of ${part.label}` });
    };
    add(clear(ribbon.detail), el('p', { class: 'ribbon-cause' },
        el('span', { class: `swatch g-${part.group} p-${part.pattern}`, 'aria-hidden': 'true' }), ' ', el('b', {}, part.label), ' ',
        el('b', {}, fmtNs(segment.dur_ns)), ` at ${fmtNs(segment.start_ns)}`,
        holder && [': ', el('span', { class: 'mono', id: 'ribbon-holder', title: holder }, holder.length > HOLDER_CHARS ? `${holder.slice(0, HOLDER_CHARS)}…` : holder), ' ', el('span', { class: 'mono muted' }, placeText(segment))],
        segment.function && segment.name && !segment.name.includes(segment.function) && el('span', { class: 'muted' }, ` in ${segment.name}`)),
    el('p', { class: 'ribbon-actions' }, go(-1, '◀'), go(1, '▶'),
        button('Show it', () => openSegment(ribbon, segment), { id: 'ribbon-show' }),
        finding && link(finding.title, hashOf('why', {}), { class: 'quiet-link', onclick: (event) => {
            event.preventDefault();
            ribbon.onFinding(finding.id);
        } }), el('span', { class: 'muted' }, part.meaning)));
}

function xOf(ribbon, t) {
    return (t - ribbon.doc.from_ns) / (ribbon.doc.to_ns - ribbon.doc.from_ns) * ribbon.width;
}

/* The listed stretch under a pixel: the longest of those that reach into it, or the nearest. */
async function pick(ribbon, x) {
    const { doc, segments } = ribbon;
    const time = (px) => doc.from_ns + px / ribbon.width * (doc.to_ns - doc.from_ns);
    const [from, to] = [time(x - 0.5), time(x + 0.5)];
    let best = -1;
    segments.forEach((segment, i) => {
        const away = segment.start_ns > to ? segment.start_ns - to : Math.max(0, from - segment.start_ns - segment.dur_ns);
        const near = best < 0 ? Infinity : segments[best].away;
        segment.away = away;
        best = away < near || (away === near && segment.dur_ns > segments[best].dur_ns) ? i : best;
    });
    if (best >= 0 && segments[best].away <= 0) {
        return best;
    }
    return await fetchNear(ribbon, time(x - SEARCHED_PX), time(x + SEARCHED_PX), (from + to) / 2) ?? best;
}

function joined(segments, more) {
    const known = new Set(segments.map((segment) => segment.start_ns));
    return [...segments, ...more.filter((segment) => !known.has(segment.start_ns))].sort((a, b) => a.start_ns - b.start_ns);
}

/* Stretches too short for the list: asked for around the place. They join the list. */
async function fetchNear(ribbon, from, to, middle) {
    if (!ribbon.api.can('tiles')) {
        return undefined;
    }
    const near = await ribbon.api.ribbon(ribbon.doc.device, Math.floor(from), Math.ceil(to), 1);
    ribbon.segments = joined(ribbon.segments, near.segments);
    ribbon.canvas.setAttribute('aria-valuemax', ribbon.segments.length - 1);
    const found = ribbon.segments.findIndex((segment) => segment.start_ns <= middle && middle <= segment.start_ns + segment.dur_ns);
    return found >= 0 ? found : undefined;
}

function listenRibbon(ribbon) {
    const { canvas } = ribbon;
    canvas.addEventListener('click', async (event) => {
        const index = await pick(ribbon, event.clientX - canvas.getBoundingClientRect().left);
        chooseStretch(ribbon, index, true);
    });
    canvas.addEventListener('keydown', (event) => {
        const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
        const kinds = { PageUp: -1, PageDown: 1 };
        if (event.code in moves) {
            chooseStretch(ribbon, ribbon.at + moves[event.code], false);
        } else if (event.code in kinds) {
            const to = sameKind(ribbon, kinds[event.code]);
            to >= 0 ? chooseStretch(ribbon, to, false) : announce('no more of this cause');
        } else if (event.code === 'Home' || event.code === 'End') {
            chooseStretch(ribbon, event.code === 'Home' ? 0 : ribbon.segments.length - 1, false);
        } else if (event.key === 'Enter' || event.code === 'Space') {
            openSegment(ribbon, ribbon.segments[ribbon.at]);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    });
}

function drawRibbon(ribbon) {
    const ready = readyCanvas(ribbon.canvas, MARKS_PX + STRIP_PX + FUNCTIONS_PX);
    if (!ready) {
        return;
    }
    const { ctx } = ready;
    ribbon.width = ready.width;
    ctx.font = '11px system-ui, sans-serif';
    ctx.fillStyle = cssVar('--page');
    ctx.fillRect(0, MARKS_PX, ready.width, STRIP_PX);
    drawColumns(ctx, ribbon.buckets, ribbon.doc, (t) => xOf(ribbon, t), MARKS_PX, STRIP_PX, ribbon.colours, hatch(ctx));
    drawMarks(ribbon, ctx);
    drawFunctions(ribbon, ctx);
    const segment = ribbon.segments[ribbon.at];
    if (segment) {
        const x = xOf(ribbon, segment.start_ns);
        ctx.strokeStyle = cssVar('--text');
        ctx.lineWidth = 2;
        ctx.strokeRect(x - 1, MARKS_PX - 1, Math.max(4, xOf(ribbon, segment.start_ns + segment.dur_ns) - x + 2), STRIP_PX + 2);
    }
}

/* Diagonal lines for what waits. */
export function hatch(ctx) {
    const tile = el('canvas', { width: 8, height: 8 });
    const line = tile.getContext('2d');
    line.strokeStyle = cssVar('--pattern');
    line.lineWidth = 2;
    line.beginPath();
    for (const shift of [-8, 0, 8]) {
        line.moveTo(shift, 8);
        line.lineTo(shift + 8, 0);
    }
    line.stroke();
    return ctx.createPattern(tile, 'repeat');
}

/* Where steps begin; every step, or every 2nd, 5th, 10th, … has its number, as they fit. Those that don't count are pale. */
function drawMarks(ribbon, ctx) {
    const { steps } = ribbon;
    const excluded = new Set((ribbon.report.steps.excluded || []).map((x) => x.step));
    const widths = steps.map((step) => xOf(ribbon, step.start_ns + step.dur_ns) - xOf(ribbon, step.start_ns)).sort((a, b) => a - b);
    const widest = steps.reduce((most, step) => Math.max(most, ctx.measureText(`${step.number}`).width), 0) + NUMBER_GAP_PX;
    const every = niceStep(widest / (widths[widths.length >> 1] || widest));
    let last = -Infinity;
    let free = -Infinity;
    for (const step of steps) {
        const x = xOf(ribbon, step.start_ns);
        if (x - last >= 3) {
            last = x;
            ctx.fillStyle = cssVar(excluded.has(step.number) ? '--line' : '--edge');
            ctx.fillRect(Math.round(x), 2, 1, MARKS_PX + 2);
        }
        if (step.number % every === 0 && x >= free && x + widest <= ribbon.width) {
            ctx.fillStyle = cssVar('--muted');
            ctx.fillText(`${step.number}`, x + 3, 10);
            free = x + widest;
        }
    }
}

/* The least of 1, 2, 5, 10, 20, … that is not below `least`. */
function niceStep(least) {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least) || 1;
}

/* What stands under the strip: holders that have much of the time, once for neighbors of the same name. */
function functionSpans(segments) {
    const held = segments.filter((segment) => !isBusyPart(segment.part) && holderOf(segment));
    const sums = new Map();
    held.forEach((segment) => sums.set(holderOf(segment), (sums.get(holderOf(segment)) || 0) + segment.dur_ns));
    const total = [...sums.values()].reduce((sum, ns) => sum + ns, 0);
    const spans = [];
    for (const segment of held) {
        const text = holderOf(segment);
        const last = spans[spans.length - 1];
        if (sums.get(text) < HOLDER_SHARE * total) {
            continue;
        }
        if (last && last.text === text) {
            last.to = segment.start_ns + segment.dur_ns;
        } else {
            spans.push({ text, place: placeText(segment), from: segment.start_ns, to: segment.start_ns + segment.dur_ns });
        }
    }
    return spans;
}

function drawFunctions(ribbon, ctx) {
    const y = MARKS_PX + STRIP_PX;
    let free = 0;
    for (const span of functionSpans(ribbon.segments)) {
        const [x0, x1] = [xOf(ribbon, span.from), xOf(ribbon, span.to)];
        const text = [`${span.text} ${span.place}`, span.text].find((words) => ctx.measureText(words).width < x1 - x0);
        const at = text && Math.max(x0, (x0 + x1 - ctx.measureText(text).width) / 2);
        if (text && at >= free) {
            ctx.fillStyle = cssVar('--edge');
            ctx.fillRect(x0, y + 3, x1 - x0, 1);
            ctx.fillStyle = cssVar('--muted');
            ctx.fillText(text, at, y + 15);
            free = at + ctx.measureText(text).width + 8;
        }
    }
}

function segmentTable(ribbon) {
    const columns = [['cause', 'text'], ['start_ns', 'ns'], ['dur_ns', 'ns'], ['function', 'text'], ['place', 'text'], ['event', 'text']];
    const rows = ribbon.segments.map((segment) => [partOf(segment.part).label, segment.start_ns, segment.dur_ns,
        segment.function || null, placeText(segment) || null, segment.name || null]);
    const byRow = new Map(rows.map((row, i) => [row, ribbon.segments[i]]));
    const table = makeTable('ribbon', 'Stretches by cause', columns, rows);
    table.rows_left_out = ribbon.doc.segments_left_out;
    return dataTable(table, { sortBy: 'dur_ns', rowTitle: 'Show in the timeline', onRow: (row) => openSegment(ribbon, byRow.get(row)) });
}
