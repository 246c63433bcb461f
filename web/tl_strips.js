// SPDX-License-Identifier: Apache-2.0
// Boxes of many rows as pixels: a row of the timeline is a line one pixel high of a picture of its own,
// which is stretched to the row's height when all lines are there. A box costs as many stores as it has
// pixels across, however many boxes there are, and no call into the canvas. Each row has three lines:
// boxes, marks of what is merged (a bar along the bottom), marks of what stands out (on top).

const LINES = 3;
const [BOXES, MERGED, OUTLIERS] = [0, 1, 2];
const BAR = 4; // pixels of the bar along the bottom
const TICK = 3; // of the mark on top
const TICK_WIDTH = 6;

export class Strips {
    constructor() {
        this.canvas = document.createElement('canvas');
        this.ctx = this.canvas.getContext('2d', { willReadFrequently: true });
        this.rows = [];
        this.room = 0;
    }

    /* Begins a picture of `width` CSS pixels, `ratio` of the device's each. */
    begin(width, ratio) {
        const across = Math.max(1, Math.round(width * ratio));
        Object.assign(this, { width, ratio, rows: [] });
        if (across !== this.across) {
            this.across = across;
            this.room = 0;
        }
        this.room && this.pixels.fill(0);
    }

    /* A row at `top` that is `height` CSS pixels high; what the boxes are put into. */
    row(top, height) {
        if (this.rows.length === this.room) {
            this.grow();
        }
        this.rows.push({ top, height, used: 0 });
        return this.rows.length - 1;
    }

    grow() {
        const { pixels, across } = this;
        this.room = Math.max(64, this.room * 2);
        this.canvas.width = across;
        this.canvas.height = this.room * LINES;
        this.image = new ImageData(across, this.room * LINES);
        this.pixels = new Uint32Array(this.image.data.buffer);
        this.rows.length && this.pixels.set(pixels);
    }

    /* From x0 to x1, in CSS pixels, one of the device's at least; a wide one leaves a gap after it. */
    box(row, x0, x1, colour) {
        const from = Math.max(0, Math.round(x0 * this.ratio));
        const end = Math.min(this.across, Math.max(from + 1, Math.round(x1 * this.ratio) - (x1 - x0 > 3 ? 1 : 0)));
        const at = (row * LINES + BOXES) * this.across;
        if (end - from > 8) {
            this.pixels.fill(colour, at + from, at + end);
        } else {
            for (let x = from; x < end; x++) {
                this.pixels[at + x] = colour;
            }
        }
        this.rows[row].used |= 1 << BOXES;
    }

    mark(row, line, x0, x1, colour) {
        const at = (row * LINES + line) * this.across;
        const from = Math.max(0, Math.round(x0 * this.ratio));
        this.pixels.fill(colour, at + from, at + Math.max(from, Math.min(this.across, Math.round(x1 * this.ratio))));
        this.rows[row].used |= 1 << line;
    }

    merged(row, x0, x1, colour) {
        this.mark(row, MERGED, x0, x1, colour);
    }

    standsOut(row, x0, x1, colour) {
        this.mark(row, OUTLIERS, x0, x0 + Math.max(2, Math.min(x1 - x0, TICK_WIDTH)), colour);
    }

    /* Onto the canvas, whose pixels are CSS ones. */
    paint(ctx) {
        if (!this.rows.length) {
            return;
        }
        this.ctx.putImageData(this.image, 0, 0, 0, 0, this.across, this.rows.length * LINES);
        ctx.imageSmoothingEnabled = false;
        this.rows.forEach(({ top, height, used }, i) => {
            const line = (what, y, h) => used & 1 << what
                && ctx.drawImage(this.canvas, 0, i * LINES + what, this.across, 1, 0, y, this.width, h);
            line(BOXES, top, height);
            line(MERGED, top + height - BAR, BAR);
            line(OUTLIERS, top - 2, TICK);
        });
    }
}

function wordOf([red, green, blue, alpha]) {
    return (red | green << 8 | blue << 16 | alpha << 24) >>> 0;
}

/* A color of CSS as a word of pixels (little-endian: red in the lowest byte). */
export function pixelOf(colour) {
    return wordOf(channels(colour));
}

/* The same, `alpha` of it, over another. */
export function pixelOver(colour, under, alpha) {
    const [over, below] = [channels(colour), channels(under)];
    const mixed = [0, 1, 2].map((i) => Math.round(over[i] * alpha + below[i] * (1 - alpha)));
    return wordOf([...mixed, 255]);
}

/* A pixel as a color of style sheets. */
export function cssOfWord(word) {
    return `rgb(${word & 255}, ${word >>> 8 & 255}, ${word >>> 16 & 255})`;
}

let tiny = null;

function channels(colour) {
    if (!tiny) {
        const canvas = document.createElement('canvas');
        canvas.width = canvas.height = 1;
        tiny = canvas.getContext('2d', { willReadFrequently: true });
    }
    tiny.clearRect(0, 0, 1, 1);
    tiny.fillStyle = colour;
    tiny.fillRect(0, 0, 1, 1);
    return tiny.getImageData(0, 0, 1, 1).data;
}
