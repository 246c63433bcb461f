// SPDX-License-Identifier: Apache-2.0
// The timeline page: puts view, rows, tiles, drawing, input and panel together, and keeps what is seen
// in the address: t0, t1 (ns), sel (event), a0, a1 (area), pin, filter, q (search), notes.

import { add, announce, button, clear, copyText, el } from './dom.js';
import { fmtCount, fmtNs } from './format.js';
import { intParam, keepState } from './state.js';
import { watchSize } from './strip.js';
import { backLink } from './tl_back.js';
import { TimelineData } from './tl_data.js';
import { drawTimeline, eachInSight, KINDS, makePalette, RULER_PX } from './tl_draw.js';
import { listenTimeline, timelineHelp } from './tl_input.js';
import { drawNames } from './tl_names.js';
import { mergedText, showArea, showEvent, showHits, showInSight, showNote, showOwn, showSegment } from './tl_panel.js';
import { timelineLegend } from './tl_legend.js';
import { findOuter } from './tl_outer.js';
import { Minimap } from './tl_minimap.js';
import { TimelineRibbons } from './tl_ribbon.js';
import { hasEvents, Rows, ROW_PX } from './tl_rows.js';
import { timelineEdges } from './tl_split.js';
import { focusSelection, stepEvent } from './tl_step.js';
import { fitText } from './tl_text.js';
import { showTip } from './tl_tip.js';
import { Strips } from './tl_strips.js';
import { TimelineSearch } from './tl_search.js';
import { labelled, OWN_STEPS, ownTracks, parseNotes, phaseTracks } from './tl_tracks.js';
import { perfettoButton } from './perfetto.js';
import { TimeView } from './tl_view.js';

const STATE_MS = 400; // after the last change the address follows
const STILL_MS = 150; // after the last change the view is at rest, and all names are drawn

export async function timelinePage(main, context) {
    const { api, params } = context;
    const [info, report] = [await api.info(), await api.report()];
    document.getElementById('waiting')?.remove();
    const page = new TimelinePage(main, api, info, report);
    context.keys = timelineHelp();
    const unlisten = listenTimeline(page);
    context.leave = () => { unlisten(); page.gone = true; page.data.closed = true; clearTimeout(page.stateTimer); clearTimeout(page.stillTimer); };
    context.update = (next) => page.apply(next);
    page.apply(params);
    page.view.begin();
    page.canvas.focus({ preventScroll: true });
    await page.addRibbons();
    page.addPhases();
}

/* `bare`: a name for one of several on a page, without tools and without a part in the address. */
export class TimelinePage {
    constructor(main, api, info, report, bare = '') {
        Object.assign(this, { bare, api, info, report, selected: null, area: null, current: null, scroll: 0,
            hits: null, notes: [], gone: false });
        this.rows = new Rows([...ownTracks(report), ...labelled(info.tracks || [])]);
        const last = Math.max(info.last_ns ?? 0,
            ...(report.steps.list || []).slice(-4).map((s) => s.start_ns + s.dur_ns));
        this.view = new TimeView(Math.min(0, info.first_ns ?? 0), last || 1, () => this.changed());
        this.data = new TimelineData(api, { first_ns: this.view.first, last_ns: this.view.last, level: info.level },
            () => this.redraw(), (error) => this.trouble(error));
        this.steps = (report.steps.list || []).slice(0, OWN_STEPS).filter((s, i, list) => s.device === list[0].device);
        this.search = new TimelineSearch(this);
        this.strips = new Strips();
        this.ribbons = new TimelineRibbons(api, info, () => this.redraw());
        this.moved = -STILL_MS;
        this.build(main);
        watchSize(this.canvas, () => { this.palette = null; this.ribbons.newPalette(); this.keepInSight(); this.redraw(); });
    }

    build(main) {
        this.canvas = el('canvas', { class: 'tl-canvas', tabindex: '0', role: 'application',
            'aria-roledescription': 'timeline',
            'aria-label': this.bare ? `Timeline of ${this.bare}: arrow keys choose track and event; the buttons above move both` : 'Timeline. W and S zoom, A and D move, arrow keys choose track and event, T lists events as a table, question mark lists all keys.' });
        this.names = el('div', { class: 'tl-names', role: 'group' });
        this.status = el('p', { class: 'tl-status', id: this.bare ? undefined : 'tl-status' });
        this.tip = el('div', { class: 'tl-tip', hidden: true });
        this.panel = el('section', { class: 'tl-panel', hidden: true,
            'aria-label': this.bare ? `Details of ${this.bare}` : 'Details', tabindex: '-1' });
        this.alert = el('div', { role: 'alert', class: 'tl-alert' });
        this.filterBox = el('input', { type: 'search', placeholder: 'Filter tracks', 'aria-label': 'Filter tracks',
            oninput: () => this.setFilter(this.filterBox.value) });
        this.hidden = el('span', { class: 'badge', hidden: true });
        const tools = el('div', { class: 'tl-tools', role: 'toolbar', 'aria-label': 'Timeline' }, this.search.node,
            this.filterBox, this.hidden, button('Fit', () => this.act('fit')), button('Undo', () => this.act('undo')),
            button('Table', () => this.act('table')), button('Copy link', () => this.act('copyLink')), this.api.can('tiles') && perfettoButton(this.api));
        const node = el('div', { class: 'tl' });
        this.minimap = new Minimap(this);
        this.legendPlace = el('div');
        const names = timelineEdges(this, node);
        this.backPlace = el('span');
        tools.prepend(this.backPlace);
        add(main, add(node, this.bare ? null : [el('h1', { class: 'offscreen' }, 'Timeline'), tools],
            this.alert, this.bare ? null : el('div', { class: 'tl-map' }, this.minimap.canvas),
            el('div', { class: 'tl-body' }, this.names, names, el('div', { class: 'tl-stage' }, this.canvas, this.tip)),
                this.legendPlace, this.status, this.panelEdge, this.panel));
    }

    /* A row for each device on top: what it did at every moment. */
    async addRibbons() {
        const tracks = await this.ribbons.open();
        if (!this.gone) {
            this.rows.tracks.unshift(...tracks);
            this.rows.layout();
            this.bare || add(clear(this.legendPlace), timelineLegend(this.ribbons, this.rows.tracks));
            this.redraw();
        }
    }

    /* Phases come when the picture is there: they are looked for in all events. */
    async addPhases() {
        let doc = null;
        try {
            doc = await this.api.phases();
        } catch {
            return; // the timeline is whole without them
        }
        const tracks = phaseTracks(doc);
        const steps = this.rows.tracks.findLastIndex((track) => String(track.id).startsWith('steps '));
        if (tracks.length && !this.gone) {
            this.rows.tracks.splice(steps + 1, 0, ...tracks);
            this.rows.layout();
            this.redraw();
        }
    }

    /* What the address says. */
    apply(params) {
        const t0 = intParam(params, 't0', null);
        const t1 = intParam(params, 't1', null);
        t0 !== null && t1 > t0 ? this.view.set(t0, t1) : params.sel || this.view.fit();
        this.back = params.back || '';
        clear(this.backPlace);
        this.back && this.backPlace.append(backLink(this.back, this.report));
        (params.pin || '').split(',').filter(Boolean).forEach((id) => this.rows.pinned.add(/^\d+$/.test(id) ? Number(id) : id));
        this.notes = parseNotes(params.notes);
        this.filterBox.value = params.filter || '';
        this.rows.setFilter(params.filter || '');
        const a0 = intParam(params, 'a0', null);
        const a1 = intParam(params, 'a1', null);
        this.area = a0 !== null && a1 > a0 ? { t0: a0, t1: a1, tracks: this.eventTracks() } : null;
        this.areaView = params.view || this.areaView;
        params.track && this.goToTrack(params.track);
        params.q && this.search.run(params.q, false);
        const sel = intParam(params, 'sel', null);
        if (sel !== null) {
            this.select({ id: sel }, params.t0 === undefined);
        } else if (this.area && !params.track) {
            showArea(this, this.area);
        }
        this.redraw();
    }

    /* The evidence of a finding names its track: that one is brought into sight. */
    goToTrack(label) {
        const track = this.rows.tracks.find((t) => t.label === label)
            || this.rows.tracks.find((t) => t.label.includes(label) || label.includes(t.label));
        if (track) {
            this.current = track.id;
            this.intoSight(this.rows.reveal(track.id, 0));
        }
    }

    eventTracks() {
        return this.rows.lines.filter((line) => line.type === 'track' && hasEvents(line.track)
            && line.track.group !== 'counter').map((line) => line.id);
    }

    changed() {
        const now = performance.now();
        this.moving = now - this.moved < STILL_MS; // a single jump draws all names at once
        this.moved = now;
        this.redraw();
        clearTimeout(this.stillTimer);
        this.stillTimer = setTimeout(() => this.redraw(), STILL_MS + 20);
        clearTimeout(this.stateTimer);
        this.onView && this.onView();
        this.stateTimer = setTimeout(() => this.gone || this.bare || keepState('timeline', this.state()), STATE_MS);
    }

    state() {
        const { view, area, rows } = this;
        return { t0: Math.round(view.t0), t1: Math.round(view.t1),
            sel: this.selected && this.selected.id !== undefined ? this.selected.id : '',
            a0: area ? Math.round(area.t0) : '', a1: area ? Math.round(area.t1) : '', pin: [...rows.pinned].join(','),
            filter: rows.filter, q: this.search.text, back: this.back,
                view: area && this.areaView !== 'names' ? this.areaView : '',
                notes: this.notes.map((note) => `${Math.round(note.t)}~${note.text}`).join('|') };
    }

    redraw() {
        this.frame = this.frame || requestAnimationFrame(() => { this.frame = 0; this.gone || this.draw(); });
    }

    draw() {
        const width = this.canvas.clientWidth;
        const height = this.canvas.clientHeight;
        if (!width || !height) {
            return;
        }
        const ratio = devicePixelRatio || 1;
        if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
        }
        this.view.width = width;
        this.palette = this.palette || makePalette();
        this.scroll = Math.max(0, Math.min(this.scroll, this.rows.height + RULER_PX - height));
        this.data.begin();
        this.scene = { ctx: this.canvas.getContext('2d'), width, height, ratio, palette: this.palette,
            view: this.view, rows: this.rows, data: this.data, strips: this.strips,
            quick: this.moving && performance.now() - this.moved < STILL_MS,
            scroll: this.scroll, level: this.data.levelFor(this.view.nsPerPx), steps: this.steps,
                selected: this.selected, area: this.area, ribbons: this.ribbons, fit: fitText, texts: [],
            current: this.current, hits: this.search.ids, notes: this.notes };
        this.batch = drawTimeline(this.scene);
        this.data.end();
        findOuter(this);
        drawNames(this, height);
        this.bare || this.minimap.draw();
        this.tellStatus();
    }

    tellStatus() {
        const { view, batch } = this;
        const shown = `${fmtNs(view.span)} visible from ${fmtNs(Math.max(0, view.t0))}`;
        const loading = this.data.waiting ? '; loading' : '';
        this.status.textContent = `${shown}; ${fmtCount(batch.events)} events drawn, ${mergedText(batch)}${batch.rough ? '; rough while loading' : ''}${loading}` +
            (this.info.note ? `; ${this.info.note}` : '')
                + ((this.info.tracks || []).length ? '' : '; no event tracks here, only steps and findings');
        this.status.dataset.waiting = this.data.waiting;
        this.hidden.hidden = !this.rows.hidden;
        this.hidden.textContent = `${this.rows.hidden} tracks hidden`;
    }

    trouble(error) {
        clear(this.alert);
        error && this.alert.append(el('p', { class: 'trouble' }, error.message));
    }

    openPanel() {
        this.panel.hidden = false;
        this.panelEdge.hidden = false;
        this.redraw();
        return this.panel;
    }

    setFilter(text) {
        this.rows.setFilter(text);
        this.changed();
        announce(`${this.rows.hidden} tracks hidden`);
    }

    scrollBy(pixels) {
        const was = this.scroll;
        this.scroll = Math.max(0, Math.min(this.scroll + pixels,
            this.rows.height + RULER_PX - this.canvas.clientHeight));
        this.redraw();
        return this.scroll !== was;
    }

    intoSight(line) {
        const room = this.canvas.clientHeight - RULER_PX;
        if (line && (line.y < this.scroll || line.y + Math.min(line.h, room) > this.scroll + room)) {
            this.scroll = Math.max(0, line.y - room / 3);
        }
    }

    /* What is selected stays in sight when the room for the tracks changes. */
    keepInSight() {
        const { selected } = this;
        const line = selected && selected.start_ns !== undefined && this.rows.lineOf(selected.track);
        const room = this.canvas.clientHeight - RULER_PX;
        if (line && room > ROW_PX) {
            const row = Math.max(0, Math.min((selected.row || 0) - this.rows.skipOf(line.track), this.rows.rowsOf(line.track) - 1));
            const y = line.y + 2 + row * ROW_PX;
            this.scroll = y < this.scroll ? Math.max(0, y - ROW_PX) : y + 2 * ROW_PX > this.scroll + room ? y + 2 * ROW_PX - room : this.scroll;
        }
    }

    /* The event under a point of the canvas, as {track, row, …}; null: no event. */
    pick(x, y) {
        const line = y >= RULER_PX && this.rows.lineAt(y - RULER_PX + this.scroll);
        if (!line || line.type !== 'track' || !this.batch) {
            return null;
        }
        const row = Math.floor((y - RULER_PX + this.scroll - line.y - 2) / ROW_PX) + this.rows.skipOf(line.track);
        const t = this.view.time(x);
        const slack = 2 * this.view.nsPerPx;
        let best = null;
        let bestAway = Infinity;
        eachInSight(this.batch, (track, tile, i) => {
            if (track.id !== line.id || tile.rows[i] !== row) {
                return;
            }
            const [start, dur] = [tile.start(i), tile.dur(i)];
            const away = Math.abs(t - start - dur / 2);
            if (t >= start - slack && t <= start + dur + slack && away < bestAway) {
                bestAway = away;
                best = this.eventOf(track, tile, i);
            }
        });
        return best;
    }

    eventOf(track, tile, i) {
        return { id: track.own ? undefined : tile.id(i), track: track.id, row: tile.rows[i],
            start_ns: tile.start(i), dur_ns: tile.dur(i),
            name: tile.texts ? tile.texts[i] : this.data.name(tile.names[i]), count: tile.counts[i],
                kind: KINDS[tile.kinds[i]], own: track.own && tile.items[i] };
    }

    hover(x, y) {
        showTip(this, x, y);
    }

    click(x, y) {
        this.canvas.focus({ preventScroll: true });
        const event = this.pick(x, y);
        const line = y >= RULER_PX && this.rows.lineAt(y - RULER_PX + this.scroll);
        if (line && line.type === 'track') {
            this.current = line.id;
        }
        if (line && line.track && line.track.ribbon) {
            this.selectSegmentAt(line.track, this.view.time(x));
            return;
        }
        event ? this.select(event, false) : this.act('clear');
    }

    async select(event, move) {
        this.selected = event;
        this.area = null;
        if (event.own) {
            showOwn(this, event.own);
        } else {
            const known = event.start_ns !== undefined;
            known && move && this.bring(event);
            await showEvent(this, event);
            known || (this.selected === event && event.start_ns !== undefined && move && this.bring(event));
        }
        if (this.selected === event && event.start_ns !== undefined) {
            this.current = event.track;
            announce(`${event.name}, ${fmtNs(event.dur_ns)}, at ${fmtNs(event.start_ns)}`);
        }
        this.changed();
    }

    async selectSegmentAt(track, t) {
        const segment = await this.ribbons.segmentAt(track.ribbon, t, 2 * this.view.nsPerPx);
        segment ? this.selectSegment(track, segment) : this.act('clear');
    }

    /* A stretch of a ribbon: its cause, and what held the device up. */
    selectSegment(track, segment) {
        this.area = null;
        this.current = track.id;
        this.selected = { track: track.id, row: 0, start_ns: segment.start_ns, dur_ns: segment.dur_ns, segment };
        showSegment(this, track, segment);
        this.view.show(segment.start_ns, segment.dur_ns, false);
        this.keepInSight();
        this.changed();
    }

    bring(event) {
        this.view.show(event.start_ns, event.dur_ns, event.dur_ns < this.view.nsPerPx * 3);
        this.intoSight(this.rows.reveal(event.track, event.row || 0));
    }

    dragArea(x0, y0, x1, y1, done) {
        const [low, high] = [Math.min(y0, y1) - RULER_PX + this.scroll, Math.max(y0, y1) - RULER_PX + this.scroll];
        const times = [this.view.time(x0), this.view.time(x1)].sort((a, b) => a - b);
        const tracks = this.rows.lines.filter((line) => line.type === 'track' && hasEvents(line.track) && line.y < high
            && line.y + line.h > low).map((line) => line.id);
        this.setArea({ t0: Math.round(times[0]), t1: Math.round(times[1]), tracks }, done);
    }

    setArea(area, done) {
        this.selected = null;
        this.area = area;
        if (done) {
            showArea(this, area);
            announce(`${fmtNs(area.t1 - area.t0)} selected on ${area.tracks.length} tracks`);
            this.changed();
        }
        this.redraw();
    }

    showHit(index) {
        this.search.goTo(index);
    }

    showHits(found) {
        showHits(this, found);
    }

    act(action, event) {
        const actions = {
            fit: () => this.view.fit(),
            focus: () => focusSelection(this),
            undo: () => this.view.undo() || announce('nothing to undo'),
            trackUp: () => this.stepTrack(-1), trackDown: () => this.stepTrack(1),
            pageUp: () => this.scrollBy(-this.canvas.clientHeight / 2),
                pageDown: () => this.scrollBy(this.canvas.clientHeight / 2),
            enter: () => this.stepEvent(0), next: () => this.stepEvent(1), previous: () => this.stepEvent(-1),
            follow: () => this.follow('to'), followBack: () => this.follow('from'),
            area: () => this.setArea(this.selected && this.selected.start_ns !== undefined
                ? { t0: this.selected.start_ns, t1: this.selected.start_ns + Math.max(1, this.selected.dur_ns),
                    tracks: this.eventTracks() }
                : { t0: Math.max(0, Math.round(this.view.t0)), t1: Math.round(this.view.t1),
                    tracks: this.eventTracks() }, true),
            clear: () => this.selectNothing(),
            note: () => showNote(this),
            search: () => this.search.focus(), match: () => this.search.step(event && event.shiftKey ? -1 : 1),
            pin: () => this.current !== null
                && (announce(this.rows.togglePin(this.current) ? 'pinned' : 'no longer pinned'), this.changed()),
            fold: () => { const line = this.rows.lineOf(this.current); line
                && this.rows.toggleTrack(line.track); this.redraw(); },
            filter: () => this.filterBox.focus(),
            table: () => { showInSight(this, this.batch); this.panel.focus(); },
            copyLink: () => { keepState('timeline', this.state()); copyText(location.href); },
        };
        actions[action]();
    }

    selectNothing() {
        this.selected = null;
        this.area = null;
        this.panel.hidden = true;
        this.panelEdge.hidden = true;
        clear(this.panel);
        this.canvas.focus({ preventScroll: true });
        this.changed();
    }

    stepTrack(by) {
        const lines = this.rows.lines.filter((line) => line.type === 'track');
        const at = lines.findIndex((line) => line.id === this.current);
        const line = lines[Math.max(0, Math.min(lines.length - 1, at < 0 ? 0 : at + by))];
        if (line) {
            this.current = line.id;
            this.intoSight(line);
            announce(`track ${line.track.label}`);
            this.redraw();
        }
    }

    stepEvent(by) {
        stepEvent(this, by);
    }

    follow(direction) {
        const links = (this.selected && this.selected.links) || [];
        const other = links.find((candidate) => candidate.dir === direction) || links[0];
        other ? this.select({ ...other, links: undefined }, true) : announce('this event has no arrow');
    }
}
