// SPDX-License-Identifier: Apache-2.0
// Which time the timeline shows: times in ns as numbers (exact to 2^53 ns, 104 days), mapped to pixels.
// Every lasting change is put on a stack that undo takes back; one gesture is one entry of it.

const SHORTEST_NS = 20; // of a view
const UNDO_KEPT = 100;
const GESTURE_MS = 600; // changes closer than this in time are one gesture

export class TimeView {
    constructor(first, last, onChange) {
        this.first = first;
        this.last = Math.max(last, first + SHORTEST_NS);
        this.t0 = this.first;
        this.t1 = this.last;
        this.width = 1;
        this.onChange = onChange;
        this.past = [];
        this.lastMove = -Infinity;
    }

    get span() {
        return this.t1 - this.t0;
    }

    get nsPerPx() {
        return this.span / this.width;
    }

    x(t) {
        return (t - this.t0) / this.nsPerPx;
    }

    time(x) {
        return this.t0 + x * this.nsPerPx;
    }

    /* The one place that changes the view: keeps it near the recording and not too short. */
    set(t0, t1, remember = true) {
        const whole = this.last - this.first;
        const span = Math.min(Math.max(t1 - t0, SHORTEST_NS), whole * 1.1);
        const middle = Math.min(Math.max((t0 + t1) / 2, this.first), this.last);
        const now = performance.now();
        if (remember && now - this.lastMove > GESTURE_MS) {
            this.past.push([this.t0, this.t1]);
            this.past.splice(0, this.past.length - UNDO_KEPT);
        }
        this.lastMove = now;
        this.t0 = middle - span / 2;
        this.t1 = middle + span / 2;
        this.onChange();
    }

    /* factor < 1 zooms in; the time under pixel `x` stays where it is. */
    zoom(factor, x = this.width / 2) {
        const whole = (this.last - this.first) * 1.1;
        const span = Math.min(Math.max(this.span * factor, SHORTEST_NS), whole);
        const at = this.time(x);
        const share = x / this.width;
        this.set(at - span * share, at + span * (1 - share));
    }

    pan(pixels) {
        const shift = pixels * this.nsPerPx;
        this.set(this.t0 + shift, this.t1 + shift);
    }

    fit() {
        const room = (this.last - this.first) * 0.01;
        this.jump(this.first - room, this.last + room);
    }

    /* A gesture of its own, regardless of what came just before or comes after. */
    jump(t0, t1) {
        this.lastMove = -Infinity;
        this.set(t0, t1);
        this.lastMove = -Infinity;
    }

    /* What is shown now is where undo ends. */
    begin() {
        this.past = [];
        this.lastMove = -Infinity;
    }

    /* Shows [start, start + dur] in the middle two thirds, or only brings it into sight. */
    show(start, dur, closeUp) {
        const span = closeUp ? Math.max(dur * 1.5, SHORTEST_NS * 5) : Math.max(this.span, dur * 1.2);
        const middle = start + dur / 2;
        if (!closeUp && start >= this.t0 && start + dur <= this.t1) {
            return;
        }
        this.jump(middle - span / 2, middle + span / 2);
    }

    undo() {
        const was = this.past.pop();
        if (!was) {
            return false;
        }
        [this.t0, this.t1] = was;
        this.lastMove = -Infinity;
        this.onChange();
        return true;
    }
}

/* Distance of the ticks: 1, 2 or 5 times a power of ten, near `pixels` apart. */
export function tickStep(nsPerPx, pixels = 110) {
    const raw = nsPerPx * pixels;
    const power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= raw) || raw;
}
