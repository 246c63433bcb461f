// SPDX-License-Identifier: Apache-2.0
// Findings: the first as a card with its fix and code to copy, the others as lines that open in place.
// Each says how much it may save (an interval, drawn to scale) and what that rests on, and leads to the
// timeline at the longest piece of evidence.

import { codeBlock, el, link } from './dom.js';
import { fmtNs, fmtShare, fmtShares } from './format.js';
import { levelsLine, priceOfOutlook } from './outlook.js';
import { hashOf } from './state.js';

const TELLS = 0.9; // a larger bound is no saving (src/base/bound.h)

/* The finding whose fix comes first: all of it, the fix that the terminal shows before the evidence. */
export function firstFinding(finding, report, api) {
    const [fix, ...rest] = finding.fix || [];
    const coded = fix && !fix.snippet && rest.find((other) => other.snippet && other.price && other.price === fix.price); // the same change as code
    const others = rest.filter((other) => other !== coded);
    const place = finding.source && finding.source.file;
    return card(finding, [headOf(finding, place && el('span', { class: 'mono' }, `${finding.source.file}:${finding.source.line}`)),
        savingLine(finding, report), levelsLine(finding), fix && fixBlock(fix), coded && fixBlock(coded),
        el('div', { class: 'finding-actions' }, showLink(finding, 'Show it'),
            priceOf(finding, report) && link('Try other fixes', hashOf('whatif', { fix: priceOf(finding, report) }), { class: 'button' })),
        evidenceList(finding),
        others.length > 0 && el('details', {}, el('summary', {}, `${others.length} other ${others.length > 1 ? 'fixes' : 'fix'}`),
            others.map(fixBlock)), explanation(finding, api)]);
}

/* The rest, a line each, which opens in place. */
export function otherFindings(findings, report, api) {
    return el('div', { class: 'more-findings' }, findings.map((finding) => el('details', { class: `finding-line s-${finding.severity}` },
        el('summary', {}, el('b', {}, finding.title), savingText(finding) && ` \u2013 ${savingText(finding)}`,
            el('span', { class: 'muted' }, ` ${finding.severity}`)),
        card(finding, [headOf(finding), savingLine(finding, report), levelsLine(finding), evidenceList(finding),
            (finding.fix || []).map(fixBlock),
            el('div', { class: 'finding-actions' }, showLink(finding, 'Show it'), finding.source && finding.source.file
                && el('span', { class: 'mono' }, `${finding.source.file}:${finding.source.line}`)),
            explanation(finding, api)]))));
}

function card(finding, children) {
    return el('article', { class: `finding s-${finding.severity}`, 'data-finding': finding.id, tabindex: '-1',
        'aria-labelledby': `f-${finding.id}` }, children);
}

function headOf(finding, more) {
    return el('div', { class: 'finding-head' }, el('h3', { id: `f-${finding.id}` }, finding.title),
        el('span', { class: 'badge' }, finding.severity), el('span', { class: 'muted' }, `confidence ${finding.confidence}`), more);
}

function showLink(finding, text) {
    const place = bestEvidence(finding);
    return place && link(text, hashOf('timeline', { ...viewOf(place), back: `why?finding=${finding.id}` }), { class: 'button' });
}

/* The what-if that prices the first fix: the one that the page's line at the top is of. */
function priceOf(finding, { outlook, ...report }) {
    const [fix] = finding.fix || [];
    return outlook && outlook.finding === finding.id ? priceOfOutlook({ outlook, ...report }) : fix && fix.price;
}

/* One line's worth, as the terminal's "Then" has it. */
function savingText(finding) {
    const { low_share: low, expected_share: expected, high_share: high } = finding.saving || {};
    const isBound = high > TELLS && finding.saving.basis === 'bound';
    return low > 0 && high > 0 ? `saves ${fmtShares(low, high)}` : isBound ? `takes up to ${fmtShare(high)} of the time`
        : high > 0 ? `saves up to ${fmtShare(high)}` : expected > 0 ? `saves about ${fmtShare(expected)}` : '';
}

/* What stoker explain says of the rule, asked for when it is opened. */
function explanation(finding, api) {
    const place = el('pre', { class: 'explanation', tabindex: '0', role: 'group', 'aria-label': `About: ${finding.title}` });
    return finding.explain && el('details', { ontoggle: async () => {
        try {
            place.textContent = place.textContent || await api.explain(finding.id);
        } catch (error) {
            place.textContent = `${error.message}. In a terminal: ${finding.explain}`;
        }
    } }, el('summary', {}, 'When this fires, and why it matters'), place);
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

/* Of the finding whose fix the page begins with, what the line at the top says. */
function savingOf(finding, { outlook }) {
    const saving = finding.saving || {};
    return outlook && outlook.finding === finding.id && outlook.basis === 'replay' && outlook.now_ns > 0
        ? { ...saving, expected_share: 1 - outlook.step_ns / outlook.now_ns, low_share: Math.max(0, 1 - outlook.high_ns / outlook.now_ns), high_share: 1 - outlook.low_ns / outlook.now_ns }
        : saving;
}

function savingLine(finding, report) {
    const saving = savingOf(finding, report);
    if (!(saving.high_share > 0)) {
        return el('p', { class: 'saving muted' }, 'There is no estimate of the saving.');
    }
    if (saving.high_share > TELLS && saving.basis === 'bound') {
        return el('p', { class: 'saving' }, 'The cause takes up to ', el('b', {}, fmtShare(saving.high_share)), ' of the time. What its fix saves isn\u2019t known.');
    }
    const step = (report.outlook && report.outlook.now_ns) || report.steps.mean_ns || report.steps.median_ns || 0;
    const low = saving.low_share || 0;
    const expected = saving.expected_share > 0 ? saving.expected_share : 0;
    const high = saving.high_share;
    const span = low > 0 && fmtShare(low) !== fmtShare(high) ? fmtShares(low, high) : `at most ${fmtShare(high)}`;
    const text = expected ? fmtShare(expected) : span;
    const time = step > 0 ? `, ${expected ? fmtNs(expected * step) : `${low > 0 ? fmtNs(low * step) + ' to ' : 'at most '}${fmtNs(high * step)}`}` : '';
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
    return el('div', { class: 'saving' }, el('p', {}, 'Saves ', el('b', {}, text), ` of the ${report.breakdown.scope === 'span' ? 'recorded time' : 'step'}${time}`,
        basis ? el('span', { class: 'muted' },
            ` (${expected ? `${span}, ` : ''}${basis})`) : null),
            scale);
}

/* Sentences of the report are ASCII. */
function withMicro(text) {
    return text.replace(/(\d) us\b/g, '$1 \u00b5s');
}

function evidenceList(finding) {
    const evidence = finding.evidence || [];
    const item = (e) => el('li', {}, withMicro(e.text), e.start_ns !== undefined &&
        [' ', link('at ' + fmtNs(e.start_ns), hashOf('timeline', viewOf(e)), { title: e.track, class: 'quiet-link' })]);
    return evidence.length > 0 && el('div', { class: 'evidence' }, el('ul', {}, evidence.slice(0, 3).map(item)),
        evidence.length > 3 && el('details', {}, el('summary', {}, `${evidence.length - 3} more`),
            el('ul', {}, evidence.slice(3).map(item))));
}

function fixBlock(fix) {
    const framework = fix.framework && fix.framework !== 'any'
        && el('span', { class: 'badge quiet-badge' }, fix.framework);
    return el('div', { class: 'fix' }, el('p', {}, framework, ' ', fix.text),
        fix.snippet && codeBlock(fix.snippet, fix.text, 'Copy fix'));
}
