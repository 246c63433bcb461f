// SPDX-License-Identifier: Apache-2.0
// From event to event along a track, for the keyboard, and closer to what is selected.

import { announce } from './dom.js';
import { eachInSight } from './tl_draw.js';

/* The next drawn event of the current track and sub-row; with by = 0 the first in sight. */
export function stepEvent(page, by) {
    const { selected, batch } = page;
    page.current === null && page.stepTrack(0);
    const line = page.rows.lineOf(page.current);
    if (!line || !batch) {
        return;
    }
    if (line.track.ribbon) {
        const near = selected && selected.segment ? page.ribbons.neighbour(line.track.ribbon, selected.segment, by || 1) : null;
        near ? page.selectSegment(line.track, near) : page.selectSegmentAt(line.track, page.view.t0 + page.view.span / 2);
        return;
    }
    const neighbour = selected && selected.track === line.id && (by > 0 ? selected.next : selected.prev);
    if (by && (typeof neighbour === 'number' || neighbour)) {
        page.select(typeof neighbour === 'number' ? { id: neighbour } : neighbour, true);
        return;
    }
    const from = by && selected && selected.track === line.id ? selected : null;
    let best = null;
    eachInSight(batch, (track, tile, i) => {
        const start = tile.start(i);
        if (track.id !== line.id || (from && tile.rows[i] !== (from.row || 0))
            || (from && (by > 0 ? start <= from.start_ns : start >= from.start_ns))) {
            return;
        }
        const better = !best || (by < 0 ? start > best.start : start < best.start);
        best = better && (from || start + tile.dur(i) >= page.view.t0) ? { start, i, tile } : best;
    });
    if (best) {
        page.select(page.eventOf(line.track, best.tile, best.i), true);
    } else {
        announce(by < 0 ? 'no earlier event in view' : 'no later event in view');
    }
}

export function focusSelection(page) {
    const { selected, area } = page;
    if (selected && selected.start_ns !== undefined) {
        page.view.show(selected.start_ns, selected.dur_ns, true);
    } else if (area) {
        page.view.show(area.t0, area.t1 - area.t0, true);
    } else {
        page.view.fit();
    }
}
