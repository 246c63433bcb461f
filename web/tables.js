// SPDX-License-Identifier: Apache-2.0
// The analyses: each of stoker stats as figures, a chart that fits it, and its tables. If the profile lacks something
// for an answer, the page names the remedy. A row with a time opens the timeline there.

import { barChart, lineChart } from './charts.js';
import { add, announce, clear, el, facts, link, section, trouble, twin } from './dom.js';
import { fmtBytes, fmtCell, fmtCount, fmtNs, headingOf, titleOf } from './format.js';
import { partOf } from './parts.js';
import { rooflineChart, rooflinePoints } from './roofline.js';
import { goTo, hashOf } from './state.js';
import { dataTable, makeTable } from './table.js';

const BARS = 15; // of a chart

/* [id, short title, question]; the order is that of the list on the page. */
export const ANALYSES = [
    ['overview', 'Overview', 'What does this job do, at a glance?'],
    ['kernels', 'Kernels', "Which kernels take the most GPU time, and do they use tensor cores?"],
    ['ops', 'Operations', 'Which of the model\'s operations take the most time, on the CPU and on the GPU?'],
    ['input', 'Input pipeline', 'Does the input pipeline keep up, and which stage limits it?'],
    ['gaps', 'Gaps', 'When is the GPU idle, and what does the CPU do then?'],
    ['launches', 'Launches', 'Does the GPU wait for kernel launches?'],
    ['transfers', 'Transfers', 'Which copies cost time, and to or from which memory?'],
    ['comm', 'Communication', 'Which collectives cost time, and which rank do they wait for?'],
    ['balance', 'Balance', 'Do a host\'s devices do equal work at the same time?'],
    ['memory', 'Memory', 'What fills the memory, and when?'],
    ['startup', 'Start', 'How long does the job take to reach full speed?'],
    ['python', 'Python', "Which Python functions take CPU time, and whose code are they?"],
    ['roofline', 'Roofline', "How close do operations come to the GPU's limits?"],
    ['sequences', 'Sequences', 'Which repeated sequences of short kernels could be fused?'],
    ['machine', 'Machine', 'What did the machine do while the job ran: processes, limits, disks, GPUs?'],
    ['counters', 'Counters', 'What did the sampled counters show: clocks, power, temperature, activity?'],
];

export async function tablesPage(main, context) {
    const { api, params } = context;
    const list = el('nav', { class: 'tabs', 'aria-label': 'Analyses' });
    const place = el('div', { class: 'analysis', id: 'analysis' });
    const known = new Set(ANALYSES.map(([id]) => id));
    const here = [...ANALYSES.filter(([id]) => !api.tables || api.tables.includes(id)),
        ...(api.tables || []).filter((id) => !known.has(id)).map((id) => [id, titleOf(id), ''])];
    let wanted = 0;
    const show = async (id) => {
        const [name, title, question] = here.find(([a]) => a === id) || here[0];
        const turn = ++wanted;
        add(clear(list), here.map(([a, text]) => link(text, hashOf('tables', { a }),
            { 'aria-current': a === name ? 'true' : undefined })));
        add(clear(place), el('h1', {}, title), el('p', { class: 'muted' }, question), el('p', {}, 'Reading…'));
        const made = await analysis(api, name);
        if (turn === wanted) {
            place.lastChild.remove();
            add(place, made);
            place.dataset.analysis = name;
        }
    };
    context.update = async (next) => { await show(next.a); announce(place.firstChild.textContent); };
    add(main, list, place);
    await show(params.a);
}

async function analysis(api, name) {
    let doc;
    try {
        doc = await api.table(name);
    } catch (error) {
        return [trouble('This analysis could not be loaded', error)];
    }
    const summary = Object.entries(doc.summary || {});
    const figures = new Map((doc.figures || []).map(({ key, type, label }) => [key, { id: key, type, label }]));
    const figure = (id) => figures.get(id) || { id, type: 'number' };
    return [
        (doc.missing || []).length > 0 && el('div', { class: 'card' }, el('h2', {}, 'What the profile lacks'),
            el('ul', { class: 'issues', id: 'lacks' }, doc.missing.map((m) => el('li', {}, el('b', {}, m.what), `: ${m.why}. `,
                el('span', { class: 'muted' }, `What to do: ${m.remedy}`))))),
        summary.length > 0 && el('div', { class: 'card' }, el('h2', {}, 'Summary'),
            facts(summary.map(([id, value]) => [headingOf(figure(id)), fmtCell(value, figure(id))]))),
        chartOf(name, doc),
        (doc.tables || []).filter((t) => t.rows.length).map((table) => section(`t-${table.id}`, table.title,
            tableWithTimes(table))),
        emptyTables(doc),
    ];
}

/* Tables without rows, gray: why they are empty is above, where the profile lacks something; else there was nothing to list. */
function emptyTables(doc) {
    const empty = (doc.tables || []).filter((table) => !table.rows.length);
    const lacks = (doc.missing || []).length > 0;
    return empty.length > 0 && el('div', { class: 'card empty-tables muted', id: 'empty-tables' },
        el('h2', {}, lacks ? 'Empty, as the profile lacks data for it' : 'Empty: nothing of this kind happened'),
        el('ul', {}, empty.map((table) => el('li', {}, table.title))));
}

/* Rows that say when get a link to that time. */
function tableWithTimes(table) {
    const start = table.columns.findIndex((c) => c.id === 'start_ns' || c.id === 't_ns');
    const dur = table.columns.findIndex((c) => c.id === 'dur_ns');
    if (start < 0) {
        return dataTable(table);
    }
    return dataTable(table, { rowTitle: 'Open in the timeline', onRow: (row) => {
        const length = (dur >= 0 && row[dur]) || 1e6;
        goTo('timeline', { t0: Math.round(row[start] - length * 0.3), t1: Math.round(row[start] + length * 1.3) });
    } });
}

function find(doc, id) {
    return (doc.tables || []).find((table) => table.id === id && table.rows.length > 0);
}

function columnsOf(table, ...ids) {
    return ids.map((id) => table.columns.findIndex((c) => c.id === id));
}

function chartCard(title, picture, table) {
    return picture && section('chart', title, twin(title, picture, () => dataTable(table)));
}

/* Bars of column `value` labeled by `name`, longest first. */
function barsOf(doc, id, title, name, value, { note, group, label } = {}) {
    const table = find(doc, id);
    if (!table) {
        return null;
    }
    const [n, v, extra] = columnsOf(table, name, value, note);
    const rows = table.rows.filter((row) => row[v] > 0).sort((a, b) => b[v] - a[v]).slice(0, BARS);
    const items = rows.map((row) => ({ label: (label ? label(row[n]) : String(row[n] ?? 'unknown'))
        + (note && extra >= 0 && row[extra] !== null ? ` · ${fmtCell(row[extra], table.columns[extra])}` : ''),
        value: row[v], text: fmtCell(row[v], table.columns[v]), group }));
    const heading = `${title}: the first ${rows.length}`;
    return rows.length ? chartCard(heading, barChart(heading, items, { group }), table) : null;
}

function linesOf(doc, id, title, time, value, by, format, under) {
    const table = find(doc, id);
    if (!table) {
        return null;
    }
    const [t, v] = columnsOf(table, time, value);
    const keys = by.map((key) => columnsOf(table, key)[0]);
    const series = new Map();
    for (const row of table.rows) {
        const name = keys.map((k) => row[k]).filter((x) => x !== null && x !== undefined).join(' ');
        if (row[t] !== null && row[v] !== null) {
            series.has(name) || series.set(name, []);
            series.get(name).push([row[t], row[v]]);
        }
    }
    const list = [...series].map(([name, points]) => ({ name, points: points.sort((a, b) => a[0] - b[0]) }));
    return list.length ? chartCard(`${title}, drawn`, lineChart(title, list, format, under), table) : null;
}

/* Memory over time, and under it what is in use at the cursor: by operation, the largest first, and the rest. */
function memoryOverTime(doc) {
    const table = find(doc, 'live');
    const live = new Map(); // "device allocator" and time -> [[op, bytes, blocks], …]
    if (table) {
        const [device, time, op, bytes, blocks, allocator] = columnsOf(table, 'device', 't_ns', 'op', 'bytes', 'blocks', 'allocator');
        for (const row of table.rows) {
            const key = `${[row[device], row[allocator]].filter((x) => x !== null && x !== undefined).join(' ')} ${row[time]}`;
            live.has(key) || live.set(key, []);
            live.get(key).push([row[op], row[bytes], row[blocks]]);
        }
    }
    const under = (places) => places.map(({ name, t, value }) => {
        const rows = live.get(`${name} ${t}`) || [];
        const rest = value - rows.reduce((sum, row) => sum + row[1], 0);
        const items = rows.map(([op, size, blocks]) => ({ label: `${op ?? 'unknown'}${blocks ? ` · ${fmtCount(blocks)} ${blocks === 1 ? 'block' : 'blocks'}` : ''}`,
            value: size, text: fmtBytes(size), group: blocks ? 'transfer' : 'unknown' }));
        rest > 0 && items.push({ label: 'other operations', value: rest, text: fmtBytes(rest), group: 'transfer' });
        items.sort((a, b) => b.value - a.value);
        return rows.length > 0 && [el('h3', {}, `In use at the cursor, ${name}: ${fmtBytes(value)}`), barChart(`In use at the cursor, ${name}`, items)];
    });
    return linesOf(doc, 'timeline', 'Memory in use', 't_ns', 'bytes', ['device', 'allocator'], fmtBytes, table && under);
}

/* Exposed and waiting time of collectives summed by rank. */
function ranksOf(doc) {
    const table = find(doc, 'collectives');
    if (!table) {
        return null;
    }
    const [rank, exposed, waited] = columnsOf(table, 'rank', 'exposed_ns', 'wait_ns');
    const sums = new Map();
    for (const row of table.rows) {
        const sum = sums.get(row[rank]) || [0, 0];
        sums.set(row[rank], [sum[0] + row[exposed], sum[1] + (row[waited] || 0)]);
    }
    const rows = [...sums].map(([r, [e, w]]) => [r, e, w]);
    const items = rows.flatMap(([r, e, w]) => [{ label: `rank ${r} exposed`, value: e, text: fmtNs(e), group: 'comm' },
        { label: `rank ${r} waiting`, value: w, text: fmtNs(w), group: 'unknown' }]);
    return chartCard('Collectives by rank', barChart('Collectives by rank', items),
        makeTable('by_rank', 'Collectives by rank', [['rank', 'count'], ['exposed_ns', 'ns'], ['wait_ns', 'ns']],
            rows));
}

function gapCauses(doc) {
    const table = find(doc, 'gaps');
    if (!table) {
        return null;
    }
    const [dur, cause] = columnsOf(table, 'dur_ns', 'cause');
    const sums = new Map();
    table.rows.forEach((row) => sums.set(row[cause], (sums.get(row[cause]) || 0) + row[dur]));
    const rows = [...sums].sort((a, b) => b[1] - a[1]);
    const items = rows.map(([id, ns]) => ({ label: partOf(id).label, value: ns, text: fmtNs(ns),
        group: partOf(id).group }));
    return chartCard('Idle time by cause', barChart('Idle time by cause', items),
        makeTable('causes', 'Idle time by cause', [['cause', 'text'], ['idle_ns', 'ns']], rows));
}

/* The pipeline as a tree where stages are named by their place (Iterator::Root::Batch::Map). */
function pipelineTree(doc) {
    const table = find(doc, 'stages');
    if (!table) {
        return null;
    }
    const [stage, self, limiting, each] = columnsOf(table, 'stage', 'self_ns', 'limiting', 'per_element_ns');
    const rows = [...table.rows].sort((a, b) => String(a[stage]).localeCompare(String(b[stage])));
    const tree = rows.filter((row) => row[self] > 0).slice(0, 40).map((row) => {
        const path = String(row[stage]).split('::');
        const depth = Math.max(0, path.length - 2);
        return { label: '\u2003'.repeat(Math.min(depth, 10)) + path[path.length - 1]
            + (row[limiting] ? ' (limits)' : '') +
            (row[each] ? ` · ${fmtNs(row[each])} an element` : ''), value: row[self], text: fmtNs(row[self]),
                group: row[limiting] ? 'input' : 'transfer' };
    });
    return tree.length ? chartCard('Own work of each stage', barChart('Own work of each stage', tree), table) : null;
}

function rooflineOf(doc) {
    const table = find(doc, 'roofline');
    const points = table ? rooflinePoints(table).sort((a, b) => b.ns - a.ns) : [];
    return points.length ? chartCard("Operations below the device's limits", rooflineChart(points), table) : null;
}

const CHARTS = {
    overview: (doc) => barsOf(doc, 'top_ops', 'Operations by self time', 'name', 'self_ns', { note: 'placement' }),
    kernels: (doc) => barsOf(doc, 'kernels', 'Kernels by total time', 'name', 'total_ns', { note: 'total_share' }),
    ops: (doc) => barsOf(doc, 'ops', 'Operations by self time', 'name', 'self_ns',
        { note: 'placement', group: 'cold' }),
    input: pipelineTree,
    gaps: gapCauses,
    launches: (doc) => linesOf(doc, 'queue', 'Launched work waiting to start', 'start_ns', 'mean_depth', ['device'],
        fmtCount) ||
        barsOf(doc, 'launches', 'Median delay from launch to kernel', 'device', 'median_ns', { group: 'host' }),
    transfers: (doc) => barsOf(doc, 'transfers', 'Copy bandwidth', 'direction', 'bytes_per_s',
        { note: 'device', group: 'transfer' }),
    comm: ranksOf,
    balance: (doc) => barsOf(doc, 'balance', 'Busy time by device', 'device', 'busy_ns'),
    memory: memoryOverTime,
    startup: (doc) => barsOf(doc, 'phases', 'Startup phases', 'phase', 'dur_ns',
        { group: 'cold', label: (text) => String(text).replaceAll('_', ' ') }),
    python: (doc) => barsOf(doc, 'functions', 'Python functions by self time', 'function', 'self_ns',
        { note: 'code', group: 'host' }),
    roofline: rooflineOf,
    sequences: (doc) => barsOf(doc, 'sequences', 'Upper bound of what fusing saves', 'chain', 'saving_bound_ns'),
    counters: (doc) => barsOf(doc, 'counters', 'Counters: largest sample', 'counter', 'max',
        { note: 'unit', group: 'cold' }),
};

function chartOf(name, doc) {
    return CHARTS[name] ? CHARTS[name](doc) : null;
}

