// SPDX-License-Identifier: Apache-2.0
// The step strip: one bar a step, its height the step's time, its dark part what computes; steps that
// do not count are hollow, long ones are marked above. A slider for the keyboard: arrows move, Enter
// opens the step in the timeline. With more steps than pixels a column shows the longest of its steps.

import { announce, cssVar, el, twin } from './dom.js';
import { fmtNs, fmtShare } from './format.js';
import { partsFromObject, partOf } from './parts.js';
import { dataTable, makeTable } from './table.js';

const HEIGHT = 72;
const WIDEST = 108; // pixels of a step's bar
const LONG_TIMES = 1.5; // of the median: marked as long

export function stepStrip(steps, device, onOpen) {
    const list = steps.list.filter((step) => step.device === device);
    if (!list.length) {
        return null;
    }
    const excluded = new Set((steps.excluded || []).map((x) => x.step));
    const canvas = el('canvas', { class: 'strip', tabindex: '0', role: 'slider', 'aria-label': 'Steps',
        'aria-valuemin': list[0].number, 'aria-valuemax': list[list.length - 1].number });
    const hint = el('p', { class: 'muted strip-hint' });
    const strip = { list, excluded, canvas, hint, at: 0, median: steps.median_ns, onOpen, own: false };
    const slow = list.indexOf(list.reduce((a, b) => (b.dur_ns > a.dur_ns ? b : a)));
    listen(strip);
    choose(strip, slow, false);
    const picture = el('div', {}, canvas, hint);
    watchSize(canvas, () => draw(strip));
    return twin('Steps', picture, () => stepTable(list, excluded, onOpen));
}

export function watchSize(canvas, redraw) {
    new ResizeObserver(redraw).observe(canvas);
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
        matchMedia(query).addEventListener('change', redraw);
    }
}

function describe(strip, step) {
    const parts = partsFromObject(step.parts || {}, step.dur_ns).sort((a, b) => b.ns - a.ns).slice(0, 2)
        .map((part) => `${partOf(part.id).label} ${fmtShare(part.share)}`).join(', ');
    const mark = strip.excluded.has(step.number) ? ', not counted'
        : step.dur_ns > LONG_TIMES * strip.median ? ', long' : '';
    return `step ${step.number}: ${fmtNs(step.dur_ns)}${mark}${parts ? ' (' + parts + ')' : ''}`;
}

function choose(strip, index, tell) {
    strip.at = Math.max(0, Math.min(strip.list.length - 1, index));
    const step = strip.list[strip.at];
    const text = describe(strip, step);
    strip.canvas.setAttribute('aria-valuenow', step.number);
    strip.canvas.setAttribute('aria-valuetext', text);
    strip.hint.textContent = text + (tell ? '. Press Enter or click to open it in the timeline.'
        : ' is the longest. Choose a step to open it.');
    draw(strip);
}

function listen(strip) {
    const { canvas, list } = strip;
    const indexAt = (event) => {
        const box = canvas.getBoundingClientRect();
        return Math.floor((event.clientX - box.left) / (strip.width || box.width) * list.length);
    };
    canvas.addEventListener('mousemove', (event) => choose(strip, indexAt(event), true));
    canvas.addEventListener('click', (event) => { choose(strip, indexAt(event), true); strip.onOpen(list[strip.at]); });
    canvas.addEventListener('keydown', (event) => {
        const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 };
        if (event.code in moves) {
            choose(strip, strip.at + moves[event.code], true);
        } else if (event.code === 'Home' || event.code === 'End') {
            choose(strip, event.code === 'Home' ? 0 : list.length - 1, true);
        } else if (event.key === 'Enter' || event.code === 'Space') {
            announce('opening the step in the timeline');
            strip.onOpen(list[strip.at]);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    });
}

/* Sets the canvas to its size on screen and clears it; null while it is not shown. */
export function readyCanvas(canvas, height) {
    const width = canvas.clientWidth;
    if (!width) {
        return null;
    }
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + 'px';
    const ctx = canvas.getContext('2d');
    ctx.scale(ratio, ratio);
    return { ctx, width };
}

function draw(strip) {
    const ready = readyCanvas(strip.canvas, HEIGHT);
    if (!ready) {
        return;
    }
    const { list } = strip;
    const { ctx } = ready;
    const width = Math.min(ready.width, list.length * WIDEST);
    strip.width = width;
    const highest = list.reduce((max, step) => Math.max(max, step.dur_ns), 1);
    const columns = Math.min(list.length, Math.floor(width / 3));
    const gap = width / columns > 5 ? 2 : width / columns > 3 ? 1 : 0;
    for (let column = 0; column < columns; column++) {
        const from = Math.floor(column * list.length / columns);
        const to = Math.max(from + 1, Math.floor((column + 1) * list.length / columns));
        let step = list[from];
        for (let i = from + 1; i < to; i++) {
            step = list[i].dur_ns > step.dur_ns ? list[i] : step;
        }
        drawStep(ctx, strip, step, column * width / columns, width / columns - gap, highest);
        if (strip.at >= from && strip.at < to) {
            ctx.strokeStyle = cssVar('--focus');
            ctx.lineWidth = 2;
            ctx.strokeRect(column * width / columns, 1, Math.max(4, width / columns - gap), HEIGHT - 2);
        }
    }
    const y = HEIGHT - 4 - (HEIGHT - 16) * strip.median / highest;
    ctx.strokeStyle = cssVar('--text');
    ctx.setLineDash([4, 3]);
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(0, y);
    ctx.lineTo(width, y);
    ctx.stroke();
    ctx.setLineDash([]);
}

function drawStep(ctx, strip, step, x, w, highest) {
    const room = HEIGHT - 16;
    const h = Math.max(2, room * step.dur_ns / highest);
    const y = HEIGHT - 4 - h;
    const computes = Math.min(1, ((step.parts && step.parts.compute) || 0) / (step.dur_ns || 1));
    if (strip.excluded.has(step.number)) {
        ctx.strokeStyle = cssVar('--muted');
        ctx.lineWidth = 1;
        ctx.strokeRect(x + 0.5, y + 0.5, Math.max(1, w - 1), h - 1);
        return;
    }
    ctx.fillStyle = cssVar('--wait');
    ctx.fillRect(x, y, Math.max(1, w), Math.max(0, h * (1 - computes) - (computes > 0 ? 1.5 : 0)));
    ctx.fillStyle = cssVar('--g-compute');
    ctx.fillRect(x, y + h * (1 - computes), Math.max(1, w), h * computes);
    if (step.dur_ns > LONG_TIMES * strip.median) {
        ctx.fillStyle = cssVar('--text');
        ctx.beginPath();
        ctx.moveTo(x + w / 2, y - 2);
        ctx.lineTo(x + w / 2 - 4, y - 9);
        ctx.lineTo(x + w / 2 + 4, y - 9);
        ctx.fill();
    }
}

function stepTable(list, excluded, onOpen) {
    const rows = list.map((step) => [step.number, step.dur_ns, step.start_ns, !excluded.has(step.number),
        ((step.parts && step.parts.compute) || 0) / (step.dur_ns || 1)]);
    const columns = [['step', 'count'], ['dur_ns', 'ns'], ['start_ns', 'ns'], ['counted', 'bool'],
        ['compute_share', 'share']];
    return dataTable(makeTable('steps', 'Steps', columns, rows), { rowTitle: 'Open in the timeline',
        onRow: (row) => onOpen(list.find((step) => step.number === row[0])) });
}
