// SPDX-License-Identifier: Apache-2.0
// Elements of the page. All text of a profile enters as text nodes: nothing here, or anywhere in this
// folder, parses markup, so a kernel named <script> is a name. Limits: attributes are set as given;
// no name of a profile may become an address (`href` is only made here, by `link` and `saveFile`).

export function el(tag, props = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(props)) {
        if (value === undefined || value === null || value === false) {
            continue;
        }
        if (key.startsWith('on')) {
            node.addEventListener(key.slice(2), value);
        } else if (key === 'class') {
            node.className = value;
        } else if (key in node && typeof value !== 'string') {
            node[key] = value;
        } else {
            node.setAttribute(key, value === true ? '' : String(value));
        }
    }
    add(node, ...children);
    return node;
}

export function add(node, ...children) {
    for (const child of children.flat(Infinity)) {
        if (child !== undefined && child !== null && child !== false) {
            node.append(child instanceof Node ? child : document.createTextNode(String(child)));
        }
    }
    return node;
}

export function clear(node) {
    node.replaceChildren();
    return node;
}

export function button(text, onclick, props = {}) {
    return el('button', { type: 'button', onclick, ...props }, text);
}

/* A link inside the page: `hash` is made by state.js. */
export function link(text, hash, props = {}) {
    return el('a', { href: hash, ...props }, text);
}

let liveTimer = 0;

/* Tells readers of the screen. Repeated calls within a moment are one message: the last. */
export function announce(text) {
    clearTimeout(liveTimer);
    liveTimer = setTimeout(() => {
        const live = document.getElementById('live');
        if (live) {
            live.textContent = text;
        }
    }, 120);
}

export async function copyText(text, from) {
    let done = true;
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        done = copyBySelection(text);
    }
    announce(done ? 'Copied' : 'Could not copy');
    if (from) {
        const was = from.textContent;
        from.textContent = done ? 'Copied' : 'Could not copy';
        setTimeout(() => { from.textContent = was; }, 1500);
    }
}

/* Without a clipboard (a file opened from disk): through a field that is selected. */
function copyBySelection(text) {
    const field = el('textarea', { class: 'offscreen', 'aria-hidden': 'true' });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
}

/* Offers `pieces` (strings) as a download. */
export function saveFile(name, type, pieces) {
    const url = URL.createObjectURL(new Blob(pieces, { type }));
    const a = el('a', { href: url, download: name });
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* Code with a button that copies it. */
export function codeBlock(code, label, text = 'Copy') {
    const copy = button(text, () => copyText(code, copy), { class: 'copy', 'aria-label': `${text}: ${label}` });
    return el('div', { class: 'snippet' }, copy,
        el('pre', { tabindex: '0', role: 'group', 'aria-label': `code: ${label}` }, el('code', {}, code)));
}

/* A section with its heading; `id` makes it a landmark's label. */
export function section(id, title, ...children) {
    return el('section', { id, 'aria-labelledby': `${id}-title`, class: 'card' },
        el('h2', { id: `${id}-title` }, title), children);
}

/* A picture and its table twin: the button (and the key T) changes between the two. */
export function twin(label, picture, makeTable) {
    const table = el('div', { class: 'twin-table', hidden: true });
    const toggle = button('Table', () => {
        const show = table.hidden;
        if (show && !table.firstChild) {
            table.append(makeTable());
        }
        table.hidden = !show;
        picture.hidden = show;
        toggle.textContent = show ? 'Picture' : 'Table';
        toggle.setAttribute('aria-pressed', String(show));
        announce(`${label}: ${show ? 'table' : 'picture'}`);
    }, { class: 'twin-toggle quiet', 'aria-pressed': 'false', 'aria-label': `${label} as a table` });
    return el('div', { class: 'twin' }, el('div', { class: 'twin-bar' }, toggle), picture, table);
}

/* A list of words and values. */
export function facts(pairs) {
    return el('dl', { class: 'facts' }, pairs.filter(Boolean).map(([word, value]) =>
        el('div', {}, el('dt', {}, word), el('dd', {}, value))));
}

/* What stands in for a part of the page that could not be had. */
export function trouble(title, error, ...more) {
    return el('div', { class: 'trouble', role: 'alert' }, el('strong', {}, title),
        el('p', {}, error && error.message ? error.message : String(error)), more);
}

export function cssVar(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
