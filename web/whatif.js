// SPDX-License-Identifier: Apache-2.0
// What-if: tick fixes and see the step that stoker whatif predicts beside the real one, with its
// interval and the next bottleneck. Prices are the replay's; where its gate is shut there are none,
// and the page says why. Fixes together need the server: one file holds single fixes only.

import { stepBar } from './bar.js';
import { add, announce, clear, el, facts, link, section, trouble } from './dom.js';
import { fmtNs, fmtShare } from './format.js';
import { hashOf, keepState } from './state.js';
import { dataTable, makeTable } from './table.js';

const DEFAULT_VALUES = { 'precision=': 'bf16', 'batch=': '2', 'steps-per-launch=': '10', 'callbacks-every=': '10',
    'gpus=': '2' };

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
    const page = { api, doc, ticked: new Set(), values: new Map(), result: el('div', { id: 'predicted' }),
        turn: 0 };
    for (const fix of (params.fix || '').split(',').filter(Boolean)) {
        const [id, value] = fix.includes('=') ? [fix.slice(0, fix.indexOf('=') + 1), fix.slice(fix.indexOf('=') + 1)]
            : [fix];
        page.ticked.add(id);
        value && page.values.set(id, value);
    }
    add(main, el('div', { class: 'whatif' }, section('choices', 'Fixes', choices(page), notApplying(page)),
        page.result), allPrices(page));
    await predict(page);
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

async function predict(page) {
    const fixes = chosenFixes(page);
    const turn = ++page.turn;
    keepState('whatif', { fix: fixes.join(',') });
    clear(page.result).setAttribute('aria-busy', 'true');
    let scenario = null;
    let problem = null;
    if (fixes.length) {
        try {
            scenario = page.doc.scenarios.find((s) => s.fix.join(',') === fixes.join(','));
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

/* The real step, and under it on the same scale the predicted one with its interval; each is split by what
   its critical path goes to. */
function pictures(page, scenario) {
    const { base } = page.doc;
    const scale = Math.max(base.measured_ns, scenario ? scenario.high_ns : 0);
    const real = [el('h3', {}, `Now: ${fmtNs(base.measured_ns)} on average`),
        stepBar(pathParts(base.path, base.measured_ns), { label: 'The step now', scale })];
    if (!scenario) {
        return [...real, el('p', { class: 'muted' }, 'No fix is selected.'), PATH_NOTE()];
    }
    const expected = scenario.expected_ns;
    return [...real, el('h3', {}, `Predicted: ${fmtNs(expected)}, between ${fmtNs(scenario.low_ns)} and ${fmtNs(scenario.high_ns)}`),
        el('div', { class: 'predicted-bar' }, whisker(scenario, scale),
            stepBar(pathParts(scenario.path, expected), { label: 'The predicted step', scale })),
        facts([['saves', `${fmtShare(scenario.saving.low_share)} to ${fmtShare(scenario.saving.high_share)}`],
            ['then limited by', scenario.next_bottleneck || 'unknown']]), PATH_NOTE(),
        (scenario.assumes || []).length > 0 && el('div', {}, el('p', {}, 'This assumes:'),
            el('ul', { class: 'reasons' }, scenario.assumes.map((text) => el('li', {}, text)))),
        el('p', {}, link('A link to this choice', hashOf('whatif', { fix: chosenFixes(page).join(',') })))];
}

const PATH_NOTE = () => el('p', { class: 'muted' },
    'Each step is split by its critical path. Work off that path wouldn\'t make the step shorter.');

/* What is too small to be seen is left out. */
function pathParts(path, ns) {
    return (path || []).filter((part) => part.share >= 0.002).map((part) => ({ id: part.kind, ns: part.share * ns, share: part.share }));
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
    const rows = page.doc.scenarios.map((s) => [s.fix.join(' + '), s.saving.expected_share, s.saving.low_share,
        s.saving.high_share, s.expected_ns, s.next_bottleneck || null]);
    const { gate } = page.doc;
    return [section('prices', 'Each fix alone',
        dataTable(makeTable('prices', 'Each fix alone', columns, rows), { sortBy: 'saving_share' })),
        el('p', { class: 'muted' }, `The replay without fixes is off from the measured step by ${fmtShare(gate.replay_error_share)}; ` +
            `${fmtShare(gate.unexplained_share)} of the step is not explained by any dependency.`)];
}
