// SPDX-License-Identifier: Apache-2.0
// A finding as a card: what, how much it may save (an interval, drawn to scale), the evidence, the
// fix with code to copy, and "show me", which opens the timeline at the longest piece of evidence.

import { codeBlock, el, link } from './dom.js';
import { fmtNs, fmtShare } from './format.js';
import { levelsLine } from './outlook.js';
import { hashOf } from './state.js';

/* `first`: how many stand before these on the page; the numbers go on from there. */
export function findingCards(findings, report, first = 0) {
    const list = el('ol', { class: 'findings' }, findings.map((finding) => el('li', {}, findingCard(finding, report))));
    list.style.counterReset = `finding ${first}`;
    return list;
}

function findingCard(finding, report) {
    const place = bestEvidence(finding);
    const fixes = finding.fix || [];
    return el('article', { class: `finding s-${finding.severity}`, 'data-finding': finding.id,
        'aria-labelledby': `f-${finding.id}` },
        el('div', { class: 'finding-head' }, el('h3', { id: `f-${finding.id}` }, finding.title),
            el('span', { class: 'badge' }, finding.severity),
                el('span', { class: 'muted' }, `confidence ${finding.confidence}`)),
        savingLine(finding, report),
        levelsLine(finding),
        evidenceList(finding),
        fixes.length > 0 && (['high', 'medium'].includes(finding.severity) ? fixBlock(fixes[0]) : shortFix(fixes[0])),
        fixes.length > 1 && el('details', {},
            el('summary', {}, `${fixes.length - 1} other ${fixes.length > 2 ? 'fixes' : 'fix'}`),
            fixes.slice(1).map(fixBlock)),
        el('div', { class: 'finding-actions' },
            place && link('Show me', hashOf('timeline', viewOf(place)), { class: 'button' }),
            finding.source && finding.source.file
                && el('span', { class: 'mono' }, `${finding.source.file}:${finding.source.line}`),
            finding.explain && el('code', { class: 'muted' }, finding.explain)));
}

/* The evidence that has a place in time, the longest of it. */
function bestEvidence(finding) {
    const placed = (finding.evidence || []).filter((e) => e.start_ns !== undefined);
    return placed.sort((a, b) => (b.dur_ns || 0) - (a.dur_ns || 0))[0];
}

/* A view with a fifth of room on each side. */
export function viewOf(evidence) {
    const dur = Math.max(evidence.dur_ns || 0, 1000);
    return { t0: Math.round(evidence.start_ns - dur / 5), t1: Math.round(evidence.start_ns + dur * 1.2),
        a0: evidence.start_ns, a1: evidence.start_ns + dur, track: evidence.track };
}

function savingLine(finding, report) {
    const saving = finding.saving || {};
    if (!(saving.high_share > 0)) {
        return el('p', { class: 'saving muted' }, 'There is no estimate of the saving.');
    }
    const step = report.steps.mean_ns || report.steps.median_ns || 0;
    const low = saving.low_share || 0;
    const text = low > 0 && fmtShare(low) !== fmtShare(saving.high_share)
        ? `${fmtShare(low)} to ${fmtShare(saving.high_share)}` : `up to ${fmtShare(saving.high_share)}`;
    const time = step > 0 ? `, ${low > 0 ? fmtNs(low * step) + ' to ' : 'up to '}${fmtNs(saving.high_share * step)}`
        : '';
    const range = el('span', { class: 'range' });
    range.style.marginInlineStart = `${low * 100}%`;
    range.style.width = `${Math.max(0.5, (saving.high_share - low) * 100)}%`;
    const scale = el('div', { class: 'range-scale', 'aria-hidden': 'true' }, range);
    if (saving.expected_share > 0) {
        const mark = el('span', { class: 'range-mark' });
        mark.style.insetInlineStart = `${saving.expected_share * 100}%`;
        scale.append(mark);
    }
    const basis = { replay: 'by replay', bound: 'a bound' }[saving.basis];
    return el('div', { class: 'saving' }, el('p', {}, 'Saves ', el('b', {}, text), ` of the step${time}`,
        basis ? el('span', { class: 'muted' },
            ` (${basis}${saving.expected_share > 0 ? `, expected ${fmtShare(saving.expected_share)}` : ''})`) : null),
            scale);
}

function evidenceList(finding) {
    const evidence = finding.evidence || [];
    const item = (e) => el('li', {}, e.text, e.start_ns !== undefined &&
        [' ', link('at ' + fmtNs(e.start_ns), hashOf('timeline', viewOf(e)), { title: e.track, class: 'quiet-link' })]);
    return evidence.length > 0 && el('div', { class: 'evidence' }, el('ul', {}, evidence.slice(0, 3).map(item)),
        evidence.length > 3 && el('details', {}, el('summary', {}, `${evidence.length - 3} more`),
            el('ul', {}, evidence.slice(3).map(item))));
}

/* What matters less takes less room: the code is folded away. */
function shortFix(fix) {
    return fix.snippet ? el('details', {}, el('summary', {}, fix.text), codeBlock(fix.snippet, fix.text, 'Copy fix'))
        : el('p', {}, fix.text);
}

function fixBlock(fix) {
    const framework = fix.framework && fix.framework !== 'any'
        && el('span', { class: 'badge quiet-badge' }, fix.framework);
    return el('div', { class: 'fix' }, el('p', {}, framework, ' ', fix.text),
        fix.snippet && codeBlock(fix.snippet, fix.text, 'Copy fix'));
}
