// SPDX-License-Identifier: Apache-2.0
// The stacked bar of one step: parts in the report's order, each with color and pattern, labeled
// where it fits, in the legend otherwise; with a table twin. A part may bring its own `kind` {label, group, pattern}. Widths are shares of `scale` (default:
// the bar's own sum), so that two bars of different steps can stand under each other.

import { el, twin } from './dom.js';
import { fmtNs, fmtShare } from './format.js';
import { partMeaning, partOf } from './parts.js';

const LABEL_FITS = 0.07; // share of the bar from which a label is drawn inside
const MINOR = 0.01; // share below which a small window's legend leaves a part out

export function stackedBar(parts, { label, scale } = {}) {
    const total = parts.reduce((sum, part) => sum + part.ns, 0);
    const whole = scale || total || 1;
    const text = parts.filter((part) => part.ns > 0)
        .map((part) => `${(part.kind || partOf(part.id)).label} ${fmtShare(part.ns / (total || 1))}`).join(', ');
    const bar = el('div', { class: 'bar', role: 'img', 'aria-label': `${label || 'Step'}: ${text}` });
    for (const part of parts) {
        const width = part.ns / whole;
        if (width <= 0) {
            continue;
        }
        const kind = part.kind || partOf(part.id);
        const piece = el('div', { class: `piece g-${kind.group} p-${kind.pattern}`, 'data-part': part.id,
            title: `${kind.label}: ${fmtNs(part.ns)}, ${fmtShare(part.ns / (total || 1))}` });
        piece.style.flexGrow = String(width);
        if (width >= LABEL_FITS) {
            piece.append(el('span', { class: 'piece-label' }, el('span', { class: 'piece-name' }, kind.label),
                el('span', {}, `\u00a0${fmtShare(part.ns / (total || 1))}`)));
        }
        bar.append(piece);
    }
    if (whole > total) {
        const rest = el('div', { class: 'piece-rest' });
        rest.style.flexGrow = String(1 - total / whole);
        bar.append(rest);
    }
    return bar;
}

export function legend(parts, total) {
    return el('ul', { class: 'legend' }, parts.filter((part) => part.ns > 0).map((part) => {
        const kind = part.kind || partOf(part.id);
        return el('li', { class: part.ns < MINOR * total ? 'minor' : undefined }, el('span', { class: `swatch g-${kind.group} p-${kind.pattern}`, 'aria-hidden': 'true' }),
            ` ${kind.label} `, el('b', {}, fmtShare(part.ns / (total || 1))));
    }));
}

export function partsTable(parts, scope, caption) {
    const total = parts.reduce((sum, part) => sum + part.ns, 0) || 1;
    return el('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': caption }, el('table', {},
        el('caption', {}, caption),
        el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'part'),
            el('th', { scope: 'col', class: 'num' }, 'time'),
            el('th', { scope: 'col', class: 'num' }, 'share'), el('th', { scope: 'col' }, 'meaning'))),
        el('tbody', {}, parts.map((part) => el('tr', {}, el('th', { scope: 'row' }, partOf(part.id).label),
            el('td', { class: 'num' }, fmtNs(part.ns)), el('td', { class: 'num' }, fmtShare(part.ns / total)),
            el('td', {}, partMeaning(part.id, scope)))))));
}

/* Bar, legend and table twin of one step. */
export function stepBar(parts, { label, scope, scale } = {}) {
    const total = parts.reduce((sum, part) => sum + part.ns, 0);
    const picture = el('div', { class: 'bar-block' }, stackedBar(parts, { label, scale }), legend(parts, total));
    return twin(label, picture, () => partsTable(parts, scope, label));
}
