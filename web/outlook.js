// SPDX-License-Identifier: Apache-2.0
// The answer in two bars on one scale: the step now, and the step with the first fix, with both times and how much
// faster that is. Everything but the ratio comes from the report's `outlook`. Where only a bound is known, it says "at
// best".

import { stackedBar } from './bar.js';
import { el } from './dom.js';
import { digits3, fmtNs, fmtShare } from './format.js';

/* "3.2× faster", or "12 % less" where a ratio says little. */
export function fmtTimes(share) {
    const times = share > 0 ? 1 / share : 0;
    return times >= 1.2 ? `${times >= 10 ? Math.round(times) : times.toFixed(1)}× faster` : `${fmtShare(1 - share)} less`;
}

function row(name, bar, facts) {
    return el('div', { class: 'outlook-row' }, el('span', { class: 'outlook-name' }, name), bar,
        el('span', { class: 'outlook-facts' }, facts));
}

function fixedBar(share) {
    const bar = el('div', { class: 'bar', role: 'img', 'aria-label': `With the fix: ${fmtShare(share)} of today's time` });
    const piece = el('div', { class: 'piece g-compute' });
    const rest = el('div', { class: 'piece-rest' });
    piece.style.flexGrow = String(share);
    rest.style.flexGrow = String(1 - share);
    bar.append(piece, rest);
    return bar;
}

/* "39.3–60.5 ms": one unit where both have it. */
function fmtRange(low, high) {
    const [a, b] = [fmtNs(low), fmtNs(high)];
    const unit = a.split('\u202f')[1];
    return b.endsWith(unit) ? `${a.split('\u202f')[0]}–${b}` : `${a}–${b}`;
}

/* "162 → 49.9 ms, 3.2× faster (39.3–60.5 ms, by replay)": what the first fix makes of the step. */
export function outlookLine(report) {
    const o = report.outlook;
    if (!o) {
        return null;
    }
    const bound = o.basis === 'bound';
    const known = o.now_ns > 0 && o.step_ns >= 0;
    return el('p', { class: 'outlook-line', id: 'outlook-line' },
        known && [el('b', {}, fmtNs(o.now_ns)), ' \u2192 ', bound && 'at best ', el('b', { id: 'fixed-step' }, fmtNs(o.step_ns)), ', '],
        !known && bound && 'at best ', el('b', {}, fmtTimes(o.share)),
        !bound && o.now_ns > 0 && el('span', { class: 'muted' }, ` (${fmtRange(o.low_ns, o.high_ns)}, by replay)`));
}

export function outlookBlock(report) {
    const o = report.outlook;
    if (!o) {
        return null;
    }
    const first = report.findings.find((f) => f.id === o.finding);
    return el('section', { class: 'outlook', id: 'outlook', 'aria-label': 'The step now and with the first fix' },
        row('now', stackedBar(report.breakdown.parts, { label: 'The step now' }), o.now_ns > 0 && fmtNs(o.now_ns)),
        row('fixed', fixedBar(o.share), o.now_ns > 0 ? fmtNs(o.step_ns) : fmtTimes(o.share)),
        first && el('p', { class: 'muted' }, 'First fix: ', first.title, first.source
            && ['  ', el('span', { class: 'mono' }, `${first.source.file.split('/').pop()}:${first.source.line}`)]));
}

/* What each size of the fix gives: "one background worker: 154 ms". */
export function levelsLine(finding) {
    const levels = (finding.levels || []).filter((level) => level.step_ns > 0);
    return levels.length > 1 && el('p', { class: 'levels' }, levels.map((level, i) => [i > 0 && '; ', level.text, ': ',
        el('b', {}, fmtNs(level.step_ns)), el('span', { class: 'muted' }, ` (${digits3(level.expected_share * 100)}% less)`)]));
}
