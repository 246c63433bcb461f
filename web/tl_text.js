// SPDX-License-Identifier: Apache-2.0
// Text that fits its box, by what the canvas measures. Widths are kept: a name is drawn many times.

const WIDTHS_KEPT = 20000;
const widths = new Map();

export function textWidth(ctx, text) {
    let width = widths.get(text);
    if (width === undefined) {
        width = ctx.measureText(text).width;
        widths.size > WIDTHS_KEPT && widths.clear();
        widths.set(text, width);
    }
    return width;
}

/* The text, cut with an ellipsis to at most `room` pixels; '' where not even a letter fits. */
export function fitText(ctx, text, room) {
    if (textWidth(ctx, text) <= room) {
        return text;
    }
    let low = 0;
    let high = Math.min(text.length - 1, Math.ceil(room / 2));
    while (low < high) { // the longest beginning that fits
        const middle = (low + high + 1) >> 1;
        ctx.measureText(text.slice(0, middle) + '…').width <= room ? low = middle : high = middle - 1;
    }
    return low > 0 ? text.slice(0, low) + '…' : '';
}
