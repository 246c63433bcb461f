// SPDX-License-Identifier: Apache-2.0
// Frames around everything: sub-rows at the top of a host's thread that hold one event over (nearly) the
// whole recording, as _run_module_as_main and main do. They say nothing, and push what does out of sight;
// the timeline leaves them out and says how many. Looked for once, when the whole is in sight.

const WHOLE = 0.85; // of the recording
const LEAST = 2; // fewer stay

export function findOuter(page) {
    const { view, batch, rows } = page;
    const whole = view.last - view.first;
    if (page.outerKnown || page.data.waiting || batch.rough || view.span < whole || !batch.parts.some((part) => !part.track.own)) {
        return;
    }
    page.outerKnown = true;
    const byTrack = new Map(); // track -> of each row [events, the longest]
    for (const { track, tile } of batch.parts) {
        if (track.group !== 'host' || track.rows < LEAST + 1) {
            continue;
        }
        const seen = byTrack.get(track) || new Map();
        byTrack.set(track, seen);
        for (let i = 0; i < tile.n; i++) {
            const row = seen.get(tile.rows[i]) || { ids: new Set(), longest: 0 };
            row.ids.add(tile.id(i));
            row.longest = Math.max(row.longest, tile.dur(i));
            seen.set(tile.rows[i], row);
        }
    }
    for (const [track, seen] of byTrack) {
        let outer = 0;
        while (seen.has(outer) && seen.get(outer).ids.size === 1 && seen.get(outer).longest >= WHOLE * whole && outer < track.rows - 1) {
            outer++;
        }
        outer >= LEAST && rows.setOuter(track.id, outer);
    }
    page.redraw();
}
