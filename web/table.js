// SPDX-License-Identifier: Apache-2.0
// A table of stoker.table/1 (or of the same shape): sorted by a click on a column, filtered by text,
// downloaded as CSV. Draws ROWS_AT_ONCE rows and offers more; sorting and CSV cover all rows given.
// Unknown cells sort last whichever way.

import { add, announce, button, clear, el, saveFile } from './dom.js';
import { csvLine, fmtCell, fmtCount, headingOf, isNumeric } from './format.js';

const ROWS_AT_ONCE = 100;
const LONG_NAME = 96; // characters of a cell before it is cut on screen; the whole is in its title

export function dataTable(table, { label, onRow, rowTitle, sortBy, descending = true } = {}) {
    const view = {
        table, label: label || table.title || table.id, onRow, rowTitle, shown: ROWS_AT_ONCE, filter: '',
        column: sortBy ? table.columns.findIndex((c) => c.id === sortBy) : -1, descending,
        body: el('tbody'), status: el('span', { class: 'muted' }), more: el('div', { class: 'table-more' }), heads: [],
    };
    const filter = table.rows.length > 8 && el('input', { type: 'search', placeholder: 'Filter rows',
        'aria-label': `Filter rows of ${view.label}`,
        oninput: () => { view.filter = filter.value.toLowerCase(); view.shown = ROWS_AT_ONCE; fill(view, true); } });
    const head = el('tr', {}, table.columns.map((column, index) => headCell(view, column, index)));
    const node = el('div', { class: 'data-table' },
        el('div', { class: 'table-bar' }, filter || null, view.status,
            table.rows.length > 0 && button('CSV', () => saveCsv(view),
                { class: 'quiet', 'aria-label': `${view.label} as CSV` })),
        el('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': view.label },
            el('table', {}, el('caption', { class: 'offscreen' }, view.label), el('thead', {}, head), view.body)),
        view.more);
    fill(view, false);
    return node;
}

function headCell(view, column, index) {
    const cell = el('th', { scope: 'col', class: isNumeric(column) ? 'num' : '', title: column.meaning || column.id },
        button(headingOf(column), () => sortOn(view, index), { class: 'sort' }));
    view.heads.push(cell);
    return cell;
}

function sortOn(view, index) {
    view.descending = view.column === index ? !view.descending : isNumeric(view.table.columns[index]);
    view.column = index;
    fill(view, false);
    announce(`sorted by ${headingOf(view.table.columns[index])}, ${view.descending ? 'descending' : 'ascending'}`);
}

export function sortedRows(rows, index, descending) {
    const sign = descending ? -1 : 1;
    return rows.map((row, at) => [row, at]).sort(([a, i], [b, j]) => {
        const x = a[index];
        const y = b[index];
        if (x === null || x === undefined || y === null || y === undefined) {
            return (x === null || x === undefined) - (y === null || y === undefined) || i - j;
        }
        const order = typeof x === 'string' || typeof y === 'string' ? String(x).localeCompare(String(y)) : x - y;
        return order * sign || i - j;
    }).map(([row]) => row);
}

function fill(view, tell) {
    const { table } = view;
    let rows = table.rows;
    if (view.filter) {
        rows = rows.filter((row) => row.some((cell) => cell !== null
            && String(cell).toLowerCase().includes(view.filter)));
    }
    if (view.column >= 0) {
        rows = sortedRows(rows, view.column, view.descending);
    }
    view.heads.forEach((head, i) => {
        if (i === view.column) {
            head.setAttribute('aria-sort', view.descending ? 'descending' : 'ascending');
        } else {
            head.removeAttribute('aria-sort');
        }
    });
    add(clear(view.body), rows.slice(0, view.shown).map((row) => bodyRow(view, row)));
    showCounts(view, rows.length, tell);
}

function showCounts(view, found, tell) {
    const left = view.table.rows_left_out || 0;
    const text = (view.filter ? `${fmtCount(found)} of ${fmtCount(view.table.rows.length)} rows`
        : `${fmtCount(found)} ${found === 1 ? 'row' : 'rows'}`) + (left ? `, ${fmtCount(left)} more left out` : '');
    view.status.textContent = text;
    clear(view.more);
    if (found > view.shown) {
        view.more.append(button(`Show ${fmtCount(Math.min(found - view.shown, 10 * ROWS_AT_ONCE))} more`,
            () => { view.shown += 10 * ROWS_AT_ONCE; fill(view, false); }));
    }
    if (tell) {
        announce(text);
    }
}

function bodyRow(view, row) {
    const tr = el('tr', {}, view.table.columns.map((column, i) => {
        const whole = fmtCell(row[i], column);
        const text = whole.length > LONG_NAME ? whole.slice(0, LONG_NAME - 1) + '…' : whole;
        const title = whole !== text ? whole : isNumeric(column) && row[i] !== null ? String(row[i]) : undefined;
        const inner = i === 0 && view.onRow
            ? button(text, () => view.onRow(row), { class: 'cell-link', title: view.rowTitle || title }) : text;
        return el(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : undefined,
            class: isNumeric(column) ? 'num' : whole.length > 24 ? 'text long' : 'text', title }, inner);
    }));
    return tr;
}

function saveCsv(view) {
    const { columns, rows } = view.table;
    saveFile(`${view.table.id || 'table'}.csv`, 'text/csv', [csvLine(columns.map((c) => c.id)), ...rows.map(csvLine)]);
    announce('CSV saved');
}

/* A table given by columns [id, type] and rows. */
export function makeTable(id, title, columns, rows) {
    return { id, title, columns: columns.map(([cid, type]) => ({ id: cid, type })), rows, rows_left_out: 0 };
}
