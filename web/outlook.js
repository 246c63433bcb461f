// SPDX-License-Identifier: Apache-2.0
// The answer in two bars on one scale: the step now, and the step with the first fix, with both times and how much
// faster that is. Everything but the ratio comes from the report's `outlook`. Where only a bound is known, it says "at
// best". The fixed step is split into its parts once the estimate is there: it takes seconds on a large profile.

import { legend, stackedBar } from './bar.js';
import { el } from './dom.js';
import { fmtNs, fmtShare } from './format.js';
import { agreesWithReplay, exposedParts } from './parts.js';

const CLOSE_STEP = 0.02;
const SEEN = 0.005; // share of a step below which a part isn't drawn

/* "3.2× faster", or "12% less" where a ratio says little. */
export function fmtTimes(share) {
    const times = share > 0 ? 1 / share : 0;
    return times >= 1.2 ? `${times >= 10 ? Math.round(times) : times.toFixed(1)}× faster` : `${fmtShare(1 - share)} less`;
}

function row(name, bar, facts) {
    return el('div', { class: 'outlook-row' }, el('span', { class: 'outlook-name' }, name), bar,
        el('span', { class: 'outlook-facts' }, facts));
}

function fixedBar(share) {
    const bar = el('div', { class: 'bar', id: 'fixed-bar', role: 'img', 'aria-label': `With the fix: ${fmtShare(share)} of today's time` });
    const piece = el('div', { class: 'piece piece-fixed' });
    const rest = el('div', { class: 'piece-rest' });
    piece.style.flexGrow = String(share);
    rest.style.flexGrow = String(1 - share);
    bar.append(piece, rest);
    return bar;
}

/* "39.3–60.5 ms": one unit where both have it. */
export function fmtRange(low, high) {
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

/* The price of the fix that the outlook is of: that of the level with its step, else of the finding's first fix. */
export function priceOfOutlook({ findings, outlook }) {
    const first = findings.find((finding) => finding.id === outlook.finding);
    const level = (first.levels || []).find(({ step_ns: step }) => step === outlook.step_ns);
    return (level || first.fix[0] || {}).price;
}

/* Splits the bar of the fixed step, where the estimate is of that step and the replay splits the step now as the report does. */
export async function splitFixedBar(report, api) {
    const o = report.outlook;
    const price = o && o.basis === 'replay' && o.now_ns > 0 && priceOfOutlook(report);
    if (!price) {
        return;
    }
    const doc = await api.whatif(api.can('tiles') ? [price] : []);
    const scenario = doc.scenarios.find(({ fix }) => fix.length === 1 && fix[0] === price);
    if (scenario && Math.abs(scenario.expected_ns / o.step_ns - 1) <= CLOSE_STEP && agreesWithReplay(report.breakdown.parts, doc.base.exposed)) {
        const bar = stackedBar(exposedParts(scenario.exposed.filter((part) => part.share >= SEEN), o.step_ns), { label: 'The step with the fix', scale: o.now_ns });
        bar.id = 'fixed-bar';
        document.getElementById('fixed-bar')?.replaceWith(bar);
    }
}

/* Whether the bar has parts that the ribbon's legend lacks, which is of one device. */
function hasHidden({ breakdown }) {
    const total = breakdown.parts.reduce((sum, part) => sum + part.ns, 0);
    const there = new Set(((breakdown.median_step || {}).parts || breakdown.parts).filter((part) => part.ns > 0).map((part) => part.id));
    return breakdown.parts.some((part) => part.ns > SEEN * total && !there.has(part.id));
}

export function outlookBlock(report) {
    const o = report.outlook;
    if (!o) {
        return null;
    }
    const first = report.findings.find((f) => f.id === o.finding);
    const { parts } = report.breakdown;
    return el('section', { class: 'outlook', id: 'outlook', 'aria-label': 'The step now and with the first fix' },
        row('now', stackedBar(parts, { label: 'The step now' }), o.now_ns > 0 && fmtNs(o.now_ns)),
        row('fixed', fixedBar(o.share), o.now_ns > 0 ? fmtNs(o.step_ns) : fmtTimes(o.share)),
        hasHidden(report) && legend(parts, parts.reduce((sum, part) => sum + part.ns, 0)),
        first && el('p', { class: 'muted' }, 'Fix first: ', first.title, first.source
            && ['  ', el('span', { class: 'mono' }, `${first.source.file.split('/').pop()}:${first.source.line}`)]));
}

/* What each size of the fix gives: "one background worker: 154 ms". */
export function levelsLine(finding) {
    const levels = (finding.levels || []).filter((level) => level.step_ns > 0);
    return levels.length > 1 && el('p', { class: 'levels' }, levels.map((level, i) => [i > 0 && '; ', level.text, ': ',
        el('b', {}, fmtNs(level.step_ns)), el('span', { class: 'muted' }, ` (${fmtShare(level.expected_share)} less)`)]));
}
