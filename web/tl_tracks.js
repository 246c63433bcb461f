// SPDX-License-Identifier: Apache-2.0
// The tracks of the timeline: those of the server with labels that tell them apart, and the page's own,
// the steps of each device, the phases that operations tell, and the places that findings name. Notes of an address.

import { fmtCount, fmtNs } from './format.js';
import { KINDS, stepText } from './tl_draw.js';
import { ownTile } from './tl_tile.js';

export const OWN_STEPS = 20000; // steps that are drawn at most

/* Where there are several devices or ranks a track's label begins with its own; devices stand in order. */
export function labelled(tracks) {
    const known = (value) => value !== undefined && value !== null;
    const several = (key) => new Set(tracks.map((track) => track[key]).filter(known)).size > 1;
    const [devices, ranks] = [several('device'), several('rank')];
    const place = (track) => (devices && known(track.device) ? `${track.device} `
        : ranks && known(track.rank) ? `rank ${track.rank} ` : '');
    const placed = (track) => (track.label.startsWith(place(track)) ? track.label : place(track) + track.label);
    return tracks.map((track) => ({ ...track, label: placed(track) }))
        .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0)
            || String(a.device ?? '').localeCompare(String(b.device ?? ''), undefined, { numeric: true }));
}

export function parseNotes(text) {
    return (text || '').split('|').map((note) => note.match(/^(-?\d{1,18})~(.{1,80})$/)).filter(Boolean)
        .map((m) => ({ t: Number(m[1]), text: m[2] }));
}

/* A track for each rank: its phases, each in its color, one after another. */
export function phaseTracks(doc) {
    const byRank = new Map();
    for (const phase of (doc && doc.phases) || []) {
        byRank.has(phase.rank) || byRank.set(phase.rank, []);
        byRank.get(phase.rank).push(phase);
    }
    return [...byRank].map(([rank, list]) => {
        const items = list.map((phase) => ({ start_ns: phase.start_ns, dur_ns: phase.dur_ns, row: 0, kind: KINDS.indexOf(phase.phase),
            text: `${phase.phase}, ${fmtNs(phase.dur_ns)}`, short: phase.phase,
            note: `${fmtCount(phase.events)} ${phase.events === 1 ? 'operation shows' : 'operations show'} this phase` }));
        return { id: `phases ${rank}`, label: byRank.size > 1 ? `rank ${rank} phases` : 'phases', group: 'steps',
            rows: 1, events: items.length, own: ownTile(items, 0) };
    });
}

/* Steps of each device, and the places that findings name, as tracks of the page's own. */
export function ownTracks(report) {
    const tracks = [];
    const devices = new Map();
    for (const step of (report.steps.list || []).slice(0, OWN_STEPS)) {
        const key = step.device ?? 'host';
        devices.has(key) || devices.set(key, []);
        devices.get(key).push({ start_ns: step.start_ns, dur_ns: step.dur_ns, text: stepText(step), short: String(step.number), step });
    }
    for (const [device, items] of devices) {
        tracks.push({ id: `steps ${device}`, label: device === 'host' ? 'steps' : `steps, device ${device}`,
            group: 'steps', rows: 1, events: items.length, own: ownTile(items, KINDS.indexOf('step')) });
    }
    const places = (report.findings || []).flatMap((finding) =>
        (finding.evidence || []).filter((e) => e.start_ns !== undefined).map((e) =>
            ({ start_ns: e.start_ns, dur_ns: e.dur_ns || 1, text: finding.title, finding: e.text, row: 0 })));
    places.sort((a, b) => a.start_ns - b.start_ns);
    const ends = [];
    for (const place of places) { // overlaps go to sub-rows
        const row = ends.findIndex((end) => end <= place.start_ns);
        place.row = row < 0 ? ends.length : row;
        ends[place.row] = place.start_ns + place.dur_ns;
    }
    if (places.length) {
        tracks.push({ id: 'findings', label: 'findings', group: 'steps', rows: ends.length, events: places.length,
            own: ownTile(places, KINDS.indexOf('finding')) });
    }
    return tracks;
}
