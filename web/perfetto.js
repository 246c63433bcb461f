// SPDX-License-Identifier: Apache-2.0
// "Open in Perfetto": the trace as stoker export writes it, to be saved as a file; or, on a click of its
// own that says so, handed to the public page of Perfetto, which then runs in this browser but comes
// from another machine. Nothing of this happens by itself.

import { add, announce, button, clear, el, trouble } from './dom.js';
import { fmtBytes } from './format.js';

const PUBLIC_PAGE = 'https://ui.perfetto.dev';
const PING_MS = 100;
const WAIT_MS = 60000; // until the public page answers

export function perfettoButton(api) {
    return button('Perfetto…', () => showDialog(api), { 'aria-haspopup': 'dialog' });
}

function showDialog(api) {
    let dialog = document.getElementById('perfetto');
    if (!dialog) {
        dialog = el('dialog', { id: 'perfetto', 'aria-labelledby': 'perfetto-title' });
        document.body.append(dialog);
    }
    const state = el('p', { role: 'status' });
    const save = button('Save the trace as a file', () => saveTrace(api, state), { class: 'primary' });
    const hand = button(`Open it on ${PUBLIC_PAGE.slice(8)}`, () => handOver(api, state));
    add(clear(dialog), el('div', { class: 'dialog-head' }, el('h2', { id: 'perfetto-title' }, 'Open in Perfetto'),
        button('Close', () => dialog.close(), { class: 'quiet' })),
    el('p', {}, 'The trace has the verdict, findings and steps as rows. You can open the saved file in any Perfetto.'),
    el('p', {}, save),
    el('p', {}, 'The public page is loaded from the internet, and receives the names, ',
        'times and arguments in the profile. Don\'t use it for confidential profiles.'),
    el('p', {}, hand), state);
    dialog.showModal();
}

/* The trace's bytes; null where they could not be had, which `state` says. */
async function traceOf(api, state) {
    add(clear(state), 'Writing the trace…');
    try {
        const bytes = await api.perfetto();
        add(clear(state), `${fmtBytes(bytes.byteLength)} written`);
        return bytes;
    } catch (error) {
        add(clear(state), trouble('The trace could not be written', error));
        return null;
    }
}

async function saveTrace(api, state) {
    const bytes = await traceOf(api, state);
    if (bytes) {
        const url = URL.createObjectURL(new Blob([bytes]));
        const a = el('a', { href: url, download: 'stoker.pftrace' });
        a.click();
        setTimeout(() => URL.revokeObjectURL(url), 1000);
        announce('saved');
    }
}

/* The page's own protocol: PING until it says PONG, then the trace. The window opens on the click. */
async function handOver(api, state) {
    const page = window.open(PUBLIC_PAGE);
    const bytes = page && await traceOf(api, state);
    if (!bytes) {
        page || add(clear(state), 'The browser did not open a window.');
        return;
    }
    const ping = setInterval(() => page.postMessage('PING', PUBLIC_PAGE), PING_MS);
    const answer = (event) => {
        if (event.origin === PUBLIC_PAGE && event.data === 'PONG') {
            stop();
            page.postMessage({ perfetto: { buffer: bytes, title: document.title } }, PUBLIC_PAGE);
            add(clear(state), 'Opened.');
        }
    };
    const stop = () => {
        clearInterval(ping);
        window.removeEventListener('message', answer);
    };
    window.addEventListener('message', answer);
    setTimeout(stop, WAIT_MS);
}
