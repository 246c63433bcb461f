// SPDX-License-Identifier: Apache-2.0
// What a range of time of the timeline holds, in three views: sums by name, a flame graph, a call tree.
// Threads of the CPU and streams of devices have a tree each: their times are not of one kind.

import { flameGraph } from './flame.js';
import { callTable, callTree, outerCalls } from './calls.js';
import { add, announce, button, clear, el, trouble } from './dom.js';
import { fmtCount } from './format.js';
import { dataTable, makeTable } from './table.js';

const SIDES = [['cpu', 'CPU threads', ['host', 'input']], ['gpu', 'device streams', ['device', 'comm']], ['other', 'other tracks', ['other']]];
const VIEWS = [['names', 'By name'], ['flame', 'Flame graph'], ['tree', 'Call tree']];

/* The three views of [t0, t1) on some tracks; what is chosen stays for the next range (page.areaView). */
export function areaViews(page, area) {
    const place = el('div', { class: 'area-place' });
    const groups = new Map(page.rows.tracks.map((track) => [track.id, track.group]));
    const sides = SIDES.map(([id, label, of]) => ({ id, label, tracks: area.tracks.filter((track) => of.includes(groups.get(track))) }))
        .filter((side) => side.tracks.length);
    const side = el('select', { 'aria-label': 'Calls on', onchange: () => { page.areaSide = side.value; show(); } },
        sides.map(({ id, label }) => el('option', { value: id }, label)));
    side.value = sides.some(({ id }) => id === page.areaSide) ? page.areaSide : sides.length ? sides[0].id : '';
    const tabs = VIEWS.map(([id, text]) => button(text, () => { page.areaView = id; show(); page.changed(); }, { class: 'quiet', 'data-view': id }));
    let turn = 0;
    const show = async () => {
        const mine = ++turn;
        const view = page.areaView || 'names';
        tabs.forEach((tab) => tab.setAttribute('aria-pressed', String(tab.dataset.view === view)));
        side.hidden = view === 'names' || sides.length < 2;
        place.setAttribute('aria-busy', 'true');
        const made = await (view === 'names' ? namesOf(page, area)
            : callsOf(page, area, sides.find(({ id }) => id === side.value), view));
        if (mine === turn) {
            place.removeAttribute('aria-busy');
            add(clear(place), made);
        }
    };
    show();
    return el('div', { class: 'area-views' }, el('div', { class: 'tools', role: 'group', 'aria-label': 'View of the selection' }, tabs, side), place);
}

async function namesOf(page, area) {
    try {
        const table = (await page.api.area(area.t0, area.t1, area.tracks)).tables[0];
        const place = el('div', {}, dataTable(table, { label: 'Events of the area by name', sortBy: 'total_ns' }));
        return [areaTools(table, place), place];
    } catch (error) {
        return trouble('The statistics could not be loaded', error);
    }
}

async function callsOf(page, area, side, view) {
    if (!side) {
        return el('p', { class: 'muted' }, 'No thread or stream is selected, so there are no calls. Drag over the rows of a thread.');
    }
    let tree;
    try {
        tree = callTree(await page.api.calls(area.t0, area.t1, side.tracks));
    } catch (error) {
        return trouble('The calls could not be loaded', error);
    }
    return callsBlock(page, tree, view, side.label);
}

/* A flame graph or a table of a tree, with what it leaves out. */
function callsBlock(page, tree, view, label) {
    if (!tree.roots.length) {
        return el('p', { class: 'muted' }, `Nothing ran on the ${label} in this time.`);
    }
    const onShow = (call) => page.select({ id: call.longest }, true);
    const outer = outerCalls(tree);
    const inner = outer.length ? outer[outer.length - 1].inner : tree.roots;
    announce(view === 'flame' ? 'flame graph' : 'call tree');
    return [view === 'flame' ? flameGraph(tree, onShow) : [outer.length > 0 && el('p', { class: 'muted' },
        `${fmtCount(outer.length)} outer ${outer.length === 1 ? 'frame' : 'frames'} around everything left out: ${outer.map((call) => call.name).slice(0, 3).join(' › ')}${outer.length > 3 ? ' › …' : ''}`),
    callTable(tree, inner, onShow)],
    tree.left_out > 0 && el('p', { class: 'muted' }, `${fmtCount(tree.left_out)} shorter calls are not shown; their time is in their callers'.`)];
}

/* What the CPU did while a device waited: for the panel of a stretch of the ribbon. */
export async function cpuDuring(page, track, segment, place) {
    if (!page.api.can('tiles')) {
        add(place, el('p', { class: 'muted' }, 'What the CPU called in this time is not in this file. Run stoker view PROFILE to see it.'));
        return;
    }
    const ranks = new Set(page.rows.tracks.filter((other) => other.device === track.ribbon && other.rank !== null).map((other) => other.rank));
    const threads = page.rows.tracks.filter((other) => ['host', 'input'].includes(other.group) && (!ranks.size || ranks.has(other.rank)));
    if (threads.length) {
        const side = { label: 'CPU threads', tracks: threads.map((other) => other.id) };
        const made = await callsOf(page, { t0: segment.start_ns, t1: segment.start_ns + Math.max(1, segment.dur_ns) }, side, 'flame');
        page.selected && page.selected.segment === segment && add(place, el('h3', {}, 'What the CPU did in this time'), made);
    }
}

/* The pivot: the same figures by another column of text. Sums and counts add up; a union does not. */
function areaTools(table, place) {
    const keys = table.columns.filter((column) => column.type === 'text').map((column) => column.id);
    if (keys.length < 2) {
        return null;
    }
    const choose = el('select', { 'aria-label': 'Sum by', onchange: () => add(clear(place),
        choose.value === keys[0] ? dataTable(table, { sortBy: 'total_ns' })
            : dataTable(pivot(table, choose.value), { sortBy: 'total_ns' })) },
    keys.map((key) => el('option', { value: key }, `by ${key}`)));
    return el('div', { class: 'tools' }, choose);
}

export function pivot(table, key) {
    const at = (id) => table.columns.findIndex((column) => column.id === id);
    const [k, count, total, largest] = [at(key), at('count'), at('total_ns'), at('max_ns')];
    const sums = new Map();
    for (const row of table.rows) {
        const sum = sums.get(row[k]) || [row[k], 0, 0, 0];
        sums.set(row[k], [row[k], sum[1] + row[count], sum[2] + row[total], Math.max(sum[3], row[largest] ?? 0)]);
    }
    return makeTable(`by_${key}`, `By ${key}`,
        [[key, 'text'], ['count', 'count'], ['total_ns', 'ns'], ['max_ns', 'ns']], [...sums.values()]);
}
