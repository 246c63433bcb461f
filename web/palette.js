// SPDX-License-Identifier: Apache-2.0
// One search box for everything, on Ctrl or Cmd with K, or / (on the timeline, / searches there): pages,
// analyses, findings, fixes, names of events, and SQL where the text begins with select. Arrows choose,
// Enter goes there.

import { add, announce, clear, el } from './dom.js';
import { fmtCount, fmtNs } from './format.js';
import { goTo } from './state.js';

const NAMES_MOST = 12;
const SEARCH_MS = 200;

/* What can be gone to without the server: [what, text, note, go]. */
function placesOf({ pages, analyses, report, whatif }) {
    const places = pages.map((page) => ['page', page.title, '', () => goTo(page.id)]);
    analyses.forEach(([id, title, question]) => places.push(['analysis', title, question, () => goTo('tables', { a: id })]));
    ((report && report.findings) || []).forEach((finding) => {
        places.push(['finding', finding.title, '', () => goTo('why', { finding: finding.id })]);
        (finding.fix || []).forEach((fix) => places.push(['fix', fix.text, finding.title, () => goTo('why', { finding: finding.id })]));
    });
    ((whatif && whatif.scenarios) || []).forEach((scenario) => places.push(['what-if', scenario.fix.join(' + '), `then ${fmtNs(scenario.expected_ns)}`,
        () => goTo('whatif', { fix: scenario.fix.join(',') })]));
    return places;
}

function rank(text, words) {
    const whole = text.toLowerCase();
    return words.every((word) => whole.includes(word)) ? whole.indexOf(words[0] || '') : -1;
}

export class Palette {
    /* `sources()`: {pages, analyses, report, whatif, api}. */
    constructor(sources) {
        Object.assign(this, { sources, at: 0, items: [], turn: 0, timer: 0 });
        this.list = el('ul', { id: 'palette-list', role: 'listbox', 'aria-label': 'Found' });
        this.box = el('input', { type: 'text', id: 'palette-box', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list',
            'aria-label': 'Search pages, findings, fixes and names, or type SQL', autocomplete: 'off', spellcheck: 'false',
            placeholder: 'Pages, findings, fixes, names, or select …',
            oninput: () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.find(), SEARCH_MS); this.find(true); },
            onkeydown: (event) => this.key(event) });
        this.dialog = el('dialog', { id: 'palette', 'aria-label': 'Search' }, this.box, this.list);
        document.body.append(this.dialog);
        this.dialog.addEventListener('click', (event) => event.target === this.dialog && this.dialog.close());
    }

    open(text = '') {
        if (!this.dialog.open) {
            this.dialog.showModal();
        }
        this.box.value = text;
        this.box.focus();
        this.find();
    }

    key(event) {
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            this.choose((this.at + (event.key === 'ArrowDown' ? 1 : -1) + this.items.length) % (this.items.length || 1));
        } else if (event.key === 'Enter') {
            this.go(this.at);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }

    /* `quick`: what needs no server alone. */
    async find(quick) {
        const text = this.box.value.trim();
        const turn = ++this.turn;
        const source = await this.sources();
        const words = text.toLowerCase().split(/\s+/).filter(Boolean);
        const found = placesOf(source).map((place) => [rank(`${place[1]} ${place[2]}`, words), place]).filter(([at]) => at >= 0)
            .sort((a, b) => a[0] - b[0]).map(([, place]) => place).slice(0, NAMES_MOST);
        if (/^(select|with)\s/i.test(text)) {
            found.unshift(['SQL', text, 'run it', () => goTo('query', { sql: text })]);
        } else if (text && source.api.can('tiles')) {
            found.push(['search', `Every event named “${text}”`, 'in the timeline', () => goTo('timeline', { q: text })]);
        }
        turn === this.turn && this.show(found);
        if (quick || text.length < 2 || !source.api.can('tiles') || /^(select|with)\s/i.test(text)) {
            return;
        }
        try {
            const names = await source.api.search(text, NAMES_MOST);
            if (turn === this.turn) {
                this.show([...found, ...names.hits.map((hit) => ['event', hit.name, `${fmtNs(hit.dur_ns)} at ${fmtNs(hit.start_ns)}`,
                    () => goTo('timeline', { sel: hit.id, q: text })])]);
                announce(`${fmtCount(names.count)} events`);
            }
        } catch {
            // a pattern that is not whole yet
        }
    }

    show(items) {
        this.items = items;
        add(clear(this.list), items.map(([what, text, note], i) => el('li', { role: 'option', id: `palette-${i}`, onclick: () => this.go(i) },
            el('span', { class: 'palette-what' }, what), el('span', { class: 'palette-text' }, text.slice(0, 120)), el('span', { class: 'muted' }, note.slice(0, 80)))),
        !items.length && el('li', { class: 'muted', role: 'option', 'aria-disabled': 'true' }, 'nothing with that name'));
        this.choose(0);
    }

    choose(at) {
        this.at = at;
        [...this.list.children].forEach((item, i) => item.setAttribute('aria-selected', String(i === at)));
        this.items.length && this.box.setAttribute('aria-activedescendant', `palette-${at}`);
        this.list.children[at]?.scrollIntoView({ block: 'nearest' });
    }

    go(at) {
        const item = this.items[at];
        if (item) {
            this.dialog.close();
            item[3]();
        }
    }
}
