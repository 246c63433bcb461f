// SPDX-License-Identifier: Apache-2.0
// The call tree of a range of time, as the server gives it: calls below their callers, the longest first.
// Also the tree as a table whose rows open, which is the table twin of the flame graph.

import { add, announce, button, el } from './dom.js';
import { fmtCount, fmtNs, fmtShare } from './format.js';

const OUTER_SHARE = 0.98; // of its caller: a frame that fills it says nothing
const HOT_SHARE = 0.5; // of its caller: open at first
const HOT_ROWS = 14; // that are open at first

/* {roots, total_ns, left_out} of a document of `calls`; each call knows its caller. */
export function callTree(doc) {
    const calls = doc.calls.map(([parent, name, kind, total_ns, self_ns, count, longest], place) =>
        ({ parent, name, kind, total_ns, self_ns, count, longest, place, inner: [] }));
    const roots = [];
    for (const call of calls) {
        call.caller = call.parent < 0 ? null : calls[call.parent];
        (call.caller ? call.caller.inner : roots).push(call);
    }
    const longestFirst = (a, b) => b.total_ns - a.total_ns || a.place - b.place;
    calls.forEach((call) => call.inner.sort(longestFirst));
    return { roots: roots.sort(longestFirst), total_ns: roots.reduce((sum, call) => sum + call.total_ns, 0),
        left_out: doc.left_out + doc.events_left_out };
}

/* Frames around everything, from the outside in: each but the last holds nothing else. */
export function outerCalls(tree) {
    const outer = [];
    let here = tree.roots;
    while (here.length && here[0].total_ns >= OUTER_SHARE * tree.total_ns && here[0].inner.length
        && here[0].inner[0].total_ns >= OUTER_SHARE * tree.total_ns) {
        outer.push(here[0]);
        here = here[0].inner;
    }
    return outer;
}

export function tellCall(call, tree) {
    return `${call.name}: ${fmtNs(call.total_ns)} (${fmtShare(call.total_ns / (tree.total_ns || 1))}), itself ${fmtNs(call.self_ns)}, ` +
        `${fmtCount(call.count)} ${call.count === 1 ? 'call' : 'calls'}`;
}

/* The tree as a table. `from`: the calls to begin with; `onShow(call)`: its longest event in the timeline. */
export function callTable(tree, from, onShow) {
    const body = el('tbody');
    const put = (call, level, before) => {
        const row = el('tr', {}, nameCell(call, level, onShow), el('td', { class: 'num' }, fmtNs(call.total_ns)),
            el('td', { class: 'num' }, fmtShare(call.total_ns / (tree.total_ns || 1))), el('td', { class: 'num' }, fmtNs(call.self_ns)),
            el('td', { class: 'num' }, fmtCount(call.count)));
        Object.assign(row, { call, level });
        body.insertBefore(row, before);
        return row;
    };
    const open = (row, isOpen) => {
        const toggle = row.querySelector('.call-toggle');
        if (!toggle || (toggle.getAttribute('aria-expanded') === 'true') === isOpen) {
            return;
        }
        toggle.setAttribute('aria-expanded', String(isOpen));
        toggle.textContent = isOpen ? '▾' : '▸';
        while (!isOpen && row.nextSibling && row.nextSibling.level > row.level) {
            row.nextSibling.remove();
        }
        const before = row.nextSibling;
        isOpen && row.call.inner.forEach((call) => put(call, row.level + 1, before));
    };
    from.forEach((call) => put(call, 0, null));
    openHot(body, open);
    listenTree(body, open);
    const heads = ['call', 'time', 'share', 'in itself', 'calls'];
    return el('div', { class: 'scroll call-tree', tabindex: '0', role: 'group', 'aria-label': 'Call tree' }, el('table', {},
        el('caption', { class: 'offscreen' }, 'Call tree'), el('thead', {}, el('tr', {}, heads.map((text, i) =>
            el('th', { scope: 'col', class: i ? 'num' : '' }, text)))), body));
}

function nameCell(call, level, onShow) {
    const cell = el('th', { scope: 'row', title: call.name });
    cell.style.paddingInlineStart = `${0.5 + Math.min(level, 30)}rem`;
    return add(cell, call.inner.length ? el('button', { type: 'button', class: 'call-toggle', 'aria-expanded': 'false', 'aria-label': `Calls of ${call.name}` }, '▸')
        : el('span', { class: 'call-leaf', 'aria-hidden': 'true' }, '·'),
    button(call.name.slice(0, 160) || 'unnamed', () => onShow(call), { class: 'cell-link', title: `Show the longest of ${fmtCount(call.count)} in the timeline` }));
}

/* Opens the path where the time goes. */
function openHot(body, open) {
    for (let row = body.firstChild, shown = 0; row && shown < HOT_ROWS; row = row.nextSibling, shown++) {
        const { call, level } = row;
        const isHot = level === 0 ? row === body.firstChild : call === call.caller.inner[0] && call.total_ns >= HOT_SHARE * call.caller.total_ns;
        isHot && open(row, true);
    }
}

/* Arrow keys on the triangles, as in a tree. */
function listenTree(body, open) {
    const toggles = () => [...body.querySelectorAll('.call-toggle')];
    body.addEventListener('click', (event) => {
        const toggle = event.target.closest('.call-toggle');
        toggle && open(toggle.closest('tr'), toggle.getAttribute('aria-expanded') !== 'true');
    });
    body.addEventListener('keydown', (event) => {
        const toggle = event.target.closest('.call-toggle');
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.code];
        if (!toggle || !(by || event.code === 'ArrowRight' || event.code === 'ArrowLeft')) {
            return;
        }
        if (by) {
            const all = toggles();
            (all[all.indexOf(toggle) + by] || toggle).focus();
        } else {
            open(toggle.closest('tr'), event.code === 'ArrowRight');
            announce(event.code === 'ArrowRight' ? 'open' : 'closed');
        }
        event.preventDefault();
        event.stopPropagation();
    });
}
