// SPDX-License-Identifier: Apache-2.0
// The legend under the timeline: what the colors of the ribbons and events mean, those that are shown, and the
// marks on events.

import { el } from './dom.js';
import { PARTS, partOf } from './parts.js';
import { KIND_WORDS } from './tl_draw.js';

const MARKS = [['tl-mark-merged', 'several, merged'], ['tl-mark-long', 'far longer than others of its name']];

export function timelineLegend(ribbons, tracks) {
    const parts = new Set([...ribbons.whole.values()].flatMap((doc) => doc.cells.map((cell) => doc.parts[cell[1]])));
    const swatch = (group, pattern, text) => el('li', {}, el('span', { class: `swatch g-${group} p-${pattern}`, 'aria-hidden': 'true' }), ` ${text}`);
    const groups = new Set(tracks.map((track) => track.group));
    const shown = KIND_WORDS.filter(([group]) => (['compute', 'transfer', 'sync'].includes(group) ? groups.has('device') : group === 'comm' ? groups.has('comm') || groups.has('device') : true));
    return el('div', { class: 'tl-legend' },
        parts.size > 0 && el('ul', { class: 'legend', 'aria-label': 'Causes' }, el('li', { class: 'muted' }, 'cause'),
            PARTS.filter((part) => parts.has(part.id)).map((part) => swatch(partOf(part.id).group, part.pattern, part.label))),
        el('ul', { class: 'legend', 'aria-label': 'Events' }, el('li', { class: 'muted' }, 'event'), shown.map(([group, words]) => swatch(group, 'solid', words)),
            MARKS.map(([name, words]) => el('li', {}, el('span', { class: `tl-mark ${name}`, 'aria-hidden': 'true' }), ` ${words}`))));
}
