// SPDX-License-Identifier: Apache-2.0
// Where the pages get their data: from the server that served them (fetch), or from the block of JSON
// inside a single-file report. Both answer the same calls; what only a server can do (search of the
// whole trace, SQL, prices of several fixes) is asked for with `can`. Answers are kept, within bounds.

import { decodeTile, decodeTiles } from './tl_tile.js';

const ANSWERS_KEPT = 200;
const TIMEOUT_MS = 120000; // a large table of a large profile may take its time

export async function makeApi() {
    const block = document.getElementById('stoker-data');
    return block ? new EmbeddedApi(JSON.parse(block.textContent)) : ServerApi.open();
}

class ServerApi {
    static async open(side) {
        const api = new ServerApi();
        api.kept = new Map();
        const dropped = new URLSearchParams(location.search).get('profile'); // of drop.js
        api.own = { ...(dropped ? { profile: dropped } : {}), ...(side ? { side } : {}) };
        api.token = new URLSearchParams(location.search).get('token') || '';
        api.infoDoc = await api.json('info');
        if (!side && (api.infoDoc.can || []).includes('report')) {
            api.report().catch(() => {}); // nearly every page needs it: asked for at once
        }
        return api;
    }

    /* The other profile of two, with the same calls. */
    other() {
        this.otherApi = this.otherApi || ServerApi.open('b');
        return this.otherApi;
    }

    get tables() {
        return this.infoDoc.tables;
    }

    can(what) {
        return (this.infoDoc.can || []).includes(what);
    }

    async ask(path, params = {}, init = {}) {
        const search = new URLSearchParams({ ...this.own, ...params, token: this.token });
        let answer;
        try {
            answer = await fetch(`api/${path}?${search}`,
                { ...init, signal: init.signal || AbortSignal.timeout(TIMEOUT_MS), cache: 'no-store' });
        } catch (error) {
            if (error.name === 'AbortError') {
                throw error;
            }
            throw new Error('stoker view doesn\'t answer: it has ended, or the connection is lost');
        }
        if (!answer.ok) {
            throw new Error(await problemOf(answer));
        }
        return answer;
    }

    async json(path, params, init) {
        return (await this.ask(path, params, init)).json();
    }

    /* A document that does not change while the server runs: asked for once. */
    once(path, params) {
        const key = path + JSON.stringify(params || {});
        if (!this.kept.has(key)) {
            const promise = this.json(path, params);
            promise.catch(() => this.kept.delete(key));
            this.kept.set(key, promise);
            if (this.kept.size > ANSWERS_KEPT) {
                this.kept.delete(this.kept.keys().next().value);
            }
        }
        return this.kept.get(key);
    }

    async info() { return this.infoDoc; }
    report() { return this.once('report'); }
    table(name) { return this.once(`table/${encodeURIComponent(name)}`); }
    whatif(fixes) { return this.once('whatif', fixes.length ? { fix: fixes.join(',') } : undefined); }
    diff() { return this.once('diff'); }
    event(id) { return this.once('event', { id }); }
    runs(id) { return this.once('runs', { id }); }
    area(t0, t1, tracks) { return this.json('area',
        { t0: Math.round(t0), t1: Math.round(t1), tracks: tracks.join(',') }); }
    calls(t0, t1, tracks) { return this.json('calls',
        { t0: Math.round(t0), t1: Math.round(t1), tracks: tracks.join(',') }); }
    search(q, limit) { return this.json('search', { q, limit }); }
    phases() { return this.once('phases'); }
    ribbon(device, t0, t1, buckets) {
        return this.once('ribbon', { ...(device ? { device } : {}), t0: Math.round(t0), t1: Math.round(t1), buckets });
    }

    /* Opens a file beside what is open, or compares it with that. */
    async drop(file, isCompared) {
        const answer = await this.ask('drop', { name: file.name, ...(isCompared ? { compare: 1 } : {}) },
            { method: 'POST', body: file, signal: AbortSignal.timeout(10 * TIMEOUT_MS) });
        return answer.json();
    }

    async explain(id) { return (await this.ask('explain', { id })).text(); }
    extra(n) { return this.json('extra', { n }); }

    async extraText(n) {
        return (await this.ask('extra', { n })).text();
    }

    async perfetto() {
        return (await this.ask('perfetto', {}, { signal: AbortSignal.timeout(10 * TIMEOUT_MS) })).arrayBuffer();
    }

    query(sql) { return this.json('query', {},
        { method: 'POST', body: sql, headers: { 'Content-Type': 'text/plain' } }); }

    async tile(track, level, index, signal) {
        const answer = await this.ask('tile', { track, level, index }, { signal });
        return decodeTile(await answer.arrayBuffer());
    }

    /* The same tile of several tracks, in their order. */
    async tilesOf(tracks, level, index) {
        const answer = await this.ask('tiles', { tracks: tracks.join(','), level, index });
        return decodeTiles(await answer.arrayBuffer());
    }

    async names(ids) {
        return new Map(Object.entries((await this.json('names', { ids: ids.join(',') })).names).map(([id,
            name]) => [Number(id), name]));
    }
}

/* The text of an error answer: JSON {error}, or plain text. */
async function problemOf(answer) {
    const text = (await answer.text()).slice(0, 2000);
    try {
        const doc = JSON.parse(text);
        return doc.error || text;
    } catch {
        return text || `the server answered ${answer.status}`;
    }
}

class EmbeddedApi {
    constructor(data) {
        this.data = data;
    }

    get tables() {
        return Object.keys(this.data.tables || {});
    }

    can(what) {
        return what === 'report';
    }

    async have(value, what) {
        if (value === undefined) {
            throw new Error(`${what} is not in this file. Run stoker view PROFILE to see it`);
        }
        return value;
    }

    async phases() { return this.data.phases || null; }

    /* The whole recording, for any range. */
    ribbon(device) {
        const all = this.data.ribbons || {};
        return this.have(all[device] || all[Object.keys(all)[0]], 'what the device did at each moment');
    }

    explain(id) { return this.have((this.data.explanations || {})[id], 'this explanation'); }
    async info() { return this.data.info || { tracks: [] }; }
    report() { return this.have(this.data.report, 'the report'); }
    table(name) { return this.have((this.data.tables || {})[name], `the analysis ${name}`); }
    diff() { return this.have(this.data.diff, 'a comparison'); }
    event(id) { return this.have((this.data.eventDetails || {})[id], 'the details of single events'); }
    runs() { return this.have(undefined, 'the list of all runs of an operation'); }
    area() { return this.have(undefined, 'the statistics of single events'); }
    calls() { return this.have(undefined, 'what is called in a range of time'); }
    search() { return this.have(undefined, 'the search of the whole trace'); }
    query() { return this.have(undefined, 'SQL'); }

    whatif(fixes) {
        return fixes.length ? this.have(undefined, 'the estimate for these fixes together')
            : this.have(this.data.whatif, 'the estimates');
    }

    async tile(track, level, index) {
        const text = (this.data.tiles || {})[`${track}/${level}/${index}`];
        if (text === undefined) {
            return null;
        }
        const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
        return decodeTile(bytes.buffer);
    }

    async tilesOf(tracks, level, index) {
        return Promise.all(tracks.map((track) => this.tile(track, level, index)));
    }

    async names(ids) {
        return new Map(ids.map((id) => [id, (this.data.names || {})[id] ?? '?']));
    }
}
