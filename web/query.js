// SPDX-License-Identifier: Apache-2.0
// The user's own SQL over the events (stoker query): one SELECT, answered by the server as a table.
// The statement is kept in the address.

import { add, announce, button, clear, codeBlock, el, section, trouble } from './dom.js';
import { keepState } from './state.js';
import { dataTable } from './table.js';

const EXAMPLES = [
    ['Longest gaps', 'select device, start_ns, dur_ns, part, step from gaps order by dur_ns desc limit 50'],
    ['Kernels by time', 'select name, count(*) as count, sum(dur_ns) as total_ns from kernels group by name order by 3 desc limit 50'],
    ['Launch delays', 'select name, call, delay_ns, start_ns from launches order by delay_ns desc limit 50'],
    ['Where each step goes', 'select step, part, dur_ns from parts where dur_ns > 0 order by step, dur_ns desc limit 500'],
];
const SQL_KEPT = 3000; // characters of a statement that an address keeps

export async function queryPage(main, { api, params }) {
    const text = el('textarea', { id: 'sql', rows: 5, spellcheck: 'false', class: 'mono',
        'aria-describedby': 'sql-help' });
    text.value = params.sql || EXAMPLES[0][1];
    const result = el('div', { id: 'sql-result' });
    const run = async () => {
        keepState('query', { sql: text.value.slice(0, SQL_KEPT) });
        clear(result).append(el('p', { class: 'muted' }, 'Asking…'));
        try {
            const doc = await api.query(text.value);
            add(clear(result), doc.tables.map((table) => dataTable(table, { label: 'Answer' })));
            announce(`${doc.tables[0] ? doc.tables[0].rows.length : 0} rows`);
        } catch (error) {
            add(clear(result), trouble('No answer', error));
        }
    };
    text.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            run();
        }
    });
    add(main, el('h1', {}, 'Query'),
        section('ask', 'One SELECT over the events', el('label', { for: 'sql', class: 'offscreen' }, 'SQL'), text,
        el('div', { class: 'tools' }, button('Run', run, { class: 'primary', id: 'sql-run' }),
            el('span', { class: 'muted', id: 'sql-help' }, 'or Ctrl + Enter'),
            EXAMPLES.map(([name, sql]) => button(name, () => { text.value = sql; run(); }, { class: 'quiet' }))),
                result),
    el('details', {}, el('summary', {}, 'Tables and columns'), el('p', {}, 'To list all tables:'),
        codeBlock('stoker query --tables', 'list the tables')));
    if (params.sql) {
        await run();
    }
}
