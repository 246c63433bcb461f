// SPDX-License-Identifier: Apache-2.0
// What-if: tick fixes and see the step that stoker whatif predicts next to the real one, with its
// interval and the next bottleneck. Estimates come from the replay; if it fails its gate, the page says why there are
// no estimates. Other sets than single fixes and the best pairs need the server.

import { legend, stackedBar, stepBar } from './bar.js';
import { add, announce, button, clear, el, facts, link, section, trouble } from './dom.js';
import { fmtNs, fmtShare, fmtShares } from './format.js';
import { fmtRange, fmtTimes, priceOfOutlook } from './outlook.js';
import { agreesWithReplay, exposedParts } from './parts.js';
import { hashOf, keepState } from './state.js';
import { dataTable, makeTable } from './table.js';

const DEFAULT_VALUES = { 'precision=': 'bf16', 'batch=': '2', 'steps-per-launch=': '10', 'callbacks-every=': '10',
    'gpus=': '2', 'device=': 'H100', 'input-on-device=': '0.5' };

export async function whatifPage(main, context) {
    const { api, params } = context;
    const doc = await api.whatif([]);
    add(main, el('h1', {}, 'What if?'), el('p', { class: 'muted' },
        'Choose the changes. stoker replays the profile\'s steps with them and estimates the step time, as an interval.'));
    if (!doc.gate.ok) {
        main.append(section('gate', 'No estimates for this profile',
            el('ul', {}, (doc.gate.why || []).map((why) => el('li', {}, why))),
            el('p', {}, 'An estimate needs steps that a replay reproduces, and a profile that shows where their time goes. One of them is missing here, so an estimate would be a guess.')));
        return;
    }
    const report = await api.report();
    const page = { api, doc, report, ticked: new Set(), values: new Map(), result: el('div', { id: 'predicted' }),
        turn: 0 };
    for (const fix of (params.fix ?? firstPrice(doc, report)).split(',').filter(Boolean)) {
        const [id, value] = fix.includes('=') ? [fix.slice(0, fix.indexOf('=') + 1), fix.slice(fix.indexOf('=') + 1)]
            : [fix];
        page.ticked.add(id);
        value && page.values.set(id, value);
    }
    add(main, el('div', { class: 'whatif' }, section('choices', 'Fixes', choices(page), bestPair(page), notApplying(page)),
        page.result), allPrices(page));
    await predict(page);
}

/* Without a choice in the address: the first fix of the first page. */
function firstPrice(doc, report) {
    const price = report.outlook && priceOfOutlook(report);
    return doc.scenarios.some(({ fix }) => fix.join(',') === price) ? price : '';
}

function applying(page) {
    const fixes = (page.doc.fixes || []).filter((fix) => fix.applies && fix.fix !== 'none');
    const priced = new Map(page.doc.scenarios.map((s) => [s.fix.join(','), s]));
    for (const [key] of priced) { // priced, though not listed
        const id = key.includes('=') ? key.slice(0, key.indexOf('=') + 1) : key;
        if (!key.includes(',') && !fixes.some((fix) => fix.fix === id)) {
            fixes.push({ fix: id, what: '' });
        }
    }
    const best = (id) => Math.max(0,
        ...page.doc.scenarios.filter((s) => s.fix.length === 1
        && s.fix[0].startsWith(id)).map((s) => s.saving.expected_share));
    return fixes.map((fix) => ({ ...fix, gain: best(fix.fix) })).sort((a, b) => b.gain - a.gain);
}

function choices(page) {
    return el('ul', { class: 'choices' }, applying(page).map((fix) => {
        const takesValue = fix.fix.endsWith('=');
        const single = page.doc.scenarios.find((s) => s.fix.length === 1 && s.fix[0].startsWith(fix.fix));
        const started = page.values.get(fix.fix)
            || (single && takesValue ? single.fix[0].split('=')[1] : DEFAULT_VALUES[fix.fix] || '2');
        takesValue && page.values.set(fix.fix, started);
        const box = el('input', { type: 'checkbox', id: `fix-${fix.fix}`, 'data-fix': fix.fix, onchange: () => {
            box.checked ? page.ticked.add(fix.fix) : page.ticked.delete(fix.fix);
            predict(page);
        } });
        box.checked = page.ticked.has(fix.fix);
        const value = takesValue && el('input',
            { class: 'fix-value', value: started, 'aria-label': `value of ${fix.fix}`,
            onchange: () => { page.values.set(fix.fix, value.value.trim()); page.ticked.has(fix.fix)
                && predict(page); } });
        return el('li', {}, box, el('label', { for: `fix-${fix.fix}` }, el('b', {}, fix.fix.replace('=', '')),
            fix.what ? `: ${fix.what}` : '',
            fix.gain > 0 && el('span', { class: 'muted' }, ` (alone ${fmtShare(fix.gain)})`)), value);
    }));
}

function notApplying(page) {
    const others = (page.doc.fixes || []).filter((fix) => !fix.applies);
    return others.length > 0 && el('details', {}, el('summary', {}, `${others.length} fixes don't apply here`),
        el('ul', {}, others.map((fix) => el('li', {}, el('b', {}, fix.fix.replace('=', '')),
            `: ${fix.why || fix.what}`))));
}

function chosenFixes(page) {
    return [...page.ticked].map((id) => (id.endsWith('=') ? id + (page.values.get(id) || '2') : id));
}

/* The estimate of these fixes, in any order, where the document holds it. */
function knownScenario(doc, fixes) {
    const key = [...fixes].sort().join(',');
    return [...doc.scenarios, ...(doc.pairs || [])].find((s) => [...s.fix].sort().join(',') === key);
}

/* The two fixes that save most together. */
function bestPair(page) {
    const { pairs, base } = page.doc;
    if (!pairs) {
        return null;
    }
    const [best] = pairs;
    const [single] = page.doc.scenarios.filter((s) => s.fix.length === 1).sort((a, b) => a.expected_ns - b.expected_ns);
    return el('p', { id: 'best-pair' }, best ? [el('b', {}, 'Best pair: '), best.fix.join(' + '), `: ${fmtNs(base.unprofiled_ns)} → ${fmtNs(best.expected_ns)}, ${fmtTimes(best.expected_ns / base.unprofiled_ns)} ` +
        `(${fmtRange(best.low_ns, best.high_ns)}). `, single && single.expected_ns < best.expected_ns && `${single.fix[0]} alone saves more. `, button('Try it', () => tick(page, best.fix), { class: 'quiet' })]
        : 'No two fixes save more together than the best one alone.');
}

function tick(page, fixes) {
    page.ticked.clear();
    for (const fix of fixes) {
        const cut = fix.indexOf('=') + 1;
        page.ticked.add(cut ? fix.slice(0, cut) : fix);
        cut && page.values.set(fix.slice(0, cut), fix.slice(cut));
    }
    document.querySelectorAll('#choices input[data-fix]').forEach((box) => { box.checked = page.ticked.has(box.dataset.fix); });
    predict(page);
}

async function predict(page) {
    const fixes = chosenFixes(page);
    const turn = ++page.turn;
    keepState('whatif', { fix: fixes.join(',') });
    clear(page.result).setAttribute('aria-busy', 'true');
    let scenario = null;
    let problem = null;
    if (fixes.length) {
        try {
            scenario = knownScenario(page.doc, fixes);
            if (!scenario) {
                const doc = await page.api.whatif(fixes);
                scenario = doc.scenarios[0];
                problem = !scenario && new Error((doc.gate.why || []).join('; ') || 'these fixes can\'t be estimated here');
            }
        } catch (error) {
            problem = error;
        }
    }
    if (turn !== page.turn) {
        return;
    }
    page.result.removeAttribute('aria-busy');
    add(clear(page.result), section('prediction', 'The step', pictures(page, scenario),
        problem && trouble('No estimate', problem)));
    if (scenario) {
        announce(`predicted step ${fmtNs(scenario.expected_ns)}, ${fmtNs(scenario.low_ns)} to ${fmtNs(scenario.high_ns)}`);
    }
}

/* The step now, split as on the first page, and under it on the same scale the predicted one with its interval.
   What the critical paths go through is a table: their kinds are no parts of the step. */
function pictures(page, scenario) {
    const { base } = page.doc;
    const scale = Math.max(base.measured_ns, scenario ? scenario.high_ns : 0);
    const reported = stepParts(page.report, base.measured_ns);
    const isSame = agreesWithReplay(reported, base.exposed);
    const real = [el('h3', {}, `Now: ${fmtNs(base.measured_ns)} on average`), isSame ? stepBar(reported, { label: 'The step now', scale })
        : [splitBar(base.exposed, base.measured_ns, 'The step now', scale), el('p', { class: 'muted' }, 'Split as replayed, along the slowest rank. The first page splits the time of all devices.')]];
    if (!scenario) {
        return [...real, el('p', { class: 'muted' }, 'No fix is selected.'), pathTable(base, null)];
    }
    const expected = scenario.expected_ns;
    return [...real, el('h3', {}, `Predicted: ${fmtNs(expected)}, between ${fmtNs(scenario.low_ns)} and ${fmtNs(scenario.high_ns)}`),
        el('div', { class: 'predicted-bar' }, whisker(scenario, scale), splitBar(scenario.exposed, expected, 'The predicted step', scale)),
        facts([['saves', fmtShares(scenario.saving.low_share, scenario.saving.high_share)],
            ['then limited by', scenario.next_bottleneck || 'unknown']]), exposedTable(base, scenario), pathTable(base, scenario),
        (scenario.assumes || []).length > 0 && el('div', {}, el('p', {}, 'This assumes:'),
            el('ul', { class: 'reasons' }, scenario.assumes.map((text) => el('li', {}, text)))),
        el('p', {}, link('A link to this choice', hashOf('whatif', { fix: chosenFixes(page).join(',') })))];
}

/* The report's parts, scaled to the step that the estimates begin with. */
function stepParts(report, ns) {
    const parts = (report.breakdown.parts || []).filter((part) => part.ns > 0);
    const total = parts.reduce((sum, part) => sum + part.ns, 0) || 1;
    return parts.map((part) => ({ id: part.id, ns: part.ns / total * ns }));
}

/* A replayed step: what the device does in it, and what it waits for. */
function splitBar(exposed, ns, label, scale) {
    const parts = exposedParts(exposed, ns);
    return el('div', {}, stackedBar(parts, { label, scale }), legend(parts, ns));
}

/* The same in figures, both replayed. */
function exposedTable(base, scenario) {
    const of = (list, kind) => ((list || []).find((part) => part.kind === kind) || { share: 0 }).share;
    const both = exposedParts([...base.exposed, ...scenario.exposed.filter((part) => !base.exposed.some(({ kind }) => kind === part.kind))], 1);
    const rows = both.map(({ id, kind }) => [kind.label, of(base.exposed, id) * base.unprofiled_ns, of(scenario.exposed, id) * scenario.expected_ns]);
    return el('details', {}, el('summary', {}, 'Each part now and with the fixes'),
        dataTable(makeTable('exposed', 'Each part now and with the fixes', [['part', 'text'], ['now_ns', 'ns'], ['with_the_fixes_ns', 'ns']], rows)));
}

/* What the critical path of a step goes through, now and with the fixes. */
function pathTable(base, scenario) {
    const kinds = [...new Set([...(base.path || []), ...((scenario && scenario.path) || [])].map((part) => part.kind))];
    const of = (path, kind) => ((path || []).find((part) => part.kind === kind) || { share: 0 }).share;
    const rows = kinds.map((kind) => [kind, of(base.path, kind), ...(scenario ? [of(scenario.path, kind)] : [])]);
    const columns = [['goes_through', 'text'], ['now_share', 'share'], ...(scenario ? [['with_the_fixes_share', 'share']] : [])];
    return el('details', {}, el('summary', {}, 'What the critical path goes through'),
        el('p', { class: 'muted' }, 'Work off this path wouldn\'t make the step shorter. A wait that another one hides is on no path, so these shares differ from the step\'s parts.'),
        dataTable(makeTable('path', 'The critical path', columns, rows)));
}

/* The interval of the prediction, on the scale of the bar under it. */
function whisker(scenario, scale) {
    const line = el('div', { class: 'whisker', role: 'img',
        'aria-label': `The interval: ${fmtNs(scenario.low_ns)} to ${fmtNs(scenario.high_ns)}` });
    line.style.insetInlineStart = `${scenario.low_ns / scale * 100}%`;
    line.style.width = `${Math.max(0.2, (scenario.high_ns - scenario.low_ns) / scale * 100)}%`;
    return el('div', { class: 'whisker-track' }, line);
}

function allPrices(page) {
    const columns = [['fix', 'text'], ['saving_share', 'share'], ['low_share', 'share'], ['high_share', 'share'],
        ['expected_ns', 'ns'], ['then_limited_by', 'text']];
    const { gate, pairs } = page.doc;
    const row = (s) => [s.fix.join(' + '), s.saving.expected_share, s.saving.low_share, s.saving.high_share, s.expected_ns, s.next_bottleneck || null];
    return [pairs && pairs.length > 0 && section('pairs', 'Two fixes together',
        dataTable(makeTable('pairs', 'Two fixes together', [['fixes', 'text'], ...columns.slice(1)], pairs.map(row)), { sortBy: 'saving_share' })), section('prices', 'Each fix alone',
        dataTable(makeTable('prices', 'Each fix alone', columns, page.doc.scenarios.map(row)), { sortBy: 'saving_share' })),
        el('p', { class: 'muted' }, `The replay without fixes is off from the measured step by ${fmtShare(gate.replay_error_share)}; ` +
            `${fmtShare(gate.unexplained_share)} of the step is not explained by any dependency.`)];
}
