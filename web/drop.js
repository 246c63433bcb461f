// SPDX-License-Identifier: Apache-2.0
// A profile dropped on any page, or picked on Compare: the server of this page gets it, with the token,
// and opens it alone or compares it with the profile that is open. Nothing leaves the machine that
// stoker view runs on. Limit: DROP_BYTES, which the server enforces.

import { add, announce, button, clear, el } from './dom.js';
import { fmtBytes } from './format.js';

const DROP_BYTES = 2 ** 30;

/* Sends the file and goes to what was opened. `tell`: a place for what happens meanwhile. */
export async function openFile(api, file, isCompared, tell) {
    if (file.size > DROP_BYTES) {
        tell.textContent = `${file.name} has ${fmtBytes(file.size)}: the page takes at most ${fmtBytes(DROP_BYTES)}. Give its name to stoker view instead.`;
        return;
    }
    tell.textContent = `Reading ${file.name} (${fmtBytes(file.size)})…`;
    try {
        const { profile } = await api.drop(file, isCompared);
        const search = new URLSearchParams(location.search);
        search.set('profile', profile);
        location.href = `${location.pathname}?${search}#${isCompared ? 'compare' : 'why'}`;
    } catch (error) {
        tell.textContent = error.message;
        announce(error.message);
    }
}

function ask(api, file) {
    const tell = el('p', { role: 'status', id: 'drop-status' });
    const dialog = el('dialog', { id: 'drop', 'aria-labelledby': 'drop-title' });
    const close = () => { dialog.close(); dialog.remove(); };
    add(clear(dialog), el('h2', { id: 'drop-title' }, file.name), el('p', { class: 'muted' }, `${fmtBytes(file.size)}, goes to the stoker view that serves this page, nowhere else.`),
        el('div', { class: 'tools' }, button('Open it', () => openFile(api, file, false, tell), { class: 'primary', id: 'drop-open' }),
            api.can('report') && button('Compare with what is open', () => openFile(api, file, true, tell), { id: 'drop-compare' }),
            button('Cancel', close)), tell);
    document.body.append(dialog);
    dialog.showModal();
}

export function listenDrops(api) {
    const carriesFiles = (event) => [...(event.dataTransfer ? event.dataTransfer.types : [])].includes('Files');
    document.addEventListener('dragover', (event) => carriesFiles(event) && event.preventDefault());
    document.addEventListener('drop', (event) => {
        if (!carriesFiles(event)) {
            return;
        }
        event.preventDefault();
        const [file] = event.dataTransfer.files;
        if (!api.can('drop')) {
            announce('This page takes no files: run stoker view PROFILE');
        } else if (file && !document.querySelector('dialog[open]')) {
            ask(api, file);
        }
    });
}

/* For who has no pointer to drop with: the second profile, picked. */
export function filePicker(api) {
    const tell = el('p', { role: 'status', id: 'drop-status' });
    const input = el('input', { type: 'file', id: 'pick-file', onchange: () => input.files[0] && openFile(api, input.files[0], true, tell) });
    return api.can('drop') && el('div', { class: 'tools' }, el('label', { for: 'pick-file' }, 'Compare with a file, or drop one on the page:'), input, tell);
}
