// SPDX-License-Identifier: Apache-2.0
// Charts of the analyses: horizontal bars (elements of the page) and lines over time (canvas, with a
// cursor that the pointer and the arrow keys move). Each is made with a table twin by who calls it.

import { add, clear, cssVar, el } from './dom.js';
import { fmtTick } from './format.js';
import { readyCanvas, watchSize } from './strip.js';
import { tickStep } from './tl_view.js';

const LINE_HEIGHT = 180;
const LINES_MOST = 24; // of a chart
const LINE_COLOURS = ['--g-compute', '--g-comm', '--g-input', '--g-transfer', '--g-sync', '--g-cold'];
const LINE_DASHES = [[], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3]];

/* items: [{label, value, text, note}], longest first; widths to scale with the largest. */
export function barChart(label, items, { group = 'compute' } = {}) {
    const largest = items.reduce((max, item) => Math.max(max, item.value), 0) || 1;
    return el('ul', { class: 'bars', 'aria-label': label }, items.map((item) => {
        const fill = el('span', { class: `bars-fill g-${item.group || group}`, 'aria-hidden': 'true' });
        fill.style.width = `${Math.max(0.3, item.value / largest * 100)}%`;
        return el('li', {}, el('span', { class: 'bars-label', title: item.label }, item.label),
            el('span', { class: 'bars-track' }, fill), el('span', { class: 'bars-value' }, item.text));
    }));
}

/* series: [{name, points: [[t, v], …]}] sorted by time; values hold until the next point. `under(places)`, where
   it is given, makes what stands under the chart, of the point of each series at the cursor: [{name, t, value}]. */
export function lineChart(label, series, format, under) {
    const canvas = el('canvas', { class: 'chart', tabindex: '0', role: 'slider', 'aria-label': `${label}: cursor`,
        'aria-valuemin': 0, 'aria-valuemax': 100 });
    const readout = el('p', { class: 'muted chart-readout' });
    const first = Math.min(...series.map((s) => s.points[0][0]));
    const last = Math.max(...series.map((s) => s.points[s.points.length - 1][0]));
    const below = el('div', { class: 'chart-below' });
    const chart = { canvas, readout, below, under, series, format, first, last: Math.max(last, first + 1), cursor: 0,
        top: Math.max(...series.flatMap((s) => s.points.map((p) => p[1])), 1) };
    const move = (share) => {
        chart.cursor = Math.min(1, Math.max(0, share));
        canvas.setAttribute('aria-valuenow', Math.round(chart.cursor * 100));
        tellCursor(chart);
        drawLines(chart);
    };
    canvas.addEventListener('mousemove', (event) => {
        const box = canvas.getBoundingClientRect();
        move((event.clientX - box.left) / box.width);
    });
    canvas.addEventListener('keydown', (event) => {
        const step = { ArrowLeft: -0.01, ArrowRight: 0.01, PageDown: -0.1, PageUp: 0.1, Home: -1, End: 1 }[event.code];
        if (step) {
            move(chart.cursor + step);
            event.preventDefault();
        }
    });
    const peak = series.flatMap((s) => s.points).reduce((a, b) => (b[1] > a[1] ? b : a));
    move((peak[0] - chart.first) / (chart.last - chart.first));
    watchSize(canvas, () => drawLines(chart));
    return el('div', {}, canvas, series.length > 1 && lineLegend(series), readout, under && below);
}

/* Which line is which: its color, and its dashes. */
function lineLegend(series) {
    return el('ul', { class: 'legend', 'aria-label': 'Lines' }, series.slice(0, LINES_MOST).map((s, i) => {
        const sample = el('canvas', { class: 'line-sample', width: 32, height: 8, 'aria-hidden': 'true' });
        const paint = () => {
            const ctx = sample.getContext('2d');
            ctx.clearRect(0, 0, 32, 8);
            ctx.strokeStyle = cssVar(LINE_COLOURS[i % LINE_COLOURS.length]);
            ctx.setLineDash(LINE_DASHES[i % LINE_DASHES.length]);
            ctx.lineWidth = 3;
            ctx.beginPath();
            ctx.moveTo(0, 4);
            ctx.lineTo(32, 4);
            ctx.stroke();
        };
        watchSize(sample, paint);
        return el('li', {}, sample, ` ${s.name}`);
    }));
}

/* The last point at or before t, or undefined. */
function pointAt(points, t) {
    let low = 0;
    let high = points.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        points[middle][0] <= t ? low = middle + 1 : high = middle;
    }
    return low ? points[low - 1] : undefined;
}

function tellCursor(chart) {
    const t = chart.first + chart.cursor * (chart.last - chart.first);
    const step = (chart.last - chart.first) / 500;
    const places = chart.series.map(({ name, points }) => ({ name, point: pointAt(points, t) }));
    const text = `at ${fmtTick(t, step)}: `
        + places.map(({ name, point }) => `${name} ${chart.format(point && point[1])}`).join(', ');
    const key = places.map(({ point }) => point && point[0]).join();
    if (chart.under && key !== chart.key) {
        chart.key = key;
        add(clear(chart.below), chart.under(places.filter(({ point }) => point).map(({ name, point }) =>
            ({ name, t: point[0], value: point[1] }))));
    }
    chart.readout.textContent = text;
    chart.canvas.setAttribute('aria-valuetext', text);
}

function drawLines(chart) {
    const ready = readyCanvas(chart.canvas, LINE_HEIGHT);
    if (!ready) {
        return;
    }
    const { ctx, width } = ready;
    const bottom = LINE_HEIGHT - 20;
    const x = (t) => (t - chart.first) / (chart.last - chart.first) * width;
    const y = (v) => bottom - v / chart.top * (bottom - 16);
    ctx.font = '12px system-ui, sans-serif';
    drawAxis(chart, ctx, width, bottom, x);
    chart.series.slice(0, LINES_MOST).forEach((s, i) => {
        ctx.strokeStyle = cssVar(LINE_COLOURS[i % LINE_COLOURS.length]);
        ctx.setLineDash(LINE_DASHES[i % LINE_DASHES.length]);
        ctx.lineWidth = 2;
        ctx.beginPath();
        s.points.forEach(([t, v], at) => {
            if (at) {
                ctx.lineTo(x(t), y(s.points[at - 1][1]));
            }
            ctx.lineTo(x(t), y(v));
        });
        ctx.lineTo(width, y(s.points[s.points.length - 1][1]));
        ctx.stroke();
    });
    ctx.setLineDash([]);
    ctx.strokeStyle = cssVar('--text');
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(chart.cursor * width, 0);
    ctx.lineTo(chart.cursor * width, bottom);
    ctx.stroke();
}

function drawAxis(chart, ctx, width, bottom, x) {
    ctx.fillStyle = cssVar('--muted');
    ctx.strokeStyle = cssVar('--line');
    ctx.lineWidth = 1;
    const step = tickStep((chart.last - chart.first) / width);
    for (let t = Math.ceil(chart.first / step) * step; t <= chart.last; t += step) {
        ctx.fillText(fmtTick(t, step), Math.min(x(t) + 3, width - 60), LINE_HEIGHT - 5);
        ctx.strokeRect(x(t), 0, 0, bottom);
    }
    ctx.strokeRect(0, bottom, width, 0);
    ctx.fillText(chart.format(chart.top), 3, 12);
}
