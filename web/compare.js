// SPDX-License-Identifier: Apache-2.0
// Compare: two profiles, before (A) and after (B): the verdict of stoker diff, both steps as bars on one
// scale, both rows of steps, and what changed by cause, kernel and operation. Where one profile was
// given, the page says how to give two.

import { stepBar } from './bar.js';
import { add, codeBlock, el, facts, section } from './dom.js';
import { filePicker } from './drop.js';
import { fmtNs, fmtShare, fmtShares } from './format.js';
import { partOf } from './parts.js';
import { dataTable, makeTable } from './table.js';
import { comparedTimelines } from './tl_pair.js';

export async function comparePage(main, context) {
    const { api } = context;
    add(main, el('h1', {}, 'Compare'));
    if (!api.can('diff') && !(api.data && api.data.diff)) {
        main.append(section('no-second', 'One profile is open', filePicker(api),
            el('p', {}, 'To see what a change did, open the profiles from before and after it, with -- between them. Each side can be several files, the ranks of a run.'),
            codeBlock('stoker view before.json.gz -- after.json.gz', 'open two profiles'),
            el('p', {}, 'The same comparison as text, for a terminal or a CI job:'),
                codeBlock('stoker diff before.json.gz after.json.gz', 'compare as text')));
        return;
    }
    const diff = await api.diff();
    const times = timesSentence(diff);
    add(main, el('div', { class: 'verdict' }, times && el('h2', { class: 'sentence', id: 'times' }, times),
        el(times ? 'p' : 'h2', { class: times ? '' : 'sentence', id: 'diff-sentence' }, diff.verdict.sentence),
        el('p', { class: 'verdict-facts' }, el('span', { class: 'badge' }, diff.verdict.kind),
            diff.verdict.confidence && el('span', {}, 'confidence ', el('b', {}, diff.verdict.confidence)))),
    reasons(diff), stepsBlock(diff), causesBlock(diff));
    if (api.other) {
        main.append(section('pair', 'Both timelines, step by step', await comparedTimelines(context)));
    }
    const picker = filePicker(api);
    picker && main.append(section('another', 'Compare with another', picker));
    add(main, namesBlock('kernels', 'Kernels that changed', diff), namesBlock('ops', 'Operations that changed', diff),
        findingsBlock(diff));
}

/* "B is 3.2× faster: 168 → 51.8 ms": of the median steps, where the verdict says that they differ. */
function timesSentence(diff) {
    const { median } = diff.step || {};
    if (!median || !(median.a_ns > 0) || !(median.b_ns > 0) || !/faster|slower/.test(diff.verdict.kind)) {
        return null;
    }
    const [a, b] = [fmtNs(median.a_ns), fmtNs(median.b_ns)];
    const [number, unit] = a.split('\u202f');
    const ratio = Math.max(median.a_ns, median.b_ns) / Math.min(median.a_ns, median.b_ns);
    const word = median.b_ns < median.a_ns ? 'faster' : 'slower';
    const much = ratio >= 1.2 ? `${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(1)}×` : fmtShare(Math.abs(median.change_share));
    return `B is ${much} ${word}: ${b.endsWith(unit) ? number : a} → ${b}`;
}

function reasons(diff) {
    const list = (diff.comparable && diff.comparable.reasons) || [];
    return list.length > 0 && section('comparable', 'Limits of this comparison',
        el('ul', {}, list.map((reason) => el('li', {}, reason.text || reason.why || String(reason)))));
}

function stepsBlock(diff) {
    const side = (key) => (diff.parts
        || []).filter((part) => part[key] > 0).map((part) => ({ id: part.id, ns: part[key] }));
    const [a, b] = [side('a_ns'), side('b_ns')];
    const scale = Math.max(...[a, b].map((parts) => parts.reduce((sum, part) => sum + part.ns, 0)), 1);
    const { median } = diff.step || {};
    return section('both-steps', 'A step before and after',
        el('h3', {}, `A, before${median ? ': ' + fmtNs(median.a_ns) + ' (median)' : ''}`),
        stepBar(a, { label: 'A, before', scale }),
        el('h3', {}, `B, after${median ? ': ' + fmtNs(median.b_ns) + ' (median)' : ''}`),
            stepBar(b, { label: 'B, after', scale }),
        median && facts([['change', `${median.change_ns > 0 ? '+' : ''}${fmtNs(median.change_ns)} (${fmtShare(median.change_share)})`],
            ['95% interval', fmtShares(median.low_share, median.high_share)],
                ['noise', fmtShare(median.noise_share)]]));
}

function causesBlock(diff) {
    const rows = (diff.parts || []).filter((part) => part.a_ns || part.b_ns)
        .map((part) => [partOf(part.id).label, part.change_ns, part.a_ns, part.b_ns, part.noise_ns ?? null,
            part.beyond_noise ?? null]);
    const columns = [['cause', 'text'], ['change_ns', 'ns'], ['before_ns', 'ns'], ['after_ns', 'ns'],
        ['noise_ns', 'ns'], ['beyond_noise', 'bool']];
    return section('causes', 'Differences by cause',
        dataTable(makeTable('causes', 'Differences by cause', columns, rows)));
}

function namesBlock(key, title, diff) {
    const list = diff[key] || [];
    const rows = list.map((item) => [item.name, item.state, item.change_ns, item.a_ns ?? null, item.b_ns ?? null,
        item.a_count ?? null, item.b_count ?? null]);
    const columns = [['name', 'text'], ['state', 'text'], ['change_ns', 'ns'], ['before_ns', 'ns'],
        ['after_ns', 'ns'], ['count_before', 'count'], ['count_after', 'count']];
    return list.length > 0 && section(`diff-${key}`, title, dataTable(makeTable(key, title, columns, rows)));
}

function findingsBlock(diff) {
    const list = diff.findings || [];
    return list.length > 0 && section('diff-findings', 'Findings',
        el('ul', {}, list.map((f) => el('li', {}, el('b', {}, f.state), `: ${f.title}`))));
}
