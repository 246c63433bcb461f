// SPDX-License-Identifier: Apache-2.0
// Search of the whole trace: the server finds, the page walks through the matches. How many there are
// is shown next to the box and announced to screen readers; visible matches are outlined.

import { announce, button, el } from './dom.js';
import { fmtCount, fmtNs } from './format.js';

const HITS_MOST = 1000; // fetched; the count is of all
const TYPING_MS = 250;

export class TimelineSearch {
    constructor(page) {
        Object.assign(this, { page, text: '', found: null, at: -1, ids: null, timer: 0, turn: 0 });
        this.box = el('input', { type: 'search', placeholder: 'Search, or /pattern/', 'aria-label': 'Search the whole trace',
            'aria-describedby': page.bare ? undefined : 'tl-count', id: page.bare ? undefined : 'tl-search',
            oninput: () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.run(this.box.value, false),
                TYPING_MS); },
            onkeydown: (event) => this.key(event) });
        this.count = el('span', { class: 'tl-count', id: page.bare ? undefined : 'tl-count' });
        this.node = el('span', { class: 'tl-search', role: 'search' }, this.box, this.count,
            button('▲', () => this.step(-1), { 'aria-label': 'Previous match', class: 'quiet' }),
            button('▼', () => this.step(1), { 'aria-label': 'Next match', class: 'quiet' }),
            button('List', () => this.found && this.page.showHits(this.found),
                { 'aria-label': 'List the matches', class: 'quiet' }));
    }

    focus() {
        this.box.focus();
        this.box.select();
    }

    async key(event) {
        if (event.key === 'Enter') {
            clearTimeout(this.timer);
            const by = event.shiftKey ? -1 : 1;
            this.text === this.box.value.trim() ? this.step(by) : await this.run(this.box.value, true);
        } else if (event.key === 'Escape') {
            this.page.canvas.focus({ preventScroll: true });
            event.preventDefault(); // a search box would be emptied
            event.stopPropagation();
        }
    }

    async run(text, go) {
        const wanted = text.trim();
        if (this.box.value.trim() !== wanted) {
            this.box.value = wanted;
        }
        if (wanted === this.text && this.found) {
            return;
        }
        const turn = ++this.turn;
        Object.assign(this, { text: wanted, found: null, at: -1, ids: null });
        this.tell(wanted ? 'searching' : '');
        if (wanted) {
            try {
                const found = await this.page.api.search(wanted, HITS_MOST);
                if (turn !== this.turn) {
                    return;
                }
                this.found = found;
                this.ids = new Set(found.hits.map((hit) => hit.id));
                this.tell(`${fmtCount(found.count)} ${found.count === 1 ? 'match' : 'matches'}`);
            } catch (error) {
                turn === this.turn && this.tell(error.message);
            }
        }
        this.page.changed();
        go && this.step(1);
    }

    tell(text) {
        this.count.textContent = text;
        text && announce(text);
    }

    step(by) {
        const hits = this.found ? this.found.hits : [];
        if (!hits.length) {
            announce(this.text ? 'no match' : 'no search');
            return;
        }
        const middle = this.page.view.t0 + this.page.view.span / 2;
        const first = this.at < 0 ? hits.findIndex((hit) => hit.start_ns >= middle - this.page.view.span / 2) : -1;
        this.goTo(this.at >= 0 ? (this.at + by + hits.length) % hits.length : Math.max(0, first));
    }

    goTo(index) {
        this.at = index;
        const hit = this.found.hits[index];
        this.page.select({ ...hit }, true);
        this.tell(`${fmtCount(index + 1)} of ${fmtCount(this.found.count)}, ${fmtNs(hit.dur_ns)}`);
    }
}
