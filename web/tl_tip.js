// SPDX-License-Identifier: Apache-2.0
// What the pointer is over: an event, or the value of a counter.

import { add, clear, el } from './dom.js';
import { fmtCount, fmtNs, fmtNumber } from './format.js';
import { counterAt, RULER_PX } from './tl_draw.js';

export function showTip(page, x, y) {
    const line = x >= 0 && y >= RULER_PX && page.batch && page.rows.lineAt(y - RULER_PX + page.scroll);
    const isCounter = line && line.type === 'track' && line.track.group === 'counter';
    const value = isCounter ? counterAt(page.batch, line.id, page.view.time(x), page.view.last) : undefined;
    const event = x >= 0 && !isCounter ? page.pick(x, y) : null;
    page.tip.hidden = !event && value === undefined;
    if (value !== undefined) {
        add(clear(page.tip), el('b', {}, line.track.label), el('br'), fmtNumber(value));
    } else if (event) {
        add(clear(page.tip), el('b', {}, event.name.slice(0, 300)), el('br'), fmtNs(event.dur_ns),
            event.count > 1 ? `, the longest of ${fmtCount(event.count)} merged here` : '');
    }
    page.tip.style.left = `${Math.min(x + 12, page.canvas.clientWidth - 260)}px`;
    page.tip.style.top = `${Math.min(y + 14, page.canvas.clientHeight - 50)}px`;
}
