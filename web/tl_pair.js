// SPDX-License-Identifier: Apache-2.0
// Two timelines under each other, in step: the n-th step of A over the n-th step of B, on one scale, from
// their starts on. A move of one moves the other. Which pair is shown is a slider; buttons do for the
// keyboard what the pointer does on the pictures.

import { stepBar } from './bar.js';
import { add, button, clear, el } from './dom.js';
import { fmtNs } from './format.js';
import { partsFromObject } from './parts.js';
import { TimelinePage } from './timeline.js';
import { listenPointer } from './tl_input.js';

const ROOM = 0.05; // of a step, before and after it
const MOVE_PX = 120;

/* The steps of the first device that has any, or of the host. */
function stepsOf(report) {
    const list = report.steps.list || [];
    return list.filter((step) => step.device === (list[0] || {}).device);
}

export async function comparedTimelines(context) {
    const apis = [context.api, await context.api.other()];
    const sides = await Promise.all(apis.map(async (api, i) => {
        const report = await api.report();
        return { name: i ? 'B, after' : 'A, before', api, report, info: await api.info(), steps: stepsOf(report) };
    }));
    const pairs = Math.min(...sides.map((side) => side.steps.length));
    if (!pairs) {
        return el('p', {}, 'One of the two profiles has no steps.');
    }
    const pair = new StepPair(sides, pairs);
    context.leave = () => pair.leave();
    return pair.node;
}

class StepPair {
    constructor(sides, pairs) {
        Object.assign(this, { sides, at: 0, following: false, bars: el('div') });
        this.slider = el('input', { type: 'range', min: '0', max: String(pairs - 1), value: '0',
            'aria-label': 'Pair of steps', class: 'pair-slider',
            oninput: () => this.show(Number(this.slider.value)) });
        const places = sides.map((side) => {
            const place = el('div', { class: 'pair-side' }, el('h3', {}, side.name));
            side.page = new TimelinePage(place, side.api, side.info, side.report, side.name);
            side.page.onView = () => this.follow(side);
            listenPointer(side.page);
            side.page.canvas.addEventListener('keydown', (event) => this.key(side.page, event));
            return place;
        });
        const { view } = sides[0].page;
        this.node = el('div', { class: 'pair' }, el('div', { class: 'tools' }, el('label', {}, 'Step ', this.slider),
            button('Zoom in', () => view.zoom(0.7)), button('Zoom out', () => view.zoom(1 / 0.7)),
            button('Left', () => view.pan(-MOVE_PX)), button('Right', () => view.pan(MOVE_PX)),
                button('This step', () => this.show(this.at))),
        this.bars, places);
        requestAnimationFrame(() => this.show(0));
    }

    show(at) {
        this.at = at;
        const steps = this.sides.map((side) => side.steps[at]);
        const longest = Math.max(...steps.map((step) => step.dur_ns));
        this.slider.setAttribute('aria-valuetext', `step ${steps[0].number} of A and step ${steps[1].number} of B`);
        add(clear(this.bars), this.sides.map((side,
            i) => [el('h3', {}, `${side.name}, step ${steps[i].number}: ${fmtNs(steps[i].dur_ns)}`),
            stepBar(partsFromObject(steps[i].parts || {}, steps[i].dur_ns),
                { label: `${side.name}, step ${steps[i].number}`, scale: longest })]));
        const { start_ns: start } = steps[0];
        this.sides[0].page.view.set(start - longest * ROOM, start + longest * (1 + ROOM));
    }

    /* The other side takes the same distance from its own step's start, and the same scale. */
    follow(side) {
        if (this.following) {
            return;
        }
        this.following = true;
        const { view } = side.page;
        for (const other of this.sides.filter((candidate) => candidate !== side)) {
            const shift = other.steps[this.at].start_ns - side.steps[this.at].start_ns;
            other.page.view.t0 = view.t0 + shift;
            other.page.view.t1 = view.t1 + shift;
            other.page.redraw();
        }
        this.following = false;
    }

    key(page, event) {
        const action = { ArrowUp: 'trackUp', ArrowDown: 'trackDown', ArrowLeft: 'previous', ArrowRight: 'next',
            Enter: 'enter', NumpadEnter: 'enter',
            Escape: 'clear', PageUp: 'pageUp', PageDown: 'pageDown', KeyE: 'fold', KeyT: 'table' }[event.code];
        if (action && !event.ctrlKey && !event.metaKey && !event.altKey) {
            page.act(action, event);
            event.preventDefault();
        }
    }

    leave() {
        for (const { page } of this.sides) {
            page.gone = true;
            page.data.closed = true;
        }
    }
}
