// SPDX-License-Identifier: Apache-2.0
// The names of groups and tracks at the left of the timeline: real buttons next to the canvas, only for
// the lines in sight. They fold, open and pin; the keyboard does the same with E and P on the canvas.

import { add, clear, el } from './dom.js';
import { fmtCount } from './format.js';
import { RULER_PX } from './tl_draw.js';

export function drawNames(page, height) {
    const shown = page.rows.lines.filter((line) => line.y - page.scroll + RULER_PX < height
        && line.y + line.h - page.scroll > 0);
    const key = JSON.stringify([page.scroll, height, page.current,
        shown.map((line) => [line.id, line.y, line.h, line.shut, page.rows.pinned.has(line.id), page.rows.outer.get(line.id)])]);
    page.names.setAttribute('aria-label', page.bare ? `Tracks of ${page.bare}` : 'Tracks');
    if (key === page.namesKey) {
        return;
    }
    page.namesKey = key;
    const focused = document.activeElement && page.names.contains(document.activeElement)
        ? document.activeElement.dataset.key : null;
    const inner = el('div', { class: 'tl-names-inner' },
        shown.map((line) => (line.type === 'group' ? groupName(page, line) : trackName(page, line))));
    add(clear(page.names), inner);
    if (focused) {
        page.names.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    }
}

function placed(page, line, node) {
    node.style.top = `${line.y - page.scroll + RULER_PX}px`;
    node.style.height = `${line.h}px`;
    return node;
}

function groupName(page, line) {
    return placed(page, line, el('div', { class: 'tl-group' },
        el('button', { type: 'button', 'aria-expanded': String(!line.shut), 'data-key': `g${line.id}`,
        onclick: () => { page.rows.toggleGroup(line.id); page.redraw(); } },
            `${line.shut ? '▸' : '▾'} ${line.title} (${fmtCount(line.count)})`)));
}

function trackName(page, line) {
    const { track } = line;
    const pinned = page.rows.pinned.has(track.id);
    const outer = page.rows.outer.get(track.id);
    const isShut = outer && page.rows.skipOf(track) > 0;
    const all = page.rows.rowsOf(track) >= track.rows - page.rows.skipOf(track);
    const fold = track.rows > 1 && el('button',
        { type: 'button', class: 'tl-icon', 'data-key': `f${track.id}`, 'aria-expanded': String(all), tabindex: '-1',
        'aria-label': `${all ? 'fold' : 'open'} ${track.label}`, title: all ? 'Fold' : `All ${track.rows} sub-rows`,
        onclick: () => { page.rows.toggleTrack(track); page.redraw(); } }, all ? '▾' : '▸');
    const pin = el('button', { type: 'button', class: 'tl-icon', 'data-key': `p${track.id}`,
        'aria-pressed': String(pinned), tabindex: '-1',
        'aria-label': `pin ${track.label}`, title: 'Pin',
            onclick: () => { page.rows.togglePin(track.id); page.changed(); } }, pinned ? '◆' : '◇');
    return placed(page, line, el('div', { class: track.id === page.current ? 'tl-track current' : 'tl-track' },
        fold || el('span', { class: 'tl-icon' }),
        el('span', { class: 'tl-label', title: track.ribbon ? track.title : `${track.label}, ${fmtCount(track.events)} events` }, track.label,
            outer && page.rows.heightOf(track) > 36 && [el('br'), el('button', { type: 'button', class: 'tl-outer quiet', tabindex: '-1', 'data-key': `o${track.id}`,
                'aria-expanded': String(!isShut), onclick: () => { page.rows.toggleOuter(track.id); page.redraw(); } }, `${isShut ? '▸' : '▾'} ${outer} outer frames`)]),
            track.ribbon ? null : pin));
}
