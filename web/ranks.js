// SPDX-License-Identifier: Apache-2.0
// Ranks: one heat map, a row a device of each rank, a column a step; how strong a cell's color is says by how
// long others wait for the rank in the step, or by the step's time. Arrows move, Enter or a click opens that rank's step.
// A part of the step can be shown instead of its time. With more steps than fit, a column stands for several and shows
// the longest.

import { add, announce, cssVar, el, facts, link, section, twin } from './dom.js';
import { fmtCount, fmtNs, fmtShare } from './format.js';
import { PARTS, partOf } from './parts.js';
import { goTo, hashOf } from './state.js';
import { readyCanvas, watchSize } from './strip.js';
import { dataTable, makeTable } from './table.js';

const CELL_MIN = 4; // pixels
const CELL_MOST = 160;
const LABEL_PX = 74;
const OWN = 'held'; // how long another rank waits in the step while this one doesn't: dark is who is waited for

export async function ranksPage(main, { api, params }) {
    const report = await api.report();
    const map = heatData(report.steps.list || []);
    add(main, el('h1', {}, 'Ranks'));
    if (map.rows.length === 0) {
        main.append(section('no-steps', 'No steps',
            el('p', {}, 'The profile has no steps to compare between ranks.')));
        return;
    }
    if (map.rows.length === 1) {
        main.append(el('p', {}, 'The profile has one rank with one device. To see which rank waits for which, open the files of all ranks or their folder. ',
            'Its steps are below.'));
    }
    const waits = map.cells.some((cell) => cell.parts && cell.parts.collective_wait > 0);
    const late = await waitedFor(api, report, map);
    const used = PARTS.filter((part) => map.cells.some((cell) => cell.parts && cell.parts[part.id] > 0));
    const choose = el('select', { id: 'heat-part', onchange: () => show(choose.value) },
        waits && map.rows.length > 1 && el('option', { value: OWN }, 'how long others wait for it'),
        el('option', { value: '' }, 'step time'),
        used.map((part) => el('option', { value: part.id }, part.label)));
    const place = el('div');
    const show = (part) => add((place.replaceChildren(), place), heatMap(map, part));
    choose.value = used.some((part) => part.id === params.part) ? params.part : waits && map.rows.length > 1 ? OWN : '';
    late && main.append(el('p', { class: 'sentence', id: 'waited-for' }, `The others wait for rank ${late.rank}`,
        late.share > 0 && el('span', { class: 'muted' }, `: they spend ${fmtShare(late.share)} of their time waiting in collectives`)));
    add(main, section('heat', 'Steps by rank',
        el('div', { class: 'tools' }, el('label', { for: 'heat-part' }, 'Show'), choose), place),
        summary(map), await clockBlock(api, report));
    show(choose.value);
}

export function heatData(list) {
    const rows = [...new Set(list.map((step) => step.device ?? 'host'))];
    const columns = [...new Set(list.map((step) => step.number))].sort((a, b) => a - b);
    const rowAt = new Map(rows.map((id, i) => [id, i]));
    const columnAt = new Map(columns.map((id, i) => [id, i]));
    const cells = list.map((step) => ({ row: rowAt.get(step.device ?? 'host'), column: columnAt.get(step.number),
        ...step }));
    const waitOf = (cell) => (cell.parts && cell.parts.collective_wait) || 0;
    const most = new Map(); // of each step, the longest wait
    cells.forEach((cell) => most.set(cell.column, Math.max(most.get(cell.column) || 0, waitOf(cell))));
    cells.forEach((cell) => { cell.held_ns = most.get(cell.column) - waitOf(cell); });
    return { rows, columns, cells };
}

/* The rank that the others wait for, and their waiting's share of the time; null: nobody is waited for. */
async function waitedFor(api, report, map) {
    if (map.rows.length < 2) {
        return null;
    }
    let rank;
    try {
        rank = (await api.table('comm')).summary.straggler_rank;
    } catch {
        return null;
    }
    const parts = report.breakdown.parts || [];
    const total = parts.reduce((sum, part) => sum + part.ns, 0) || 1;
    const wait = parts.find((part) => part.id === 'collective_wait');
    return rank === undefined || rank === null ? null : { rank, share: wait ? wait.ns / total : 0 };
}

function cellValue(cell, part) {
    if (part === OWN) {
        return cell.held_ns;
    }
    return part ? (cell.parts && cell.parts[part]) || 0 : cell.dur_ns;
}

function heatMap(map, part) {
    const label = part === OWN ? 'How long others wait for each rank' : part ? `${partOf(part).label} of each step` : 'Time of each step';
    const canvas = el('canvas', { class: 'chart heat', tabindex: '0', role: 'application',
        'aria-roledescription': 'heat map',
        'aria-label': `${label}, by rank. Arrow keys move, Enter opens the step.` });
    const readout = el('p', { class: 'chart-readout', 'aria-live': 'polite' });
    const byPlace = new Map(map.cells.map((cell) => [cell.row * 1e6 + cell.column, cell]));
    const values = map.cells.map((cell) => cellValue(cell, part)).sort((a, b) => a - b);
    const heat = { map, part, canvas, readout, byPlace, row: 0, column: 0, least: values[0],
        most: values[values.length - 1] };
    const slowest = map.cells.reduce((a, b) => (cellValue(b, part) > cellValue(a, part) ? b : a));
    const move = (row, column) => {
        heat.row = Math.min(map.rows.length - 1, Math.max(0, row));
        heat.column = Math.min(map.columns.length - 1, Math.max(0, column));
        readout.textContent = tellCell(heat);
        drawHeat(heat);
    };
    listenHeat(heat, move);
    move(slowest.row, slowest.column);
    watchSize(canvas, () => drawHeat(heat));
    const key = el('p', { class: 'muted' },
        heat.least === heat.most ? `all: ${fmtNs(heat.most)}` : `faint: ${fmtNs(heat.least)}, strong: ${fmtNs(heat.most)}`,
        byPlace.size < map.rows.length * map.columns.length && '; crossed out: the rank has no such step');
    return twin(label, el('div', {}, canvas, readout, key), () => heatTable(map, part));
}

function tellCell(heat) {
    const cell = heat.byPlace.get(heat.row * 1e6 + heat.column);
    const row = heat.map.rows[heat.row];
    const where = `${row === 'host' ? '' : `device ${row}, `}step ${heat.map.columns[heat.column]}`;
    if (!cell) {
        return `${where}: not in the profile`;
    }
    const value = cellValue(cell, heat.part);
    return `${where}: ${fmtNs(value)}${heat.part ? `, ${fmtShare(value / cell.dur_ns)} of ${fmtNs(cell.dur_ns)}` : ''}`;
}

function openCell(heat) {
    const cell = heat.byPlace.get(heat.row * 1e6 + heat.column);
    if (cell) {
        announce('opening the step in the timeline');
        goTo('timeline', { t0: cell.start_ns, t1: cell.start_ns + cell.dur_ns, filter: cell.device });
    }
}

function listenHeat(heat, move) {
    const { canvas, map } = heat;
    const place = (event) => {
        const box = canvas.getBoundingClientRect();
        move(Math.floor((event.clientY - box.top) / rowHeight(map)),
            Math.floor((event.clientX - box.left - LABEL_PX) / cellWidth(map, box.width)));
    };
    canvas.addEventListener('mousemove', place);
    canvas.addEventListener('click', (event) => { place(event); openCell(heat); });
    canvas.addEventListener('keydown', (event) => {
        const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e9],
            End: [0, 1e9] }[event.code];
        if (by) {
            move(heat.row + by[0], heat.column + by[1]);
        } else if (event.key === 'Enter') {
            openCell(heat);
        } else {
            return;
        }
        event.preventDefault();
    });
}

function cellWidth(map, width) {
    return Math.min(CELL_MOST, (width - LABEL_PX) / map.columns.length);
}

function rowHeight(map) {
    return map.rows.length > 64 ? 10 : 24;
}

function drawHeat(heat) {
    const { map, part } = heat;
    const high = rowHeight(map);
    const ready = readyCanvas(heat.canvas, map.rows.length * high + 2);
    if (!ready) {
        return;
    }
    const { ctx } = ready;
    const step = cellWidth(map, ready.width);
    ctx.font = '12px system-ui, sans-serif';
    ctx.fillStyle = cssVar('--text');
    map.rows.forEach((name, i) => high > 12 && ctx.fillText(String(name).slice(0, 10), 0, i * high + 16));
    ctx.strokeStyle = cssVar('--line');
    ctx.strokeRect(LABEL_PX, 0, step * map.columns.length, map.rows.length * high);
    for (const cell of map.cells) {
        const share = heat.most > heat.least ? (cellValue(cell, part) - heat.least) / (heat.most - heat.least) : 0;
        ctx.globalAlpha = 0.15 + 0.85 * share;
        ctx.fillStyle = cssVar('--g-input');
        ctx.fillRect(LABEL_PX + cell.column * step, cell.row * high + 1,
            Math.max(1, step - (step > CELL_MIN ? 1 : 0)), high - 2);
    }
    ctx.globalAlpha = 1;
    crossMissing(heat, ctx, step, high);
    ctx.strokeStyle = cssVar('--focus');
    ctx.lineWidth = 3;
    ctx.strokeRect(LABEL_PX + heat.column * step, heat.row * high + 1, Math.max(CELL_MIN, step), high - 2);
}

function crossMissing(heat, ctx, step, high) {
    if (heat.map.cells.length === heat.map.rows.length * heat.map.columns.length || step < CELL_MIN) {
        return;
    }
    ctx.strokeStyle = cssVar('--edge');
    ctx.lineWidth = 1;
    for (let row = 0; row < heat.map.rows.length; row++) {
        for (let column = 0; column < heat.map.columns.length; column++) {
            if (!heat.byPlace.has(row * 1e6 + column)) {
                ctx.beginPath();
                ctx.moveTo(LABEL_PX + column * step, row * high + 2);
                ctx.lineTo(LABEL_PX + (column + 1) * step, (row + 1) * high - 2);
                ctx.stroke();
            }
        }
    }
}

function heatTable(map, part) {
    const columns = [['device', 'text'], ['step', 'count'], [part ? `${part}_ns` : 'dur_ns', 'ns'], ['start_ns', 'ns']];
    const rows = map.cells.map((cell) => [String(map.rows[cell.row]), cell.number, cellValue(cell, part),
        cell.start_ns]);
    return dataTable(makeTable('steps_by_rank', 'Steps by rank', columns, rows), { rowTitle: 'Open in the timeline',
        onRow: (row) => goTo('timeline',
            { t0: row[3], t1: row[3] + Math.max(1, map.cells.find((c) => c.start_ns === row[3]).dur_ns) }) });
}

function summary(map) {
    const rows = map.rows.map((name, i) => {
        const mine = map.cells.filter((cell) => cell.row === i).map((cell) => cell.dur_ns).sort((a, b) => a - b);
        const waits = map.cells.filter((cell) => cell.row === i).reduce((sum, cell) => sum
            + ((cell.parts || {}).collective_wait || 0), 0);
        return [String(name), mine.length, mine[(mine.length - 1) >> 1], mine[mine.length - 1],
            waits / (mine.length || 1)];
    });
    const columns = [['device', 'text'], ['steps', 'count'], ['median_ns', 'ns'], ['longest_ns', 'ns'],
        ['waits_for_others_ns', 'ns']];
    return section('by-rank', 'Each rank', dataTable(makeTable('ranks', 'Each rank', columns, rows)),
        rows.length > 1 && el('p', { class: 'muted' }, 'The rank that waits least in collectives is the one that the others wait for. ',
            link('Collectives by rank', hashOf('tables', { a: 'comm' }))));
}

/* How well the clocks of the ranks agree: what a comparison between them is worth. */
async function clockBlock(api, report) {
    const ranks = new Set(report.profile.inputs.flatMap((input) => input.ranks || []));
    if (ranks.size < 2) {
        return null;
    }
    let residual;
    let straggler;
    try {
        ({ clock_residual_ns: residual, straggler_rank: straggler } = (await api.table('comm')).summary);
    } catch {
        residual = undefined; // said as not known below
    }
    const { clocks } = await api.info();
    const rows = (clocks || []).map((clock) => [clock.rank, clock.zero_ns]);
    return section('clocks', 'Clocks of the ranks', facts([['ranks', fmtCount(ranks.size)],
        ['clocks differ by at most', residual === undefined ? 'unknown' : fmtNs(residual)],
        straggler !== undefined && ['waited for', `rank ${straggler}`]]),
    el('p', { class: 'muted' }, 'All ranks share one timeline, which begins with the first event of any rank. Each rank is shifted by its recording\'s start. The remaining clock difference, above, comes from the ends of the same collectives.'),
    rows.length > 1 && dataTable(makeTable('clocks', 'Start of each rank\'s recording',
        [['rank', 'count'], ['moved_by_ns', 'ns']], rows)));
}
