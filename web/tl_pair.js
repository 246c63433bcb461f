// SPDX-License-Identifier: Apache-2.0
// Two steps under each other, one of each profile, on one scale: the rows of steps of A and B, aligned by
// the order of the steps; a choice of the pair shows both by their parts.

import { stepBar } from './bar.js';
import { add, clear, el } from './dom.js';
import { fmtNs } from './format.js';
import { partsFromObject } from './parts.js';

export async function comparedTimelines({ api }) {
    const [a, b] = await Promise.all([api.report(), api.report('b')]);
    const pick = (report) => {
        const list = report.steps.list || [];
        return list.filter((step) => step.device === (list[0] || {}).device);
    };
    const [listA, listB] = [pick(a), pick(b)];
    const most = Math.min(listA.length, listB.length);
    if (!most) {
        return el('p', {}, 'One side holds no steps.');
    }
    const place = el('div');
    const slider = el('input', { type: 'range', min: '0', max: String(most - 1), value: '0', 'aria-label': 'Pair of steps', class: 'pair-slider', oninput: () => show() });
    const show = () => {
        const [x, y] = [listA[Number(slider.value)], listB[Number(slider.value)]];
        const scale = Math.max(x.dur_ns, y.dur_ns);
        slider.setAttribute('aria-valuetext', `step ${x.number} and step ${y.number}`);
        add(clear(place), [['A', x], ['B', y]].map(([side, step]) => [el('h3', {}, `${side}, step ${step.number}: ${fmtNs(step.dur_ns)}`),
            stepBar(partsFromObject(step.parts || {}, step.dur_ns), { label: `${side}, step ${step.number}`, scale })]));
    };
    show();
    return el('div', {}, slider, place);
}
