// SPDX-License-Identifier: Apache-2.0
// Run: a folder of stoker run, also while the job goes on: its steps and waits as the hooks record them, what the
// machine did meanwhile, and stoker run's summary once the job has ended. The folder is read again every few seconds
// while the job runs; a box stops that.

import { add, announce, clear, el, facts, link, section, trouble, twin } from './dom.js';
import { fmtCount, fmtNs, fmtShare } from './format.js';
import { hashOf } from './state.js';
import { lineChart } from './charts.js';
import { dataTable, makeTable } from './table.js';

const REFRESH_MS = 2000;
const LAST = 100; // steps that "now" is of
const POINTS_KEPT = 1000; // of a line of the machine
const [NUMBER, END, DUR, WAIT] = [0, 1, 2, 3]; // of a step's row

export async function runPage(main, context) {
    const { extras } = await context.api.info();
    const runs = extras.map((extra, n) => ({ ...extra, n })).filter((extra) => extra.kind === 'run');
    const page = { context, place: el('div', { class: 'analysis' }), runs, at: runs[0].n, timer: 0, ended: false,
        history: new Map(), opened: performance.now() };
    const box = el('input', { type: 'checkbox', id: 'run-refresh', checked: true,
        onchange: () => (box.checked ? refresh(page) : clearTimeout(page.timer)) });
    page.box = box;
    const choose = runs.length > 1 && el('select', { 'aria-label': 'Run',
        onchange: () => { page.at = Number(choose.value); page.history.clear(); page.ended = false; refresh(page); } },
    runs.map((run) => el('option', { value: run.n }, run.name)));
    page.tools = el('div', { class: 'tools' }, choose, el('label', { for: 'run-refresh' }, box, 'Refresh while the job runs'));
    add(main, el('h1', {}, runs.length > 1 ? 'Runs' : `Run in ${runs[0].name}`), page.tools, page.place);
    context.leave = () => { page.gone = true; clearTimeout(page.timer); };
    await refresh(page);
}

async function refresh(page) {
    clearTimeout(page.timer);
    try {
        const doc = await page.context.api.extra(page.at);
        if (page.gone) {
            return;
        }
        add(clear(page.place), runBlocks(doc, page));
        const over = Boolean(doc.run);
        over && !page.ended && page.drawn && announce('The job has ended');
        Object.assign(page, { ended: over, drawn: true });
        page.tools.hidden = over && page.runs.length === 1;
    } catch (error) {
        page.gone || add(clear(page.place), trouble('The run could not be read', error));
    }
    if (!page.gone && page.box.checked && !page.ended) {
        page.timer = setTimeout(() => refresh(page), REFRESH_MS);
    }
}

function runBlocks(doc, page) {
    const lead = [...doc.processes].sort((a, b) => b.count - a.count)[0];
    if (!lead) {
        return [section('run-steps', 'No steps yet', el('p', {}, 'The hooks haven\'t seen a step yet. ',
            'The job may still be starting, or use a loop that they don\'t know.')), endBlock(doc), machineBlock(doc, page)];
    }
    return [factsBlock(doc, lead, page), runSteps('run-steps', 'Time of each step', lead), rankBlock(doc), endBlock(doc),
        machineBlock(doc, page)];
}

function median(values) {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted.length ? sorted[(sorted.length - 1) >> 1] : undefined;
}

function factsBlock(doc, lead, page) {
    const last = lead.steps.slice(-LAST);
    const time = last.reduce((sum, row) => sum + row[DUR], 0);
    const wait = last.reduce((sum, row) => sum + Math.min(row[WAIT], row[DUR]), 0);
    const states = ['none', 'being recorded', 'recorded', 'left out'];
    const info = page.context.api.can('report');
    return section('run-now', doc.run ? 'The job has ended' : 'The job is running', facts([
        ['framework', lead.framework || 'unknown'], ['steps', fmtCount(lead.count)],
        ['training processes', fmtCount(doc.processes.length)],
        [`median of the last ${fmtCount(last.length)}`, fmtNs(median(last.map((row) => row[DUR])))],
        ['of that, waiting for input', lead.wait_ns === undefined || !time ? 'unknown' : fmtShare(wait / time)],
        ['profiled window', states[lead.window_state] || 'unknown'],
    ]),
    info ? el('p', {}, link('Why the steps take this long', hashOf('why')), ', from the profiled window.')
        : el('p', { class: 'muted' }, doc.run || lead.window_state === 2
            ? 'Restart stoker view for the diagnosis of the recorded window.'
            : 'The diagnosis follows once a window is profiled.'),
    lead.notes && el('ul', {}, lead.notes.split('\n').filter(Boolean).map((note) => el('li', {}, note))));
}

function runSteps(id, title, lead) {
    if (lead.steps.length < 2) {
        return null;
    }
    const first = lead.steps[0][END] - lead.steps[0][DUR];
    const at = (key) => lead.steps.map((row) => [row[END] - first, row[key]]);
    const series = [{ name: 'step', points: at(DUR) }];
    lead.wait_ns !== undefined && series.push({ name: 'of that, waiting for input', points: at(WAIT) });
    const columns = [['step', 'count'], ['end_ns', 'ns'], ['dur_ns', 'ns'], ['wait_ns', 'ns']];
    return section(id, title, twin(title, lineChart(title, series, fmtNs), () => dataTable(makeTable('steps', title, columns,
        lead.steps.map((row) => [row[NUMBER], row[END] - first, row[DUR], lead.wait_ns === undefined ? null : row[WAIT]])))),
    el('p', { class: 'muted' }, lead.every > 1 ? `Each point is the longest of ${fmtCount(lead.every)} steps. ` : '',
        series.length > 1 ? 'Dashed line: waiting for input.' : 'The hooks can\'t see input waits here.'));
}

function rankBlock(doc) {
    if (doc.processes.length < 2) {
        return null;
    }
    const rows = doc.processes.map((p) => [p.rank, p.pid, p.count, median(p.steps.map((row) => row[DUR])) ?? null,
        p.wait_ns !== undefined && p.step_ns ? p.wait_ns / p.step_ns : null]);
    return section('run-ranks', 'Processes', dataTable(makeTable('processes', 'Processes', [['rank', 'count'], ['pid', 'text'],
        ['steps', 'count'], ['median_ns', 'ns'], ['wait_share', 'share']], rows)));
}

/* What stoker run wrote at the end (stoker.run/1). */
function endBlock(doc) {
    const { run } = doc;
    if (!run) {
        return null;
    }
    const steps = run.steps || {};
    const input = run.input || {};
    return section('run-end', 'Summary of stoker run', facts([
        ['exit status', String(run.exit_status ?? 'none')], run.signal > 0 && ['signal', String(run.signal)],
        ['steps', fmtCount(steps.count)], ['median', fmtNs(steps.median_ns)],
        ['waiting for input', input.wait_share === undefined ? 'unknown' : fmtShare(input.wait_share)],
        ['input', String(run.input_mode || 'as-is')],
        run.window && run.window.slowdown_share !== undefined && ['profiling slowed the window by', fmtShare(run.window.slowdown_share)],
        run.overhead_share !== undefined && ["stoker's overhead", fmtShare(run.overhead_share)]]),
    (run.warnings || []).length > 0 && el('ul', {}, run.warnings.map((text) => el('li', {}, text))),
    el('p', { class: 'mono' }, (run.command || []).join(' ')));
}

/* The sampler's figures as they stand, and a line of each share since this page was opened. */
function machineBlock(doc, page) {
    const tables = (doc.machine && doc.machine.tables) || [];
    const figures = tables.find((table) => table.id === 'figures');
    if (!figures) {
        return null;
    }
    const at = Object.fromEntries(figures.columns.map((column, i) => [column.id, i]));
    const name = (row) => (row[at.of] === null ? row[at.counter] : `${row[at.counter]} of ${row[at.of]}`);
    const shares = figures.rows.filter((row) => row[at.unit] === 'share' && row[at.last] !== null);
    for (const row of doc.run ? [] : shares) {
        const points = page.history.get(name(row)) || [];
        points.push([(performance.now() - page.opened) * 1e6, row[at.last]]);
        page.history.set(name(row), points.slice(-POINTS_KEPT));
    }
    const lines = [...page.history].filter(([, points]) => points.length > 1 && points.some((point) => point[1] > 0))
        .slice(0, 6).map(([label, points]) => ({ name: label, points }));
    return section('run-machine', 'The machine during the run',
        lines.length > 0 && el('div', {}, el('h3', {}, 'Shares, since this page was opened'),
            lineChart('Shares of the machine', lines, fmtShare)),
        tables.filter((table) => table.rows.length).map((table) => el('div', {}, el('h3', {}, table.title),
            dataTable(table))));
}
