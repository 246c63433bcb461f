// SPDX-License-Identifier: Apache-2.0
// Proofs (stoker prove --json, stoker.proof/1): each with its interval, predicted and measured saving, and its runs.
// Ledgers: predictions and proofs as a table, by the columns that the file names, with how many measured ratios were
// within the prediction.

import { add, el, facts, section, trouble, twin } from './dom.js';
import { fmtCount, fmtNs, fmtShare } from './format.js';
import { partOf } from './parts.js';
import { dataTable, makeTable } from './table.js';

export async function proofsPage(main, context) {
    const { api } = context;
    const { extras } = await api.info();
    add(main, el('h1', {}, 'Proofs'));
    for (const [n, extra] of extras.entries()) {
        try {
            if (extra.kind === 'proof') {
                main.append(proofBlock(n, extra.name, await api.extra(n)));
            } else if (extra.kind === 'ledger') {
                main.append(ledgerBlock(n, extra.name, await api.extraText(n)));
            }
        } catch (error) {
            main.append(trouble(`${extra.name} could not be read`, error));
        }
    }
}

const SENTENCES = { faster: 'B is faster than A', slower: 'B is slower than A', 'no-difference': 'No difference that matters',
    'cannot-tell': 'Inconclusive' };

function less(ratio) {
    const change = 1 - ratio;
    return `${fmtShare(Math.abs(change))} ${change >= 0 ? 'less' : 'more'} time`;
}

function proofBlock(n, name, proof) {
    const { ratio, predicted, mechanism, a, b } = proof;
    const known = ratio && typeof ratio.estimate === 'number';
    const rows = [['measured', known ? ratio : null], ['predicted', ratioOf(predicted)]].filter(([, r]) => r);
    const side = (key, value) => [key, value.label || null, value.median_step_ns ?? null, value.runs ?? null];
    return section(`proof-${n}`, `${name}: ${SENTENCES[proof.verdict] || proof.verdict}`,
        known && el('p', {}, `B takes ${less(ratio.estimate)} than A; with 95% it is between ${less(ratio.high)} and ${less(ratio.low)}.`),
        rows.length > 0 && twin(`Time of B over time of A, ${name}`, intervals(rows), () => dataTable(makeTable('ratios', 'Time of B over A',
            [['what', 'text'], ['low', 'number'], ['estimate', 'number'], ['high', 'number']],
            rows.map(([what, r]) => [what, r.low ?? null, r.estimate ?? null, r.high ?? null])))),
        facts([['pairs', fmtCount(proof.pairs)], ['run-to-run noise', fmtShare(proof.noise_share)],
            mechanism && mechanism.part && ['cause to remove', `${partOf(mechanism.part).label}, ${fmtNs(mechanism.expected_ns)}`],
            mechanism && mechanism.part && ['went', fmtNs(mechanism.gone_ns)]]),
        a && b && dataTable(makeTable('sides', 'Both sides', [['side', 'text'], ['label', 'text'], ['median_ns', 'ns'], ['runs', 'count']],
            [side('A, before', a), side('B, after', b)])));
}

/* A prediction is of what is saved; a proof of the time that is left. */
function ratioOf(predicted) {
    return predicted && typeof predicted.expected === 'number'
        ? { low: predicted.low, estimate: predicted.expected, high: predicted.high } : null;
}

/* Each interval as a bar with its estimate, on one scale, and a line where nothing changes. */
function intervals(rows) {
    const ends = rows.flatMap(([, r]) => [r.low ?? r.estimate, r.high ?? r.estimate]).concat(1);
    const room = Math.max(0.02, (Math.max(...ends) - Math.min(...ends)) * 0.1);
    const [from, to] = [Math.min(...ends) - room, Math.max(...ends) + room];
    const place = (value) => `${(value - from) / (to - from) * 100}%`;
    return el('ul', { class: 'intervals', 'aria-label': 'Time of B over time of A' }, rows.map(([what, r]) => {
        const [low, high] = [r.low ?? r.estimate, r.high ?? r.estimate];
        const bar = el('span', { class: what === 'measured' ? 'interval' : 'interval predicted', 'aria-hidden': 'true' });
        bar.style.insetInlineStart = place(low);
        bar.style.width = `${Math.max(0.4, (high - low) / (to - from) * 100)}%`;
        const mark = el('span', { class: 'range-mark', 'aria-hidden': 'true' });
        mark.style.insetInlineStart = place(r.estimate);
        const same = el('span', { class: 'interval-same', 'aria-hidden': 'true', title: 'no change' });
        same.style.insetInlineStart = place(1);
        return el('li', {}, el('span', {}, what), el('span', { class: 'interval-track' }, same, bar, mark),
            el('span', {}, `${r.estimate.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`));
    }));
}

function ledgerBlock(n, name, text) {
    const lines = text.split(/\r?\n/).filter((line) => line && !line.startsWith('# '));
    const heads = lines[0].replace(/^#/, '').split('\t').map((head) => head.trim());
    const cells = lines.slice(1).map((line) => line.split('\t'));
    const isNumber = heads.map((_, i) => cells.length > 0 && cells.every((row) => !row[i] || Number.isFinite(Number(row[i]))));
    const rows = cells.map((row) => heads.map((_, i) => (row[i] === undefined || row[i] === '' ? null
        : isNumber[i] ? Number(row[i]) : row[i])));
    const columns = heads.map((head, i) => [head.replaceAll(' ', '_'), isNumber[i] ? 'number' : 'text']);
    return section(`ledger-${n}`, `Ledger ${name}`, within(heads, rows), dataTable(makeTable(`ledger-${n}`, `Ledger ${name}`, columns, rows)));
}

/* How many measured estimates are within the predicted interval, if the file has both. */
function within(heads, rows) {
    const at = (...words) => heads.findIndex((head) => words.every((word) => head.toLowerCase().includes(word)));
    const exact = heads.indexOf('measured');
    const [low, high] = [at('predicted', 'low'), at('predicted', 'high')];
    const measured = exact >= 0 ? exact : at('measured', 'estimate');
    if (low < 0 || high < 0 || measured < 0) {
        return null;
    }
    const both = rows.filter((row) => [low, high, measured].every((i) => typeof row[i] === 'number'));
    const inside = both.filter((row) => row[measured] >= Math.min(row[low], row[high])
        && row[measured] <= Math.max(row[low], row[high]));
    return el('p', {}, `${fmtCount(rows.length)} ${rows.length === 1 ? 'entry' : 'entries'}, ${fmtCount(both.length)} predicted and measured; `,
        el('b', {}, fmtCount(inside.length)), ' measured within the predicted interval.');
}
