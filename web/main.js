// SPDX-License-Identifier: Apache-2.0
// Entry of the page: header, navigation, the counts that are always in sight, and the choice of a page
// by the address. Each page is a function (main, context) that fills `main`; one that fails says so in
// its place and leaves the others usable.

import { comparePage } from './compare.js';
import { add, announce, clear, el, link, trouble } from './dom.js';
import { fmtCount } from './format.js';
import { listenDrops } from './drop.js';
import { closeHelp, showHelp } from './help.js';
import { makeApi } from './api.js';
import { Palette } from './palette.js';
import { proofsPage } from './proofs.js';
import { queryPage } from './query.js';
import { ranksPage } from './ranks.js';
import { runPage } from './run.js';
import { currentState, hashOf } from './state.js';
import { ANALYSES, tablesPage } from './tables.js';
import { timelinePage } from './timeline.js';
import { whatifPage } from './whatif.js';
import { whyPage } from './why.js';

/* `needs`: what the server or the file must have for it; `shows`: of which kinds of what was given. */
const PAGES = [
    { id: 'why', title: 'Why', run: whyPage, needs: 'report' },
    { id: 'timeline', title: 'Timeline', run: timelinePage, wide: true, needs: 'report' },
    { id: 'tables', title: 'Analyses', run: tablesPage, needs: 'report' },
    { id: 'whatif', title: 'What-if', run: whatifPage, needs: 'report' },
    { id: 'compare', title: 'Compare', run: comparePage, needs: 'report' },
    { id: 'ranks', title: 'Ranks', run: ranksPage, needs: 'report' },
    { id: 'query', title: 'Query', run: queryPage, needs: 'query' },
    { id: 'run', title: 'Run', run: runPage, shows: ['run'] },
    { id: 'proofs', title: 'Proofs', run: proofsPage, shows: ['proof', 'ledger'] },
];

const context = { api: null, extras: [], leave: null, generation: 0 };
let shownPage = null;

function pagesHere() {
    return PAGES.filter((page) => (page.shows ? context.extras.some((extra) => page.shows.includes(extra.kind))
        : context.api.can(page.needs)));
}

function drawNav(current) {
    const nav = add(clear(document.getElementById('nav')), pagesHere().map((page) =>
        link(page.title, hashOf(page.id),
            { 'aria-current': page.id === current ? 'page' : undefined, 'data-page': page.id })));
    // On a narrow page the row scrolls. scrollIntoView would make the link the place from which Tab
    // goes on (Chromium 150), so that it misses the link to the content.
    const box = nav.getBoundingClientRect(), shown = nav.querySelector('[aria-current]')?.getBoundingClientRect();
    nav.scrollLeft += shown ? Math.max(0, shown.right - box.right) - Math.max(0, box.left - shown.left) : 0;
}

/* Events read, dropped and repaired: the same on every page. */
function drawCounts(report) {
    const { events, issues } = report.profile;
    const damaged = (issues || []).filter((issue) => issue.severity !== 'info').reduce((sum, issue) => sum
        + (issue.count || 0), 0);
    document.getElementById('counts').textContent = `${fmtCount(events.read)} events, ${fmtCount(events.dropped)} dropped, ` +
        `${fmtCount(damaged)} damaged or repaired`;
    const names = report.profile.inputs.map((input) => input.path.split('/').pop());
    const name = names.length > 1 ? `${names[0]} and ${names.length - 1} more` : names[0] || '';
    document.getElementById('profile-name').textContent = name;
    document.getElementById('profile-name').title = report.profile.inputs.map((input) => input.path).slice(0,
        20).join('\n');
    document.title = `${name} – stoker`;
}

/* If the page stays the same and can take a new address, it gets it (`context.update`). */
async function showPage() {
    const { page: id, params } = currentState();
    const here = pagesHere();
    const page = here.find((p) => p.id === id) || here[0];
    if (shownPage === page.id && context.update) {
        context.update(params);
        return;
    }
    const generation = ++context.generation;
    if (context.leave) {
        context.leave();
    }
    Object.assign(context, { leave: null, update: null, later: null, shown: null, params, keys: [] });
    const main = clear(document.getElementById('main'));
    main.className = page.wide ? 'wide' : '';
    main.dataset.page = page.id;
    main.removeAttribute('data-ready');
    main.removeAttribute('data-later');
    const first = shownPage === null;
    shownPage = page.id;
    drawNav(page.id);
    const body = document.createDocumentFragment();
    main.append(el('p', { class: 'muted', id: 'waiting' }, 'Reading…'));
    try {
        await page.run(page.wide ? main : body, context);
    } catch (error) {
        body.append(trouble(`This page could not be shown: ${page.title}`, error));
    }
    if (generation !== context.generation) {
        return;
    }
    document.getElementById('waiting')?.remove();
    main.append(body);
    main.dataset.ready = '1';
    if (context.later) { // what a page adds when the rest is there
        main.dataset.later = '1';
        context.later(main).finally(() => { generation === context.generation && main.removeAttribute('data-later'); });
    }
    if (!first) {
        window.scrollTo(0, 0);
        main.focus({ preventScroll: true });
        announce(`${page.title} page`);
    }
    context.shown && context.shown();
}

let palette = null;

function openPalette() {
    palette = palette || new Palette(async () => ({ api: context.api, pages: pagesHere(), analyses: context.api.can('report') ? ANALYSES : [],
        report: context.api.can('report') ? await context.api.report() : null, whatif: context.whatif }));
    palette.open();
    // Estimates may take seconds: they join what is found when they are there.
    context.whatif || (context.api.can('report') && context.api.whatif([]).then((doc) => { context.whatif = doc; palette.dialog.open && palette.find(); }, () => {}));
}

function helpKeys(event) {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    const isSearch = (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !typing && shownPage !== 'timeline');
    if (isSearch && context.api && !document.querySelector('dialog[open]')) {
        event.preventDefault();
        openPalette();
        return;
    }
    if (event.key === '?' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        showHelp(context.keys || []);
    }
}

async function start() {
    const main = document.getElementById('main');
    document.getElementById('help-button').addEventListener('click', () => showHelp(context.keys || []));
    document.getElementById('search-button').addEventListener('click', () => context.api && openPalette());
    document.getElementById('skip').addEventListener('click', (event) => { event.preventDefault(); main.focus(); });
    document.addEventListener('keydown', helpKeys);
    try {
        context.api = await makeApi();
        listenDrops(context.api);
        context.extras = (await context.api.info()).extras || [];
        if (context.api.can('report')) {
            drawCounts(await context.api.report());
        } else {
            document.getElementById('profile-name').textContent = context.extras[0].name;
            document.title = `${context.extras[0].name} – stoker`;
        }
    } catch (error) {
        add(clear(main), trouble('The profile could not be loaded', error,
            el('p', {}, 'Is stoker view still running? Open the address that it printed, which includes the token.')));
        main.dataset.ready = '1';
        return;
    }
    window.addEventListener('hashchange', () => { closeHelp(); showPage(); });
    await showPage();
}

start();
