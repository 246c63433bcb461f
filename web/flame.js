// SPDX-License-Identifier: Apache-2.0
// The flame graph of a call tree: a row a depth, callers above, each box as wide as its share of the
// time, the longest first. A click or Enter makes a box as wide as the picture; Esc goes back. Arrow keys
// go to the caller, to a call and to its neighbors. Boxes narrower than half a pixel are not drawn.

import { outerCalls, tellCall } from './calls.js';
import { announce, button, el } from './dom.js';
import { fmtCount, fmtShare } from './format.js';
import { readyCanvas, watchSize } from './strip.js';
import { KINDS, makePalette, shadeOf } from './tl_draw.js';
import { fitText } from './tl_text.js';

const ROW_HIGH = 18;
const NARROWEST = 0.5; // pixels
const TEXT_FROM = 24;
const ROWS_MOST = 120;

/* The picture with its line of words. `onShow(call)`: its longest event in the timeline. */
export function flameGraph(tree, onShow) {
    const canvas = el('canvas', { class: 'flame', tabindex: '0', role: 'application', 'aria-roledescription': 'flame graph',
        'aria-label': 'Flame graph. Arrow keys choose a call, Enter makes it as wide as the picture, Escape goes back, F shows its longest event.' });
    const flame = { tree, canvas, outer: outerCalls(tree), showsOuter: false, zoomed: null, wanted: '', boxes: [], at: null,
        readout: el('p', { class: 'chart-readout', 'aria-live': 'polite' }) };
    flame.at = topCalls(flame)[0] || null;
    const find = el('input', { type: 'search', placeholder: 'Highlight calls', 'aria-label': 'Highlight calls whose name contains',
        oninput: () => { flame.wanted = find.value.toLowerCase(); tellFound(flame); drawFlame(flame); } });
    flame.found = el('span', { class: 'muted', role: 'status' });
    const outer = flame.outer.length > 0 && button('', () => {
        flame.showsOuter = !flame.showsOuter;
        labelOuter();
        drawFlame(flame);
    }, { class: 'quiet', id: 'flame-outer' });
    const labelOuter = () => { outer.textContent = `${flame.showsOuter ? 'Hide' : 'Show'} ${fmtCount(flame.outer.length)} outer ${flame.outer.length === 1 ? 'frame' : 'frames'}`; };
    outer && labelOuter();
    listenFlame(flame, onShow);
    watchSize(canvas, () => { flame.palette = null; drawFlame(flame); });
    chooseCall(flame, flame.at);
    return el('div', {}, el('div', { class: 'tools' }, find, flame.found, outer,
        button('Show it', () => flame.at && onShow(flame.at), { class: 'quiet', id: 'flame-show' })), flame.readout, canvas);
}

/* The calls of the first row. */
function topCalls({ tree, outer, showsOuter }) {
    return outer.length && !showsOuter ? outer[outer.length - 1].inner : tree.roots;
}

function chooseCall(flame, call) {
    flame.at = call;
    flame.readout.textContent = call ? tellCall(call, flame.tree) : 'Nothing is called here.';
    drawFlame(flame);
}

function zoomTo(flame, call) {
    flame.zoomed = call;
    announce(call ? `${call.name} fills the picture` : 'all calls');
    drawFlame(flame);
}

function tellFound(flame) {
    const covered = (calls) => calls.reduce((sum, call) => sum + (isFound(flame, call) ? call.total_ns : covered(call.inner)), 0);
    flame.found.textContent = flame.wanted ? `${fmtShare(covered(flame.tree.roots) / (flame.tree.total_ns || 1))} of the time` : '';
}

function isFound({ wanted }, call) {
    return wanted !== '' && call.name.toLowerCase().includes(wanted);
}

/* Boxes {call, x, w, row}: callers of what fills the picture are as wide as it. */
function layOut(flame, width) {
    const boxes = [];
    const top = topCalls(flame);
    const path = [];
    for (let call = flame.zoomed; call && !(call !== flame.zoomed && !flame.showsOuter && flame.outer.includes(call)); call = call.caller) {
        path.unshift(call);
    }
    const put = (calls, x, w, row, whole) => {
        const sum = Math.max(whole, calls.reduce((ns, call) => ns + call.total_ns, 0)) || 1;
        for (const call of calls) {
            const wide = call.total_ns / sum * w;
            if (wide < NARROWEST || row >= ROWS_MOST) {
                break;
            }
            boxes.push({ call, x, w: wide, row });
            put(call.inner, x, wide, row + 1, call.total_ns);
            x += wide;
        }
    };
    path.slice(0, -1).forEach((call, row) => boxes.push({ call, x: 0, w: width, row }));
    flame.zoomed ? put([flame.zoomed], 0, width, path.length - 1, flame.zoomed.total_ns)
        : put(top, 0, width, 0, top.reduce((ns, call) => ns + call.total_ns, 0));
    return boxes;
}

function drawFlame(flame) {
    const width = flame.canvas.clientWidth;
    const boxes = width ? layOut(flame, width) : [];
    const rows = boxes.reduce((most, box) => Math.max(most, box.row + 1), 1);
    const ready = readyCanvas(flame.canvas, rows * ROW_HIGH);
    if (!ready) {
        return;
    }
    const { ctx } = ready;
    flame.boxes = boxes;
    flame.palette = flame.palette || makePalette();
    ctx.font = '11px system-ui, sans-serif';
    ctx.lineWidth = 2;
    for (const { call, x, w, row } of boxes) {
        const y = row * ROW_HIGH;
        const isDim = flame.wanted !== '' && !isFound(flame, call);
        ctx.globalAlpha = isDim ? 0.35 : 1;
        ctx.fillStyle = shadeOf(flame.palette, Math.max(0, KINDS.indexOf(call.kind)), call.name);
        ctx.fillRect(x, y, Math.max(NARROWEST, w - 1), ROW_HIGH - 1);
        ctx.globalAlpha = 1;
        ctx.fillStyle = isDim ? flame.palette.text : flame.palette.onPiece;
        const text = w > TEXT_FROM ? fitText(ctx, call.name, w - 8) : '';
        text && ctx.fillText(text, x + 4, y + ROW_HIGH - 6);
        if (call === flame.at) {
            ctx.strokeStyle = flame.palette.text;
            ctx.strokeRect(x + 1, y + 1, Math.max(2, w - 3), ROW_HIGH - 3);
        }
    }
}

function boxAt(flame, event) {
    const bounds = flame.canvas.getBoundingClientRect();
    const [x, row] = [event.clientX - bounds.left, Math.floor((event.clientY - bounds.top) / ROW_HIGH)];
    return flame.boxes.find((box) => box.row === row && x >= box.x && x < box.x + box.w);
}

/* The call an arrow key leads to; undefined: no such call. */
function neighbourOf(flame, code) {
    const { at } = flame;
    const isTop = topCalls(flame).includes(at);
    const row = isTop ? topCalls(flame) : at.caller.inner;
    switch (code) {
    case 'ArrowUp': return isTop ? undefined : at.caller;
    case 'ArrowDown': return at.inner[0];
    case 'ArrowRight': return row[row.indexOf(at) + 1];
    default: return row[row.indexOf(at) - 1];
    }
}

function listenFlame(flame, onShow) {
    const { canvas } = flame;
    canvas.addEventListener('mousemove', (event) => {
        const box = boxAt(flame, event);
        canvas.title = box ? tellCall(box.call, flame.tree) : '';
    });
    canvas.addEventListener('click', (event) => {
        const box = boxAt(flame, event);
        box && chooseCall(flame, box.call);
        box && zoomTo(flame, flame.zoomed === box.call ? null : box.call);
    });
    canvas.addEventListener('keydown', (event) => {
        if (!flame.at) {
            return;
        }
        if (/^Arrow/.test(event.code)) {
            const to = neighbourOf(flame, event.code);
            to && chooseCall(flame, to);
        } else if (event.key === 'Enter') {
            zoomTo(flame, flame.zoomed === flame.at ? null : flame.at);
        } else if (event.key === 'Escape' && flame.zoomed) {
            zoomTo(flame, null);
        } else if (event.code === 'KeyF') {
            onShow(flame.at);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    });
}
