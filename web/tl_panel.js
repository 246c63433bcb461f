// SPDX-License-Identifier: Apache-2.0
// The panel under the timeline: the selected event with its arguments, links and all runs of its name
// as a histogram; a stretch of a ribbon with what the CPU called in it; the selected area (tl_area.js); the matches of
// a search; the events in sight as a table. Statistics are the server's: of all events, not of merged ones.

import { add, button, clear, codeBlock, el, facts } from './dom.js';
import { fmtCount, fmtNs, fmtShare } from './format.js';
import { partOf } from './parts.js';
import { holderOf, placeText } from './ribbon.js';
import { dataTable, makeTable } from './table.js';
import { areaViews, cpuDuring } from './tl_area.js';
import { eachInSight } from './tl_draw.js';
import { tellSegment } from './tl_ribbon.js';

const IN_SIGHT_ROWS = 2000;

export function panelHead(page, title, ...more) {
    return el('div', { class: 'panel-head' }, el('h2', {}, title), more,
        button('Close', () => page.act('clear'), { class: 'quiet', 'aria-label': 'Close the panel' }));
}

export async function showEvent(page, event) {
    const panel = page.openPanel();
    add(clear(panel), panelHead(page, event.name || 'Event'), el('p', { class: 'muted' }, 'Reading…'));
    let detail;
    try {
        detail = await page.api.event(event.id);
    } catch (error) {
        panel.lastChild.remove();
        add(panel, eventFacts(page, event), el('p', { class: 'muted' }, `The details could not be loaded: ${error.message}`));
        return event;
    }
    if (page.selected !== event) {
        return event;
    }
    Object.assign(event, detail, { count: event.count });
    const runs = el('div', { class: 'runs' });
    add(clear(panel), panelHead(page, detail.name, button('Zoom to it', () => page.act('focus'), { class: 'quiet' })),
        el('div', { class: 'panel-columns' },
            el('div', {}, eventFacts(page, event), argTable(detail.args || []), leftOut(detail), linkList(page, detail)), runs));
    showRuns(page, runs, event);
    return event;
}

function eventFacts(page, event) {
    const track = page.rows.tracks.find((t) => t.id === event.track);
    return facts([['start', fmtNs(event.start_ns)], ['duration', fmtNs(event.dur_ns)],
        event.kind && ['kind', String(event.kind).replaceAll('_', ' ')],
        event.step !== undefined && event.step !== null && ['step', String(event.step)],
            track && ['track', track.label],
        event.self_ns !== undefined && ['self', fmtNs(event.self_ns)],
        event.count > 1 && ['stands for', `${fmtCount(event.count)} events merged at this zoom`]]);
}

/* What the answer says that it lacks. */
function leftOut(detail) {
    const lines = [detail.args_error && `Its arguments could not be loaded: ${detail.args_error}`,
        detail.args_left_out && `${fmtCount(detail.args_left_out)} more arguments`,
        detail.links_left_out && `${fmtCount(detail.links_left_out)} more links`].filter(Boolean);
    return lines.map((line) => el('p', { class: 'muted' }, line));
}

/* Arguments: names and values as recorded, long ones as code. */
function argTable(args) {
    const long = args.filter(([, value]) => String(value).length > 160);
    const short = args.filter(([, value]) => String(value).length <= 160);
    return args.length > 0 && el('div', {},
        short.length > 0 && el('table', { class: 'args' }, el('caption', {}, 'Arguments'),
        el('tbody', {}, short.map(([key, value]) => el('tr', {}, el('th', { scope: 'row' }, key),
            el('td', {}, String(value)))))),
    long.map(([key, value]) => el('div', {}, el('h3', {}, key), codeBlock(String(value), key))));
}

function linkList(page, detail) {
    const links = detail.links || [];
    return links.length > 0 && el('div', {}, el('h3', {}, 'Linked'),
        el('ul', { class: 'plain' }, links.slice(0, 50).map((other) =>
        el('li', {}, other.dir === 'from' ? 'launched by ' : 'launches ',
            button(other.name, () => page.select(other, true), { class: 'cell-link' }),
            ` (${fmtNs(other.dur_ns)}, ${fmtNs(Math.abs(other.start_ns - detail.start_ns))} ${other.start_ns < detail.start_ns ? 'before' : 'later'})`))),
    links.length > 50 && el('p', { class: 'muted' }, `and ${links.length - 50} more`));
}

/* All runs of the event's name: a bar a bin, each a button that selects its longest run. */
async function showRuns(page, place, event) {
    let runs;
    try {
        runs = await page.api.runs(event.id);
    } catch {
        return; // a single-file report has none
    }
    if (page.selected !== event || runs.count < 2) {
        return;
    }
    const most = runs.bins.reduce((max, bin) => Math.max(max, bin.count), 1);
    add(place, el('h3', {}, `All ${fmtCount(runs.count)} runs`),
        facts([['shortest', fmtNs(runs.min_ns)], ['median', fmtNs(runs.median_ns)], ['p95', fmtNs(runs.p95_ns)],
            ['longest', fmtNs(runs.max_ns)],
            runs.total_ns !== undefined && ['sum', fmtNs(runs.total_ns)]]),
        el('div', { class: 'histogram', role: 'group',
            'aria-label': 'Runs by duration; each bar selects its longest run' }, runs.bins.map((bin) => {
            const fill = el('span', { class: 'histogram-fill', 'aria-hidden': 'true' });
            fill.style.height = `${bin.count ? Math.max(4, bin.count / most * 100) : 0}%`;
            const holds = event.dur_ns >= bin.from_ns && event.dur_ns <= bin.to_ns;
            const label = `${fmtCount(bin.count)} runs from ${fmtNs(bin.from_ns)} to ${fmtNs(bin.to_ns)}${holds ? ', including this one' : ''}`;
            return el('button', { type: 'button', class: holds ? 'histogram-bar here' : 'histogram-bar', title: label,
                'aria-label': label,
                disabled: !bin.longest, onclick: () => page.select(bin.longest, true) }, fill);
        })),
        el('div', { class: 'histogram-axis muted' }, el('span', {}, fmtNs(runs.min_ns)),
            el('span', {}, fmtNs(runs.max_ns))));
}

/* A stretch of a device's ribbon; those of the same cause before and after it. */
export function showSegment(page, track, segment) {
    const part = partOf(segment.part);
    const go = (by, text) => {
        const to = page.ribbons.neighbour(track.ribbon, segment, by, segment.part);
        return button(text, () => page.selectSegment(track, to), { class: 'quiet', disabled: !to,
            'aria-label': `${by < 0 ? 'Previous' : 'Next'} stretch of ${part.label}` });
    };
    const calls = el('div', { class: 'segment-calls' });
    tellSegment(segment, part.label);
    add(clear(page.openPanel()), panelHead(page, [el('span', { class: `swatch g-${part.group} p-${part.pattern}`, 'aria-hidden': 'true' }), ` ${part.label}, ${fmtNs(segment.dur_ns)}`],
        go(-1, '◀'), go(1, '▶'), button('Zoom to it', () => page.act('focus'), { class: 'quiet' })),
    el('p', {}, part.meaning), facts([['start', fmtNs(segment.start_ns)], holderOf(segment) && ['held up by', holderOf(segment)],
        placeText(segment) && ['code', el('span', { class: 'mono' }, `${segment.file}:${segment.line}`)],
        segment.name && ['event', segment.event === null ? segment.name
            : button(segment.name.slice(0, 200), () => page.select({ id: segment.event }, true), { class: 'cell-link', id: 'segment-event' })]]), calls);
    cpuDuring(page, track, segment, calls);
}

export function showArea(page, area) {
    const title = `${fmtNs(area.t1 - area.t0)} selected, ${fmtCount(area.tracks.length)} ${area.tracks.length === 1 ? 'track' : 'tracks'}`;
    add(clear(page.openPanel()), panelHead(page, title, button('Zoom to it', () => page.act('focus'), { class: 'quiet' })),
        areaViews(page, area));
}

export function showHits(page, found) {
    const panel = page.openPanel();
    const columns = [['name', 'text'], ['start_ns', 'ns'], ['dur_ns', 'ns'], ['track', 'text']];
    const labels = new Map(page.rows.tracks.map((track) => [track.id, track.label]));
    const rows = found.hits.map((hit) => [hit.name, hit.start_ns, hit.dur_ns,
        labels.get(hit.track) || String(hit.track)]);
    const byRow = new Map(rows.map((row, i) => [row, i]));
    const left = found.count - found.hits.length;
    add(clear(panel), panelHead(page, `${fmtCount(found.count)} matches`),
        left > 0 && el('p', { class: 'muted' },
            `The first ${fmtCount(found.hits.length)} are listed; ${fmtCount(left)} more match.`),
        dataTable(makeTable('matches', 'Matches', columns, rows),
            { rowTitle: 'Show in the timeline', onRow: (row) => page.showHit(byRow.get(row)) }));
}

/* The table twin of the picture: what is drawn, longest first. */
export function showInSight(page, batch) {
    const labels = new Map(page.rows.tracks.map((track) => [track.id, track.label]));
    const rows = [];
    const seen = new Set();
    eachInSight(batch, (track, tile, i) => {
        const key = `${track.id} ${tile.start(i)} ${tile.id(i)}`;
        if (!seen.has(key)) {
            seen.add(key);
            rows.push([tile.texts ? tile.texts[i] : page.data.name(tile.names[i]), labels.get(track.id) || '',
                tile.start(i), tile.dur(i), tile.counts[i], tile.id(i), track.id, tile.rows[i]]);
        }
    });
    rows.sort((a, b) => b[3] - a[3]);
    const listed = rows.slice(0, IN_SIGHT_ROWS);
    const columns = [['name', 'text'], ['track', 'text'], ['start_ns', 'ns'], ['dur_ns', 'ns'], ['events', 'count']];
    const table = makeTable('in_sight', 'Visible events', columns, listed);
    table.rows_left_out = rows.length - listed.length;
    add(clear(page.openPanel()), panelHead(page, 'Visible events'), dataTable(table, { rowTitle: 'Select',
        onRow: (row) => page.select({ id: row[5], name: row[0], track: row[6], row: row[7], start_ns: row[2],
            dur_ns: row[3], count: row[4] }, true) }));
}

/* A step or a finding of the report: the page's own tracks. */
export function showOwn(page, item) {
    const step = item.step;
    add(clear(page.openPanel()), panelHead(page, item.text,
        button('Zoom to it', () => page.act('focus'), { class: 'quiet' })),
        facts([['start', fmtNs(item.start_ns)], ['duration', fmtNs(item.dur_ns)],
            step && step.device !== undefined && ['device', step.device]]),
        step && dataTable(makeTable('parts', 'Parts of the step',
            [['part', 'text'], ['time_ns', 'ns'], ['share', 'share']],
            Object.entries(step.parts || {}).map(([id, ns]) => [id.replaceAll('_', ' '), ns,
                ns / (step.dur_ns || 1)])), { sortBy: 'time_ns' }),
        item.finding && el('p', {}, item.finding), item.note && el('p', { class: 'muted' }, item.note));
}

export function mergedText(batch) {
    return batch.merged > 0 ? `${fmtCount(batch.merged)} merged at this zoom (${fmtShare(batch.merged / (batch.merged + batch.events))})` : 'none merged';
}

/* A note at what is selected, or in the middle of the view; those that are there. */
export function showNote(page) {
    const t = page.selected && page.selected.start_ns !== undefined ? page.selected.start_ns : page.area
        ? page.area.t0 : page.view.t0 + page.view.span / 2;
    const field = el('input', { type: 'text', maxlength: 80, 'aria-label': 'Text of the note' });
    const save = () => {
        page.notes.push({ t, text: field.value.replaceAll(/[|~]/g, ' ').trim() || 'note' });
        page.selectNothing();
    };
    field.addEventListener('keydown', (event) => event.key === 'Enter' && save());
    add(clear(page.openPanel()), el('div', { class: 'panel-head' }, el('h2', {}, `Note at ${fmtNs(t)}`)),
        el('div', { class: 'tools' }, field, button('Save', save), button('Cancel', () => page.selectNothing())),
        page.notes.length > 0 && el('ul', { class: 'plain' },
            page.notes.map((note) => el('li', {}, `${fmtNs(note.t)}: ${note.text} `,
                button('Remove', () => { page.notes = page.notes.filter((other) => other !== note); page.selectNothing(); }, { class: 'quiet' })))));
    field.focus();
}
