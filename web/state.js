// SPDX-License-Identifier: Apache-2.0
// The state of the page in its address: #PAGE?KEY=VALUE&…, so that a copied address opens this exact
// view. Only what follows the # changes: nothing of it reaches the server. `goTo` makes an entry of
// the browser's history (Back returns), `keepState` replaces the current one.

export const PAGE_NAMES = ['why', 'timeline', 'tables', 'whatif', 'compare', 'ranks', 'query', 'run', 'proofs'];
const LONGEST = 4000; // characters of an address that are looked at

export function parseHash(hash) {
    const text = String(hash || '').slice(0, LONGEST).replace(/^#/, '');
    const cut = text.indexOf('?');
    const page = cut < 0 ? text : text.slice(0, cut);
    const params = {};
    if (cut >= 0) {
        for (const [key, value] of new URLSearchParams(text.slice(cut + 1))) {
            params[key] = value;
        }
    }
    return { page: PAGE_NAMES.includes(page) ? page : 'why', params };
}

export function hashOf(page, params = {}) {
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(params)) {
        if (value !== undefined && value !== null && value !== '') {
            search.set(key, String(value));
        }
    }
    const text = search.toString();
    return '#' + page + (text ? '?' + text : '');
}

export function currentState() {
    return parseHash(location.hash);
}

export function goTo(page, params) {
    location.hash = hashOf(page, params);
}

export function keepState(page, params) {
    const hash = hashOf(page, params);
    if (hash !== location.hash) {
        history.replaceState(null, '', hash);
    }
}

/* A whole number of `params`, or `fallback`. */
export function intParam(params, key, fallback) {
    return /^-?\d{1,18}$/.test(params[key] || '') ? Number(params[key]) : fallback;
}
