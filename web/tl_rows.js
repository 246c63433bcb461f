// SPDX-License-Identifier: Apache-2.0
// What the timeline shows from top to bottom: groups (steps, devices, host threads, counters), in each
// its tracks with their sub-rows, pinned ones first. Folding, pinning and the filter live here; what is
// hidden is counted, and the page says so.

export const ROW_PX = 17;
export const GROUP_PX = 24;
const FOLDED_ROWS = 1;
const COUNTER_PX = 42;
const RIBBON_LINE_PX = 28;
const OPEN_ROWS = 8; // deeper tracks begin folded to this many sub-rows

export const GROUP_TITLES = { gpu: 'Causes', steps: 'Steps, findings', device: 'Devices', host: 'Host threads',
    input: 'Input pipeline',
    comm: 'Collectives', counter: 'Counters', other: 'Other tracks' };
const GROUP_ORDER = ['gpu', 'steps', 'device', 'comm', 'host', 'input', 'counter', 'other'];
const GROUP_ORDER_MANY = ['gpu', 'device', 'comm', 'steps', 'host', 'input', 'counter', 'other']; // of many devices: these first
const MANY = 3;

/* Whether a track holds events of the profile: not one of the page's own, nor a ribbon. */
export function hasEvents(track) {
    return !track.own && !track.ribbon;
}

export class Rows {
    constructor(tracks) {
        this.tracks = tracks;
        this.folded = new Set(); // of groups, by id
        this.opened = new Map(); // track id -> sub-rows shown
        this.pinned = new Set();
        this.outer = new Map(); // track id -> sub-rows of frames that hold all of the recording
        this.unfolded = new Set(); // of these tracks, those that show them
        this.filter = '';
        this.lines = [];
        this.height = 0;
        this.hidden = 0;
        this.layout();
    }

    rowsOf(track) {
        if (track.group === 'counter') {
            return 1;
        }
        return Math.min(track.rows - this.skipOf(track), this.opened.get(track.id) ?? OPEN_ROWS);
    }

    /* Sub-rows at the top that are not shown: frames around everything say nothing. */
    skipOf(track) {
        return this.unfolded.has(track.id) ? 0 : this.outer.get(track.id) || 0;
    }

    setOuter(id, rows) {
        this.outer.set(id, rows);
        this.layout();
    }

    toggleOuter(id) {
        this.unfolded.has(id) ? this.unfolded.delete(id) : this.unfolded.add(id);
        this.layout();
    }

    heightOf(track) {
        return track.ribbon ? RIBBON_LINE_PX : track.group === 'counter' ? COUNTER_PX : this.rowsOf(track) * ROW_PX + 5;
    }

    /* Places every line; call it after a change. */
    layout() {
        const wanted = this.filter.toLowerCase();
        const matches = this.tracks.filter((t) => !wanted || t.label.toLowerCase().includes(wanted)
            || this.pinned.has(t.id));
        this.hidden = this.tracks.length - matches.length;
        this.lines = [];
        let y = 0;
        const put = (line, h) => {
            this.lines.push({ ...line, y, h });
            y += h;
        };
        const group = (id, title, tracks) => {
            if (!tracks.length) {
                return;
            }
            const shut = this.folded.has(id);
            put({ type: 'group', id, title, count: tracks.length, shut }, GROUP_PX);
            for (const track of shut ? [] : tracks) {
                put({ type: 'track', id: track.id, track }, this.heightOf(track));
            }
        };
        group('pinned', 'Pinned', matches.filter((t) => this.pinned.has(t.id)));
        const devices = new Set(this.tracks.filter((t) => t.group === 'device').map((t) => t.device));
        for (const id of devices.size >= MANY ? GROUP_ORDER_MANY : GROUP_ORDER) {
            group(id, GROUP_TITLES[id], matches.filter((t) => t.group === id && !this.pinned.has(t.id)));
        }
        this.height = y;
    }

    toggleGroup(id) {
        this.folded.has(id) ? this.folded.delete(id) : this.folded.add(id);
        this.layout();
    }

    /* All sub-rows, or one. */
    toggleTrack(track) {
        this.opened.set(track.id, this.rowsOf(track) < track.rows - this.skipOf(track) ? track.rows : FOLDED_ROWS);
        this.layout();
    }

    togglePin(id) {
        this.pinned.has(id) ? this.pinned.delete(id) : this.pinned.add(id);
        this.layout();
        return this.pinned.has(id);
    }

    setFilter(text) {
        this.filter = text;
        this.layout();
    }

    lineAt(y) {
        return this.lines.find((line) => y >= line.y && y < line.y + line.h);
    }

    lineOf(trackId) {
        return this.lines.find((line) => line.type === 'track' && line.id === trackId);
    }

    /* Makes a track's line exist and its sub-row `row` shown. */
    reveal(trackId, row) {
        const track = this.tracks.find((t) => t.id === trackId);
        if (!track) {
            return null;
        }
        if (row < this.skipOf(track)) {
            this.unfolded.add(track.id);
        }
        if (row - this.skipOf(track) >= this.rowsOf(track)) {
            this.opened.set(track.id, row - this.skipOf(track) + 1);
        }
        if (!this.lineOf(trackId)) {
            this.folded.delete(this.pinned.has(trackId) ? 'pinned' : track.group);
            this.filter = this.filter && !track.label.toLowerCase().includes(this.filter.toLowerCase()) ? ''
                : this.filter;
        }
        this.layout();
        return this.lineOf(trackId);
    }
}
