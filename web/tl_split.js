// SPDX-License-Identifier: Apache-2.0
// Edges that can be moved: between the tracks' names and the picture, and above the panel. With the pointer
// by a drag, with the keyboard by the arrows. Where they stand is kept while the page is open.

import { el } from './dom.js';

const STEP_PX = 24;
const sizes = {}; // by name, in pixels

/* An edge that sets the CSS variable `name` of `host`, from `least` to `most()` pixels. `grows`: 1 where a move to
   the right or down makes it larger, else -1. */
function splitter(host, { name, label, isVertical, least, most, grows, start, onMove }) {
    const edge = el('div', { class: `tl-split ${isVertical ? 'tl-split-x' : 'tl-split-y'}`, role: 'separator', tabindex: '0',
        'aria-label': label, 'aria-orientation': isVertical ? 'vertical' : 'horizontal', 'aria-valuemin': least, 'aria-valuemax': 2000 });
    const set = (size) => {
        sizes[name] = Math.round(Math.max(least, Math.min(most(), size)));
        host.style.setProperty(name, `${sizes[name]}px`);
        edge.setAttribute('aria-valuenow', sizes[name]);
        onMove();
    };
    const at = (event) => (isVertical ? event.clientX : event.clientY);
    let drag = null;
    edge.setAttribute('aria-valuenow', sizes[name] || least);
    sizes[name] && host.style.setProperty(name, `${sizes[name]}px`);
    edge.addEventListener('pointerdown', (event) => {
        drag = { from: at(event), size: start() };
        edge.setPointerCapture(event.pointerId);
        event.preventDefault();
    });
    edge.addEventListener('pointermove', (event) => drag && set(drag.size + grows * (at(event) - drag.from)));
    edge.addEventListener('pointerup', () => { drag = null; });
    edge.addEventListener('pointercancel', () => { drag = null; });
    edge.addEventListener('keydown', (event) => {
        const by = { ArrowLeft: isVertical ? -1 : 0, ArrowRight: isVertical ? 1 : 0, ArrowUp: isVertical ? 0 : -1, ArrowDown: isVertical ? 0 : 1 }[event.code];
        if (by) {
            set(start() + grows * by * STEP_PX);
            event.preventDefault();
            event.stopPropagation();
        }
    });
    return edge;
}

/* The edges of a timeline: beside the names, which is returned, and above the panel (page.panelEdge). */
export function timelineEdges(page, node) {
    const onMove = () => { page.minimap.draw(); page.redraw(); };
    page.panelEdge = splitter(node, { name: '--tl-panel', label: 'Height of the details', least: 80, grows: -1,
        most: () => window.innerHeight * 0.8, start: () => page.panel.clientHeight, onMove });
    page.panelEdge.hidden = true;
    return splitter(node, { name: '--tl-names', label: 'Width of the names', isVertical: true, least: 80, grows: 1,
        most: () => node.clientWidth * 0.6, start: () => page.names.clientWidth, onMove });
}
