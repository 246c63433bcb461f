// SPDX-License-Identifier: Apache-2.0
// Tiles and names of the timeline: asked for when a view needs them, kept up to a bound in bytes (least
// recently drawn leave first), a coarser tile standing in until the right one is there. Requests are
// few at a time, the newest view first; what no view wants any more is dropped before it is asked for.

import { levelOf, tileSpan } from './tl_tile.js';

const BYTES_KEPT = 96e6;
const NAMES_KEPT = 200000;
const AT_ONCE = 4; // requests
const AT_ONCE_HERE = 2000; // where the tiles are in the page itself
const TRACKS_AT_ONCE = 64; // of a request: one tile of each
const NAMES_AT_ONCE = 400; // ids in an address
const COARSER = 6; // levels up that are looked through for a stand-in
const RETRY_MS = 4000;

export class TimelineData {
    constructor(api, info, onArrival, onTrouble) {
        Object.assign(this, { api, onArrival, onTrouble });
        this.highest = Math.max(0, Math.ceil(Math.log2(Math.max(1, info.last_ns - info.first_ns))) - 8);
        this.onlyLevel = info.level; // a single-file report holds one level
        this.tiles = new Map(); // key -> tile, in the order of use
        this.bytes = 0;
        this.flying = new Map(); // key -> whether it is in sight
        this.requests = 0;
        this.wanted = [];
        this.skirt = [];
        this.failed = new Map(); // key -> time
        this.names = new Map();
        this.unnamed = new Set();
        this.nameTimer = 0;
        this.lost = false;
        this.probing = 0;
        this.closed = false;
    }

    levelFor(nsPerPx) {
        return this.onlyLevel ?? levelOf(nsPerPx, this.highest);
    }

    /* Begins a frame: what was wanted before and has not been asked for is forgotten. */
    begin() {
        this.wanted = [];
        this.skirt = [];
    }

    /* Tiles that cover [t0, t1] of a track, stand-ins among them; wants what is missing. */
    cover(track, level, t0, t1) {
        const span = tileSpan(level);
        const found = [];
        const last = Math.floor(t1 / span);
        for (let index = Math.max(0, Math.floor(t0 / span)); index <= last; index++) {
            const tile = this.take(`${track}/${level}/${index}`);
            if (tile !== undefined) {
                tile && found.push({ tile, from: index * span, to: (index + 1) * span });
                continue;
            }
            this.wanted.push([track, level, index, true]);
            const stand = this.standIn(track, level, index);
            stand && found.push({ tile: stand, from: index * span, to: (index + 1) * span, rough: true });
        }
        if (this.onlyLevel === undefined) { // what a move would show next
            this.skirt.push([track, level, Math.floor(t0 / span) - 1], [track, level, last + 1]);
        }
        return found;
    }

    take(key) {
        const tile = this.tiles.get(key);
        if (tile !== undefined) {
            this.tiles.delete(key);
            this.tiles.set(key, tile);
        }
        return tile;
    }

    standIn(track, level, index) {
        for (let up = 1; up <= COARSER && level + up <= this.highest; up++) {
            const tile = this.tiles.get(`${track}/${level + up}/${Math.floor(index / 2 ** up)}`);
            if (tile) {
                return tile;
            }
        }
        return null;
    }

    /* Ends a frame: sends as many requests as may fly, the skirt's when nothing in sight is missing. One
       asks for the same tile of many tracks. */
    end() {
        const most = this.onlyLevel === undefined ? AT_ONCE : AT_ONCE_HERE;
        while (this.requests < most && this.wanted.length + this.skirt.length) {
            const from = this.wanted.length ? this.wanted : this.skirt;
            const [, level, index, inSight] = from[0];
            const tracks = [];
            const rest = [];
            for (const want of from) {
                const alike = want[1] === level && want[2] === index;
                alike && tracks.length < TRACKS_AT_ONCE ? this.isNew(want) && tracks.push(want[0]) : rest.push(want);
            }
            from === this.wanted ? this.wanted = rest : this.skirt = rest;
            tracks.length && this.fetchTiles(tracks, level, index, Boolean(inSight));
        }
    }

    isNew([track, level, index]) {
        const key = `${track}/${level}/${index}`;
        const failedAt = this.failed.get(key);
        return index >= 0 && !this.flying.has(key) && !this.tiles.has(key)
            && !(failedAt && performance.now() - failedAt < RETRY_MS);
    }

    /* Tiles in sight that are still to come. */
    get waiting() {
        return this.wanted.length + [...this.flying.values()].filter(Boolean).length;
    }

    async fetchTiles(tracks, level, index, inSight) {
        const keys = tracks.map((track) => `${track}/${level}/${index}`);
        keys.forEach((key) => this.flying.set(key, inSight));
        this.requests++;
        try {
            const tiles = await this.api.tilesOf(tracks, level, index);
            keys.forEach((key, i) => { this.keep(key, tiles[i]); this.failed.delete(key); });
            this.setLost(null);
        } catch (error) {
            keys.forEach((key) => this.failed.set(key, performance.now()));
            this.setLost(error);
        }
        this.requests--;
        keys.forEach((key) => this.flying.delete(key));
        this.onArrival();
    }

    setLost(error) {
        if (Boolean(error) !== this.lost) {
            this.lost = Boolean(error);
            this.onTrouble(error);
        }
        if (error && !this.probing) {
            this.probing = setTimeout(() => this.probe(), RETRY_MS);
        }
    }

    /* Asks for something small until the server answers again, then repeats what failed. */
    async probe() {
        this.probing = 0;
        if (this.closed) {
            return;
        }
        try {
            await this.api.names([0]);
            this.failed.clear();
            this.setLost(null);
        } catch (error) {
            this.setLost(error);
        }
        this.onArrival();
    }

    keep(key, tile) {
        this.tiles.set(key, tile);
        this.bytes += tile ? tile.bytes : 0;
        for (const [old, value] of this.tiles) {
            if (this.bytes <= BYTES_KEPT || old === key) {
                break;
            }
            this.tiles.delete(old);
            this.bytes -= value ? value.bytes : 0;
        }
    }

    /* The name of an id, or '' until it has come. */
    name(id) {
        const name = this.names.get(id);
        if (name !== undefined) {
            return name;
        }
        this.unnamed.add(id);
        this.nameTimer = this.nameTimer || setTimeout(() => this.fetchNames(), 16);
        return '';
    }

    async fetchNames() {
        const ids = [...this.unnamed].slice(0, NAMES_AT_ONCE);
        ids.forEach((id) => this.unnamed.delete(id));
        try {
            const names = await this.api.names(ids);
            if (this.names.size > NAMES_KEPT) {
                this.names.clear();
            }
            ids.forEach((id) => this.names.set(id, names.get(id) ?? `name ${id}`));
        } catch (error) {
            this.setLost(error);
        }
        this.nameTimer = this.unnamed.size ? setTimeout(() => this.fetchNames(), 16) : 0;
        this.onArrival();
    }
}
