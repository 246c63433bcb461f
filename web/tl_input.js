// SPDX-License-Identifier: Apache-2.0
// Keys and pointer of the timeline. Keys are places on the keyboard (event.code), so W A S D are where
// they are on any layout. Held keys move smoothly and speed up; with reduced motion each press is one
// step. What a key does is one row of KEY_ROWS: the help lists the same rows.

import { RULER_PX } from './tl_draw.js';

const ZOOM_STEP = 0.8;
const PAN_STEP_PX = 80;
const SPEED_FIRST = 1;
const SPEED_MOST = 6;
const DRAG_FROM_PX = 4; // less is a click

/* [codes, name for people, what it does, name of the action] */
export const KEY_ROWS = [
    ['Move', [
        [['KeyW'], 'W', 'zoom in', 'zoomIn'], [['KeyS'], 'S', 'zoom out', 'zoomOut'],
        [['KeyA'], 'A', 'move left', 'left'], [['KeyD'], 'D', 'move right', 'right'],
        [['Digit0', 'Numpad0', 'Home'], '0', 'the whole recording', 'fit'],
            [['KeyF'], 'F', 'fit the selection', 'focus'],
        [['KeyU', 'Backspace'], 'U', 'undo the last move', 'undo'],
        [['ArrowUp'], '↑', 'track above', 'trackUp'], [['ArrowDown'], '↓', 'track below', 'trackDown'],
        [['PageUp'], 'PgUp', 'scroll up', 'pageUp'], [['PageDown'], 'PgDn', 'scroll down', 'pageDown'],
    ]],
    ['Select', [
        [['Enter', 'NumpadEnter'], 'Enter', 'first visible event on the current track', 'enter'],
        [['Period', 'ArrowRight'], '→', 'next event on the track', 'next'],
            [['Comma', 'ArrowLeft'], '←', 'previous event', 'previous'],
        [['BracketRight'], ']', 'follow an arrow from launch to kernel', 'follow'],
            [['BracketLeft'], '[', 'follow it back', 'followBack'],
        [['KeyR'], 'R', 'select the area of the event, or of the view', 'area'],
            [['Escape'], 'Esc', 'clear the selection', 'clear'],
        [['KeyM'], 'M', 'add a note at the selection', 'note'],
    ]],
    ['Find and arrange', [
        [['Slash'], '/', 'search the whole trace', 'search'],
            [['KeyN'], 'N', 'next match; with Shift, the previous one', 'match'],
        [['KeyP'], 'P', 'pin the current track', 'pin'], [['KeyE'], 'E', 'expand or collapse the current track', 'fold'],
        [['KeyG'], 'G', 'filter tracks', 'filter'], [['KeyT'], 'T', 'list visible events as a table', 'table'],
        [['KeyL'], 'L', 'copy a link to this view', 'copyLink'],
    ]],
];

const POINTER_HELP = ['Pointer', [
    ['drag', 'select an area'], ['click', 'select an event'], ['double click', 'zoom to it'],
    ['Ctrl + wheel', 'zoom; also the wheel over the ruler'], ['wheel', 'scroll the tracks'],
    ['Shift + drag', 'move; also a drag on the ruler'],
]];

export function timelineHelp() {
    return [...KEY_ROWS.map(([title, rows]) => [title, rows.map(([, key, meaning]) => [key, meaning])]), POINTER_HELP];
}

const HELD = { zoomIn: [ZOOM_STEP, 0], zoomOut: [1 / ZOOM_STEP, 0], left: [1, -PAN_STEP_PX], right: [1, PAN_STEP_PX] };

/* `page` has view, canvas, pointerX and `act(name, event)`. Returns what to call on leaving. */
export function listenTimeline(page) {
    const actions = new Map(KEY_ROWS.flatMap(([,
        rows]) => rows.flatMap(([codes, , , action]) => codes.map((code) => [code, action]))));
    const held = new Map(); // action -> time it went down
    const still = matchMedia('(prefers-reduced-motion: reduce)');
    let frame = 0;
    let last = 0;
    const move = (now) => {
        const dt = Math.min(50, now - last) / 100; // in tenths of a second: one step each
        last = now;
        for (const [action, since] of held) {
            const speed = Math.min(SPEED_MOST, SPEED_FIRST + (now - since) / 500);
            const [factor, pixels] = HELD[action];
            factor === 1 ? page.view.pan(pixels * dt * speed)
                : page.view.zoom(factor ** (dt * speed), page.pointerX ?? page.view.width / 2);
        }
        frame = held.size ? requestAnimationFrame(move) : 0;
    };
    const press = (action, repeated) => {
        const [factor, pixels] = HELD[action];
        if (!repeated) { // one step at once, so that a short press does something
            factor === 1 ? page.view.pan(pixels) : page.view.zoom(factor, page.pointerX ?? page.view.width / 2);
        }
        if (!still.matches && !held.has(action)) {
            held.set(action, performance.now() + 150);
            last = performance.now() + 150;
            frame = frame || requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(move), 150));
        } else if (still.matches && repeated) {
            press(action, false);
        }
    };
    const down = (event) => {
        const action = actions.get(event.code);
        const elsewhere = event.target !== page.canvas && event.target !== document.body && event.target.id !== 'main';
        const control = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
        if (event.ctrlKey && event.code === 'KeyZ' && !control) {
            page.act('undo', event);
        } else if (!action || event.ctrlKey || event.metaKey || event.altKey || control
            || document.querySelector('dialog[open]')) {
            return;
        } else if (elsewhere && /^(Arrow|Enter|Page|Home|Backspace)/.test(event.code)) {
            return; // these belong to the control that has the focus
        } else if (action in HELD) {
            press(action, event.repeat);
        } else {
            page.act(action, event);
        }
        event.preventDefault();
    };
    const up = (event) => held.delete(actions.get(event.code));
    const drop = () => held.clear();
    document.addEventListener('keydown', down);
    document.addEventListener('keyup', up);
    window.addEventListener('blur', drop);
    listenPointer(page);
    return () => {
        document.removeEventListener('keydown', down);
        document.removeEventListener('keyup', up);
        window.removeEventListener('blur', drop);
        cancelAnimationFrame(frame);
        held.clear();
    };
}

export function listenPointer(page) {
    const { canvas } = page;
    let drag = null;
    const at = (event) => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener('pointerdown', (event) => {
        const [x, y] = at(event);
        drag = { x, y, lastX: x, pan: event.shiftKey || event.button === 1 || y < RULER_PX, moved: false };
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
        const [x, y] = at(event);
        page.pointerX = x;
        if (!drag) {
            page.hover(x, y);
            return;
        }
        drag.moved = drag.moved || Math.hypot(x - drag.x, y - drag.y) > DRAG_FROM_PX;
        if (drag.moved && drag.pan) {
            page.view.pan(drag.lastX - x);
        } else if (drag.moved) {
            page.dragArea(drag.x, drag.y, x, y, false);
        }
        drag.lastX = x;
    });
    canvas.addEventListener('pointerup', (event) => {
        const [x, y] = at(event);
        if (drag && drag.moved && !drag.pan) {
            page.dragArea(drag.x, drag.y, x, y, true);
        } else if (drag && !drag.moved) {
            page.click(x, y);
        }
        drag = null;
    });
    canvas.addEventListener('pointercancel', () => { drag = null; });
    canvas.addEventListener('pointerleave', () => { page.pointerX = undefined; page.hover(-1, -1); });
    canvas.addEventListener('dblclick', () => page.act('focus'));
    canvas.addEventListener('wheel', (event) => {
        const [x, y] = at(event);
        const scale = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 200 : 1;
        if (event.ctrlKey || event.metaKey || y < RULER_PX) {
            page.view.zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY * scale)) * 0.004), x);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            page.view.pan((event.deltaX || event.deltaY) * scale);
        } else if (!page.scrollBy(event.deltaY * scale)) {
            return; // the end of the tracks: the page may scroll
        }
        event.preventDefault();
    }, { passive: false });
}
