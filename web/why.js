// SPDX-License-Identifier: Apache-2.0
// The first page: why the GPU waits, the step now and with the first fix, the cause ribbon, what to fix
// first, and in one line whether the profile can be trusted. Everything here is the report (stoker why
// --json) and the ribbon; nothing is computed again but sums for display.

import { stepBar } from './bar.js';
import { add, codeBlock, el, link, section } from './dom.js';
import { firstFinding, otherFindings } from './findings.js';
import { fmtBytes, fmtCount, fmtNs, fmtShare } from './format.js';
import { outlookBlock, outlookLine, splitFixedBar } from './outlook.js';
import { partsFromObject } from './parts.js';
import { ribbonBlock } from './ribbon.js';
import { goTo, hashOf } from './state.js';
import { stepStrip } from './strip.js';
import { dataTable, makeTable } from './table.js';

const SAME_STEP = 0.02;
const STEP_SOURCES = { annotated: 'Steps are as marked in the profile', framework: "Steps are from the framework's own events",
    inferred: 'Steps are inferred from what repeats' };

export async function whyPage(main, context) {
    const { api, params } = context;
    const report = await api.report();
    const canJudge = report.verdict.kind !== 'cannot-tell';
    const ribbon = await ribbonBlock(api, report, { device: params.device, start: params.seg, onFinding: openFinding });
    add(main, verdictBlock(report), canJudge ? [outlookBlock(report), ribbon] : null);
    const about = (kind) => (report.findings || []).map((finding, at) => ({ ...finding, at }))
        .filter((finding) => (finding.kind === 'recording') === (kind === 'recording'));
    const job = about('job');
    const first = job.find(({ id }) => report.outlook && id === report.outlook.finding) || job[0];
    const others = job.filter((finding) => finding !== first);
    if (first) {
        main.append(section('fixes', canJudge ? 'Fix this first' : 'What to do', firstFinding(first, report, api)));
    }
    others.length && main.append(section('more-findings', 'Then', otherFindings(others, report, api)));
    add(main, canJudge ? barBlock(report) : [cannotTell(report), ribbon, barBlock(report)], stripBlock(report), devicesBlock(report));
    const place = el('div', { class: 'analysis' });
    add(main, place, trustFooter(report, about('recording'), api));
    if (params.seg && ribbon) {
        context.shown = () => ribbon.querySelector('.ribbon-canvas').focus({ preventScroll: true });
    }
    if (params.finding) {
        context.shown = () => openFinding(params.finding);
    }
    // These take seconds where there is much.
    context.later = () => Promise.all([topKernels(place, api), splitFixedBar(report, api).catch(() => {})]);
}

/* Where the reader left for the timeline. */
function openFinding(id) {
    const found = document.querySelector(`[data-finding="${CSS.escape(id)}"]`);
    if (found) {
        found.closest('details')?.setAttribute('open', '');
        found.scrollIntoView({ block: 'center' });
        found.focus({ preventScroll: true });
    }
}

/* The recorded step, where it is not the one that the times above begin with: that is without the profiler. */
function stepTime({ outlook, steps }) {
    const now = (outlook && outlook.now_ns) || 0;
    const isSame = now > 0 && Math.abs(steps.median_ns / now - 1) < SAME_STEP;
    return steps.median_ns > 0 && !isSame && el('span', { id: 'recorded-step' }, 'median step ', el('b', {}, fmtNs(steps.median_ns)),
        now > 0 && steps.median_ns > now && ' as recorded, profiling included');
}

function verdictBlock(report) {
    const { verdict, steps } = report;
    const canJudge = verdict.kind !== 'cannot-tell';
    return el('div', { class: `verdict v-${verdict.kind}` },
        el('h1', { id: 'sentence' }, verdict.sentence), canJudge && outlookLine(report),
        el('p', { class: 'verdict-facts' }, el('span', { class: 'badge' }, verdict.kind.replaceAll('-', ' ')),
            canJudge && verdict.confidence && el('span', {}, 'confidence ', el('b', {}, verdict.confidence)),
            stepTime(report),
            steps.used > 0 && el('span', {}, el('b', {}, fmtCount(steps.used)),
                steps.used === 1 ? ' step used' : ' steps used')));
}

/* The median step where there is one, else the whole span. */
function barBlock(report) {
    const { breakdown } = report;
    const median = breakdown.median_step;
    const parts = (median && median.parts && median.parts.length) ? median.parts : breakdown.parts;
    if (!parts || !parts.some((part) => part.ns > 0)) {
        return null;
    }
    const where = median && median.device !== undefined ? ` on device ${median.device}` : '';
    const isOnly = report.steps.used === 1;
    const label = median && median.number !== undefined ? `${isOnly ? 'The step' : 'The median step'} (step ${median.number}${where})`
        : breakdown.scope === 'span' ? 'The whole recording, without steps' : 'All steps used';
    const summed = breakdown.parts.filter((part) => part.ns > 0);
    return section('step', label, stepBar(parts, { label, scope: breakdown.scope }),
        median && (!isOnly || report.devices.length > 1) && el('details', {}, el('summary', {}, 'All steps used, together'),
            stepBar(summed, { label: 'All steps used', scope: breakdown.scope })));
}

function stripBlock(report) {
    const { steps, breakdown } = report;
    if (!steps.list || steps.count < 2) { // one alone is the bar above
        return null;
    }
    const device = (breakdown.median_step && breakdown.median_step.device) || steps.list[0].device;
    const strip = stepStrip(steps, device, (step) =>
        goTo('timeline', { t0: step.start_ns, t1: step.start_ns + step.dur_ns }));
    const left = steps.rows_left_out ? `, ${fmtCount(steps.rows_left_out)} rows left out` : '';
    return strip && section('steps',
        `${fmtCount(steps.count)} ${steps.count === 1 ? 'step' : 'steps'}${device ? ` on device ${device}` : ''}`,
        strip,
        el('p', { class: 'muted' }, `Green, below: computing. Orange, above: not computing. Dashed: the median, ${fmtNs(steps.median_ns)}; 95th percentile ${fmtNs(steps.p95_ns)}. `,
            `${STEP_SOURCES[steps.source] || `Steps are ${steps.source}`}${left}.`));
}

/* One line at the end: whether the recording can be trusted. What it rests on opens in place. */
function trustFooter(report, findings, api) {
    const { profile, steps } = report;
    const damaged = (profile.issues || []).filter((issue) => issue.severity !== 'info')
        .reduce((sum, issue) => sum + (issue.count || 0), 0);
    const ranks = new Set(profile.inputs.flatMap((input) => input.ranks || []));
    const line = [steps.count ? `${fmtCount(steps.used)} of ${fmtCount(steps.count)} ${steps.count === 1 ? 'step' : 'steps'} used` : 'no steps found', `${fmtCount(profile.events.read)} events`,
        profile.events.dropped ? `${fmtCount(profile.events.dropped)} dropped` : 'none dropped',
        damaged > 0 && `${fmtCount(damaged)} damaged or repaired`, ranks.size > 1 && `${fmtCount(ranks.size)} ranks`,
        findings.length > 0 && `${findings.length} ${findings.length > 1 ? 'remarks' : 'remark'} on the recording`].filter(Boolean).join(', ');
    return el('details', { id: 'trust', class: 'card trust', open: findings.some((finding) => finding.severity === 'high') },
        el('summary', {}, el('b', {}, 'Can this be trusted? '), el('span', { class: `health h-${profile.health.status}` }, profile.health.status), `: ${line}`),
        (profile.health.why || []).length > 0
            && el('ul', { class: 'reasons' }, profile.health.why.map((why) => el('li', {}, why))),
        findings.length > 0 && otherFindings(findings, report, api),
        (steps.excluded || []).length > 0 && el('div', {}, el('h3', {}, `${steps.excluded.length} steps left out`),
            el('ul', {}, steps.excluded.map((x) => el('li', {}, `step ${x.step}: ${x.why}`)))),
        issuesBlock(report), checkedBlock(report), foot(report));
}

function cannotTell(report) {
    const reasons = [...(report.profile.health.why || [])].filter((why) => why !== report.verdict.sentence);
    const framework = (report.profile.inputs[0] || {}).producer || '';
    return section('record', 'Why there is no verdict, and how to record a better profile',
        reasons.length > 0 && el('ul', {}, reasons.map((why) => el('li', {}, why))),
        el('p', {}, 'A verdict needs at least ten steps after the warm-up, the device\'s ',
            'events, and the calls that launch its work.'),
        recordingHelp(framework).map(([name, code]) => el('div', { class: 'snippet-block' }, el('h3', {}, name),
            codeBlock(code, name))));
}

/* Ways to record, the profile's own framework first. */
function recordingHelp(producer) {
    const ways = [
        ['PyTorch', 'from torch.profiler import profile, schedule, tensorboard_trace_handler\n' +
            'with profile(schedule=schedule(wait=5, warmup=5, active=10),\n' +
            '             on_trace_ready=tensorboard_trace_handler("log")) as p:\n' +
            '    for batch in loader:\n        train_step(batch)\n        p.step()'],
        ['TensorFlow', 'tf.profiler.experimental.start("log")\nfor step in range(20):\n' +
            '    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):\n        train_step(next(it))\n' +
            'tf.profiler.experimental.stop()'],
        ['JAX', 'with jax.profiler.trace("log"):\n    for step in range(20):\n' +
            '        with jax.profiler.StepTraceAnnotation("train", step_num=step):\n' +
            '            state = train_step(state, next(it))\n    jax.block_until_ready(state)'],
        ['Nsight Systems', 'nsys profile -t cuda,nvtx,osrt --export sqlite python train.py'],
    ];
    return ways.sort((a, b) => Number(producer.includes(b[0])) - Number(producer.includes(a[0])));
}

function issuesBlock(report) {
    const issues = report.profile.issues || [];
    return issues.length ? el('div', { id: 'issues' }, el('h3', {}, 'Problems in the file'),
        el('ul', { class: 'issues' }, issues.map((issue) => el('li', {},
            el('b', {}, `${fmtCount(issue.count)} × ${issue.id}`),
            ` (${issue.severity.replaceAll('_', ' ')}): ${issue.meaning}. `,
                el('span', { class: 'muted' }, issue.remedy.startsWith('nothing to do') ? `Nothing to do${issue.remedy.slice('nothing to do'.length)}` : `What to do: ${issue.remedy}`)))))
        : null;
}

function checkedBlock(report) {
    const rules = report.rules || [];
    const count = (state) => rules.filter((rule) => rule.state === state).length;
    const columns = [['rule', 'text'], ['state', 'text'], ['why', 'text']];
    const rows = rules.map((rule) => [rule.id, rule.state.replaceAll('_', ' '), rule.why || null]);
    return el('div', { id: 'checked' }, el('h3', {}, 'What was checked'),
        el('p', {}, `${rules.length} rules: ${count('fired')} fired, ${count('passed')} passed, `,
            `${count('not_applicable')} don't apply, ${count('skipped')} couldn't be checked.`),
        el('details', {}, el('summary', {}, 'Every check, with its reason'),
            dataTable(makeTable('rules', 'Rules', columns, rows))));
}

function devicesBlock(report) {
    const devices = report.devices || [];
    if (!devices.length) {
        return null;
    }
    const columns = [['device', 'text'], ['name', 'text'], ['busy_share', 'share'], ['span_ns', 'ns'],
        ['compute_ns', 'ns'],
        ['communication_exposed_ns', 'ns'], ['transfer_exposed_ns', 'ns'], ['kernels', 'count']];
    const rows = devices.map((d) => [d.id, d.name || null, d.span_ns ? d.busy_ns / d.span_ns : null, d.span_ns,
        d.compute_ns,
        d.communication_exposed_ns, d.transfer_exposed_ns, d.kernels]);
    const left = report.breakdown.devices_left_out || [];
    return section('devices', devices.length > 1 ? 'Devices and ranks' : 'Device', rankBars(report),
        dataTable(makeTable('devices', 'Devices', columns, rows)),
        left.length > 0 && el('ul', {}, left.map((d) => el('li', {}, `device ${d.id} left out: ${d.why}`))),
        devices.length > 1 && el('p', {}, link('Heat map of steps by rank', hashOf('ranks'))));
}

/* The mean step of each device under each other, on one scale: which one is late shows at a glance. */
function rankBars(report) {
    const sums = new Map();
    for (const step of report.steps.list || []) {
        if (step.device === undefined || (report.steps.excluded || []).some((x) => x.step === step.number)) {
            continue;
        }
        const sum = sums.get(step.device) || { count: 0, dur: 0, parts: {} };
        sum.count++;
        sum.dur += step.dur_ns;
        for (const [id, ns] of Object.entries(step.parts || {})) {
            sum.parts[id] = (sum.parts[id] || 0) + ns;
        }
        sums.set(step.device, sum);
    }
    if (sums.size < 2) {
        return null;
    }
    const scale = Math.max(...[...sums.values()].map((sum) => sum.dur / sum.count));
    return el('div', { class: 'rank-bars' }, [...sums].slice(0, 16).map(([device, sum]) => {
        const mean = Object.fromEntries(Object.entries(sum.parts).map(([id, ns]) => [id, ns / sum.count]));
        const label = `Device ${device}, mean step ${fmtNs(sum.dur / sum.count)}`;
        return el('div', {}, el('h3', {}, label),
            stepBar(partsFromObject(mean, sum.dur / sum.count), { label, scale }));
    }));
}

/* The ten names that take most time, over all devices: the table has a row for each device. */
function kernelsByName(table) {
    const at = (id) => table.columns.findIndex((column) => column.id === id);
    const [name, count, total, share, core] = ['name', 'count', 'total_ns', 'total_share', 'tensor_core'].map(at);
    const sums = new Map();
    let all = 0;
    for (const row of table.rows) {
        const sum = sums.get(row[name]) || [row[name], 0, 0, 0, core >= 0 ? row[core] : null];
        sum[1] += row[count];
        sum[2] += row[total];
        sums.set(row[name], sum);
        all += row[total];
    }
    // Shares are of what is listed only where nothing was left out.
    const rows = [...sums.values()].sort((a, b) => b[2] - a[2]).slice(0, 10).map(([n, c, t, , tensor]) =>
        [n, c, t, share >= 0 && !table.rows_left_out ? t / (all || 1) : null, t / (c || 1), tensor]);
    return makeTable('kernels', 'Top kernels', [['name', 'text'], ['count', 'count'], ['total_ns', 'ns'],
        ['total_share', 'share'], ['mean_ns', 'ns'], ['tensor_core', 'text']], rows);
}

async function topKernels(main, api) {
    try {
        const doc = await api.table('kernels');
        const table = doc.tables.find((t) => t.id === 'kernels');
        if (table && table.rows.length) {
            const few = kernelsByName(table);
            main.append(section('kernels', 'Top kernels', dataTable(few),
                el('p', {}, link('All kernels and other tables', hashOf('tables', { a: 'kernels' })))));
        }
    } catch {
        // The page is whole without it; the analyses' page says what is missing.
    }
}

function foot(report) {
    return el('p', { class: 'muted foot' }, report.profile.inputs.slice(0, 8).map((input) =>
        `${input.path} (${input.format}, ${fmtBytes(input.bytes)})`).join('; '),
    report.profile.inputs.length > 8 ? ` and ${report.profile.inputs.length - 8} more` : '',
    `, read by stoker ${report.stoker.version}. Shares of the whole: `, fmtShare(1), ' is the step\'s wall time.');
}
