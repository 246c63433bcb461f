// SPDX-License-Identifier: Apache-2.0
// Numbers as text: times, shares, sizes, rates, counts, each with its unit, at most three significant
// digits, and a narrow space that does not break between number and unit, but none before "%". An unknown
// value is a dash.

const NARROW = '\u202f';
export const UNKNOWN_TEXT = '\u2013';

const NS_UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
const BYTE_UNITS = [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']];
const RATE_UNITS = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']];

/* Three significant digits without an exponent: 0.123, 1.23, 12.3, 123, 1230. */
export function digits3(value) {
    const size = Math.abs(value);
    if (size >= 100 || size === 0) {
        return String(Math.round(value));
    }
    return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

function scaled(value, units) {
    const size = Math.abs(value);
    for (const [factor, unit] of units) {
        if (size >= factor * 0.9995) {
            return digits3(value / factor) + (unit ? NARROW + unit : '');
        }
    }
    const unit = units[units.length - 1][1];
    return digits3(value) + (unit ? NARROW + unit : '');
}

function known(value) {
    return typeof value === 'number' && Number.isFinite(value);
}

export function fmtNs(ns) {
    return known(ns) ? scaled(ns, NS_UNITS) : UNKNOWN_TEXT;
}

/* A time on the axis: enough digits to tell neighbors `step` apart. */
export function fmtTick(ns, step) {
    const [factor, unit] = NS_UNITS.find(([f]) => Math.abs(step) >= f) || NS_UNITS[3];
    const decimals = Math.max(0, Math.min(3, -Math.floor(Math.log10(step / factor))));
    return grouped((ns / factor).toFixed(decimals)) + NARROW + unit;
}

export function fmtShare(share) {
    if (!known(share)) {
        return UNKNOWN_TEXT;
    }
    const percent = share * 100;
    const size = Math.abs(percent);
    if (percent > 0 && percent < 0.005) {
        return '<0.01%';
    }
    const text = size >= 10 || size === 0 ? percent.toFixed(0) : percent.toFixed(size >= 1 ? 1 : 2);
    return text + '%';
}

/* From one share to another: "63\u201376%". */
export function fmtShares(low, high) {
    const [from, to] = [fmtShare(low), fmtShare(high)];
    return from === to ? to : from.replace(/%$/, '') + '\u2013' + to;
}

export function fmtBytes(bytes) {
    return known(bytes) ? scaled(bytes, BYTE_UNITS) : UNKNOWN_TEXT;
}

export function fmtRate(rate, unit = '') {
    if (!known(rate)) {
        return UNKNOWN_TEXT;
    }
    const text = scaled(rate, RATE_UNITS);
    return `${text}${unit && !/[A-Za-z]$/.test(text) ? NARROW : ''}${unit}/s`; // "49.6 GB/s", "12 B/s"
}

function grouped(text) {
    const [whole, rest] = text.split('.');
    const parts = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
    return rest === undefined ? parts : parts + '.' + rest;
}

export function fmtCount(count) {
    if (!known(count)) {
        return UNKNOWN_TEXT;
    }
    return Number.isInteger(count) ? grouped(String(count)) : digits3(count);
}

/* A value without a unit. */
export function fmtNumber(value) {
    if (!known(value)) {
        return UNKNOWN_TEXT;
    }
    return Number.isInteger(value) || Math.abs(value) >= 1000 ? fmtCount(Math.round(value)) : digits3(value);
}

/* A cell of a table by the type of its column (docs/table.md). */
export function fmtCell(value, column) {
    if (value === null || value === undefined) {
        return UNKNOWN_TEXT;
    }
    switch (column.type) {
    case 'ns': return fmtNs(value);
    case 'bytes': return fmtBytes(value);
    case 'share': return fmtShare(value);
    case 'rate': return fmtRate(value, column.id.includes('bytes') ? 'B' : column.id.includes('flops') ? 'FLOP' : '');
    case 'count': return fmtCount(value);
    case 'real': case 'number': return known(value) ? fmtCount(value) : String(value);
    case 'bool': return value ? 'yes' : 'no';
    default: return String(value);
    }
}

export function isNumeric(column) {
    return ['ns', 'bytes', 'share', 'rate', 'count', 'real', 'number'].includes(column.type);
}

/* Words of ids that say little by themselves; of those that the report's own tables have, too. */
const WORDS = { busy_share: 'busy', span_ns: 'recorded', communication_exposed_ns: 'exposed communication', transfer_exposed_ns: 'exposed copies',
    exposed_ns: 'exposed', total_share: 'share', tensor_core: 'tensor cores', dur_ns: 'time', t_ns: 'at', start_ns: 'start', self_ns: 'in itself',
    self_share: 'share in itself', max_ns: 'longest', min_ns: 'shortest', p95_ns: '95th percentile', per_element_ns: 'per element', count: 'count',
    union_ns: 'covered', wait_ns: 'waits', waits_for_others_ns: 'waits for others', saving_share: 'saves', low_share: 'at least', high_share: 'at most',
    expected_ns: 'step then', then_limited_by: 'then limited by', moved_by_ns: 'starts after',
    op: 'operation', flops_per_s: 'arithmetic', bytes_per_s: 'bandwidth', intensity: 'FLOP per byte', ridge: 'FLOP per byte at the ridge', bound: 'limited by',
    roof_share: 'share of the limit', roof_ns: 'least time' };

/* A heading of a column or figure {id, label}: total_ns -> total; the unit is in the cell. */
export function headingOf({ id, label }) {
    return label || WORDS[id] || titleOf(id);
}

export function titleOf(id) {
    return id.replace(/_(ns|bytes|share)$/, (_, unit) => (unit === 'share' ? ' share' : unit === 'ns' ? '' : ' size'))
        .replace(/_bytes_per_s$/, ' bandwidth').replace(/_per_s$/, ' rate').replaceAll('_', ' ');
}

/* One line of CSV (RFC 4180). What a spreadsheet would take for a formula gets a ' before it. */
export function csvLine(cells) {
    return cells.map((cell) => {
        let text = cell === null || cell === undefined ? '' : String(cell);
        if (typeof cell === 'string' && /^[=+\-@\t\r]/.test(text)) {
            text = "'" + text;
        }
        return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
    }).join(',') + '\r\n';
}
