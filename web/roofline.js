// SPDX-License-Identifier: Apache-2.0
// The roofline: operations by how much they compute for each byte and how fast, both on scales of powers of
// ten, below the device's limits: the slope is its memory, the flat line its arithmetic. The area of a dot
// is its time. The roof comes from the table's own columns; each device has one.

import { cssVar, el } from './dom.js';
import { fmtRate } from './format.js';
import { readyCanvas, watchSize } from './strip.js';

const HIGH = 300;
const [LEFT, BOTTOM, TOP, RIGHT] = [88, 34, 12, 12]; // pixels around the picture
const DOT_MOST = 14;
const LABELS = 6; // of the operations that take longest

/* [{op, intensity, flops, ns, peak, ridge}] of the rows whose costs are known. */
export function rooflinePoints(table) {
    const at = (id) => table.columns.findIndex((column) => column.id === id);
    const [op, x, y, ns, ridge, share, bound] = ['op', 'intensity', 'flops_per_s', 'total_ns', 'ridge', 'roof_share', 'bound'].map(at);
    return table.rows.filter((row) => row[x] > 0 && row[y] > 0 && row[share] > 0 && row[ridge] > 0).map((row) => {
        const roof = row[y] / row[share];
        return { op: row[op], intensity: row[x], flops: row[y], ns: row[ns], ridge: row[ridge],
            peak: row[bound] === 'compute' || row[x] >= row[ridge] ? roof : roof / row[x] * row[ridge] };
    });
}

export function rooflineChart(points) {
    const canvas = el('canvas', { class: 'chart', role: 'img',
        'aria-label': `Roofline of ${points.length} operations; the table has their figures` });
    watchSize(canvas, () => drawRoofline(canvas, points));
    return el('div', {}, canvas, el('p', { class: 'muted' }, 'Across: FLOP for each byte moved. Up: FLOP per second. On the slope memory limits, on the flat line arithmetic; the further below, the more is left.'));
}

function bounds(values, room) {
    return [10 ** Math.floor(Math.log10(Math.min(...values) / room)), 10 ** Math.ceil(Math.log10(Math.max(...values) * room))];
}

function drawRoofline(canvas, points) {
    const ready = readyCanvas(canvas, HIGH);
    if (!ready) {
        return;
    }
    const { ctx, width } = ready;
    const peak = Math.max(...points.map((point) => point.peak));
    const { ridge } = points[0];
    const [x0, x1] = bounds([...points.map((point) => point.intensity), ridge], 1.5);
    const [y0, y1] = bounds([...points.map((point) => point.flops), peak], 1.2);
    const x = (v) => LEFT + Math.log10(v / x0) / Math.log10(x1 / x0) * (width - LEFT - RIGHT);
    const y = (v) => HIGH - BOTTOM - Math.log10(v / y0) / Math.log10(y1 / y0) * (HIGH - BOTTOM - TOP);
    ctx.font = '12px system-ui, sans-serif';
    ctx.lineWidth = 1;
    ctx.strokeStyle = cssVar('--line');
    ctx.fillStyle = cssVar('--muted');
    for (let v = x0; v <= x1 * 1.01; v *= 10) {
        ctx.strokeRect(x(v), TOP, 0, HIGH - BOTTOM - TOP);
        ctx.fillText(v >= 1 ? String(Math.round(v)) : String(Number(v.toPrecision(1))), Math.min(x(v) - 6, width - 36), HIGH - 16);
    }
    for (let v = y0; v <= y1 * 1.01; v *= 10) {
        ctx.strokeRect(LEFT, y(v), width - LEFT - RIGHT, 0);
        ctx.fillText(fmtRate(v, 'FLOP'), 2, y(v) + 4);
    }
    ctx.strokeStyle = cssVar('--text');
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(x(x0), y(Math.max(y0, peak / ridge * x0)));
    ctx.lineTo(x(ridge), y(peak));
    ctx.lineTo(x(x1), y(peak));
    ctx.stroke();
    const taken = []; // by labels
    const longest = Math.max(...points.map((point) => point.ns));
    points.forEach((point, i) => {
        const radius = Math.max(3, DOT_MOST * Math.sqrt(point.ns / longest));
        ctx.fillStyle = cssVar(point.intensity >= point.ridge ? '--g-compute' : '--g-transfer');
        ctx.beginPath();
        ctx.arc(x(point.intensity), y(point.flops), radius, 0, 2 * Math.PI);
        ctx.fill();
        const text = String(point.op).slice(0, 40);
        const long = ctx.measureText(text).width;
        const right = x(point.intensity) + radius + 4;
        const labelX = right + long <= width ? right : x(point.intensity) - radius - 4 - long; // next to the dot, never on it
        const labelY = y(point.flops) + 4;
        if (i < LABELS && labelX >= LEFT && !taken.some(([from, to, ty]) => labelX < to && labelX + long > from && Math.abs(ty - labelY) < 13)) {
            taken.push([labelX, labelX + long, labelY]);
            ctx.fillStyle = cssVar('--text');
            ctx.fillText(text, labelX, labelY);
        }
    });
}
