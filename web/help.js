// SPDX-License-Identifier: Apache-2.0
// The help that opens on ?: the keys of the page in sight, in groups, and those of every page. Pages
// hand over their own list ([group, [[keys, meaning], …]]), so that what is listed is what works.

import { add, button, clear, el } from './dom.js';

const EVERYWHERE = ['On every page', [
    ['Tab', 'next control'],
    ['Enter, Space', 'use the control'],
    ['Ctrl K, /', 'search pages, findings, fixes and names, or run SQL'],
    ['?', 'this help'],
    ['Esc', 'close the help'],
]];

export function showHelp(groups) {
    let dialog = document.getElementById('help');
    if (!dialog) {
        dialog = el('dialog', { id: 'help', 'aria-labelledby': 'help-title' });
        document.body.append(dialog);
    }
    add(clear(dialog), el('div', { class: 'dialog-head' }, el('h2', { id: 'help-title' }, 'Keys and pointer'),
        button('Close', closeHelp, { id: 'help-close' })),
    el('div', { class: 'help-columns' }, [...groups, EVERYWHERE].map(([title, keys]) =>
        el('section', {}, el('h3', {}, title), keys.map(([key, meaning]) =>
            el('div', {}, el('span', {}, key.split(', ').flatMap((k, i) => [i ? ' ' : '', el('kbd', {}, k)])),
                el('span', {}, meaning)))))),
    el('p', { class: 'muted' }, 'Keys are named by their place on a US keyboard, on any layout. ',
        'The page\'s address stores the view: copy it to come back or to share it.'));
    if (!dialog.open) {
        dialog.showModal();
    }
}

export function closeHelp() {
    const dialog = document.getElementById('help');
    if (dialog && dialog.open) {
        dialog.close();
    }
}
