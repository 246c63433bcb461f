// SPDX-License-Identifier: Apache-2.0
// The minimap above the timeline: the whole recording, a line of ribbon for each device, and which part of
// it is in sight. A drag moves the view, a drag next to it chooses another. For the pointer alone: keys
// move the timeline itself.

import { cssVar, el } from './dom.js';
import { readyCanvas, watchSize } from './strip.js';

const MAP_PX = 30;
const LEAST_PX = 4;

export class Minimap {
    constructor(page) {
        this.page = page;
        this.canvas = el('canvas', { class: 'tl-minimap', 'aria-hidden': 'true' });
        watchSize(this.canvas, () => this.draw());
        this.listen();
    }

    xOf(t) {
        const { view } = this.page;
        return (t - view.first) / (view.last - view.first) * this.width;
    }

    timeAt(x) {
        const { view } = this.page;
        return view.first + x / (this.width || 1) * (view.last - view.first);
    }

    listen() {
        const { canvas, page } = this;
        let drag = null;
        const at = (event) => event.clientX - canvas.getBoundingClientRect().left;
        canvas.addEventListener('pointerdown', (event) => {
            const x = at(event);
            const [x0, x1] = [this.xOf(page.view.t0), this.xOf(page.view.t1)];
            const isWhole = x1 - x0 > 0.95 * this.width;
            drag = { x, from: page.view.t0, moves: !isWhole && x >= x0 - LEAST_PX && x <= x1 + LEAST_PX };
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener('pointermove', (event) => {
            const x = at(event);
            if (drag && drag.moves) {
                const t0 = drag.from + this.timeAt(x) - this.timeAt(drag.x);
                page.view.set(t0, t0 + page.view.span);
            } else if (drag && Math.abs(x - drag.x) > LEAST_PX) {
                page.view.set(...[this.timeAt(drag.x), this.timeAt(x)].sort((a, b) => a - b));
            }
        });
        canvas.addEventListener('pointerup', (event) => {
            const x = at(event);
            if (drag && !drag.moves && Math.abs(x - drag.x) <= LEAST_PX) { // a click: there, as wide as before
                const middle = this.timeAt(x);
                page.view.jump(middle - page.view.span / 2, middle + page.view.span / 2);
            }
            drag = null;
        });
        canvas.addEventListener('pointercancel', () => { drag = null; });
    }

    draw() {
        const ready = readyCanvas(this.canvas, MAP_PX);
        if (!ready) {
            return;
        }
        const { ctx, width } = ready;
        const { page } = this;
        this.width = width;
        ctx.fillStyle = cssVar('--page');
        ctx.fillRect(0, 0, width, MAP_PX);
        const docs = [...page.ribbons.whole.values()].slice(0, MAP_PX / 3);
        docs.forEach((doc, i) => {
            const x = this.xOf(doc.from_ns);
            const picture = page.ribbons.picturesOf(doc).columns;
            ctx.drawImage(picture, x, 2 + i * (MAP_PX - 4) / docs.length, this.xOf(doc.from_ns + picture.width * doc.bucket_ns) - x,
                (MAP_PX - 4) / docs.length - (docs.length > 1 ? 1 : 0));
        });
        const x0 = this.xOf(page.view.t0);
        const w = Math.max(LEAST_PX, this.xOf(page.view.t1) - x0);
        ctx.fillStyle = cssVar('--page');
        ctx.globalAlpha = 0.6;
        ctx.fillRect(0, 0, Math.max(0, x0), MAP_PX);
        ctx.fillRect(x0 + w, 0, width, MAP_PX);
        ctx.globalAlpha = 1;
        ctx.strokeStyle = cssVar('--focus');
        ctx.lineWidth = 2;
        ctx.strokeRect(x0 + 1, 1, w - 2, MAP_PX - 2);
    }
}
