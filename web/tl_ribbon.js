// SPDX-License-Identifier: Apache-2.0
// Ribbons in the timeline: a row for each device, in the detail of the view, and the colors of its gaps.
// Stretches of 1024 buckets are asked for as tiles are, kept up to a bound, and drawn as pictures that
// are made once; until one is there the whole recording's stands in.

import { announce } from './dom.js';
import { bucketsOf, deviceText, drawColumns, hatch, holderOf, isBusyPart, partColours, placeText } from './ribbon.js';
import { tileSpan } from './tl_tile.js';

export const RIBBON_PX = 26;
const KEPT = 120; // stretches
const WHOLE_BUCKETS = 2048;
const GAP_ALPHA = 0.42;
const DEVICES_MOST = 64;

export class TimelineRibbons {
    constructor(api, info, redraw) {
        Object.assign(this, { api, info, redraw, whole: new Map(), kept: new Map(), flying: new Set(), colours: null });
    }

    /* The devices' ribbons, as tracks; none where no time is explained. */
    async open() {
        const end = (this.info.last_ns || 0) + 1;
        let first;
        try {
            first = await this.api.ribbon(undefined, 0, end, WHOLE_BUCKETS);
        } catch {
            return [];
        }
        if (!first.devices.length) {
            return [];
        }
        const devices = first.devices.slice(0, DEVICES_MOST);
        await Promise.all(devices.map(async ({ id }) => this.whole.set(id, id === first.device ? first : await this.api.ribbon(id, 0, end, WHOLE_BUCKETS))));
        return devices.map(({ id, name }) => ({ id: `ribbon ${id}`, ribbon: id, group: 'gpu', rows: 1, events: 0,
            label: deviceText(id, name), title: name }));
    }

    newPalette() {
        this.colours = null;
        for (const doc of [...this.whole.values(), ...this.kept.values()]) {
            doc.pictures = null;
        }
    }

    /* The stretches that cover [t0, t1] in the detail of the view; asks for those that are missing. */
    cover(device, level, t0, t1) {
        if (!this.api.can('tiles')) {
            return [this.whole.get(device)];
        }
        const span = tileSpan(level);
        const found = [];
        for (let index = Math.max(0, Math.floor(t0 / span)); index <= Math.floor(t1 / span); index++) {
            const doc = this.take(device, level, index, span);
            if (!doc) {
                return [this.whole.get(device)];
            }
            found.push(doc);
        }
        return found;
    }

    take(device, level, index, span) {
        const key = `${device} ${level} ${index}`;
        const doc = this.kept.get(key);
        if (doc) {
            this.kept.delete(key);
            this.kept.set(key, doc);
        } else if (!this.flying.has(key) && this.flying.size < 4) {
            this.fetch(key, device, index * span, span);
        }
        return doc;
    }

    async fetch(key, device, from, span) {
        this.flying.add(key);
        try {
            this.kept.set(key, await this.api.ribbon(device, from, from + span, 1024));
            this.kept.size > KEPT && this.kept.delete(this.kept.keys().next().value);
        } catch {
            this.kept.set(key, this.whole.get(device)); // the coarse one has to do
        }
        this.flying.delete(key);
        this.redraw();
    }

    /* A document's pictures: its columns, and in one line the cause of what is idle. */
    picturesOf(doc) {
        if (!doc.pictures) {
            this.colours = this.colours || partColours();
            const across = Math.max(1, Math.ceil((doc.to_ns - doc.from_ns) / doc.bucket_ns));
            const buckets = bucketsOf(doc);
            const make = (high, paint) => {
                const canvas = document.createElement('canvas');
                Object.assign(canvas, { width: across, height: high });
                paint(canvas.getContext('2d'));
                return canvas;
            };
            const place = (t) => (t - doc.from_ns) / doc.bucket_ns;
            doc.pictures = { columns: make(RIBBON_PX, (ctx) => drawColumns(ctx, buckets, doc, place, 0, RIBBON_PX, this.colours)),
                gaps: make(1, (ctx) => drawGaps(ctx, buckets, doc, this.colours)) };
        }
        return doc.pictures;
    }

    /* The listed stretch at a time, asked for where it is too short for the list. */
    async segmentAt(device, t, slack) {
        const holds = (segment) => segment.start_ns - slack <= t && t <= segment.start_ns + segment.dur_ns + slack;
        const docs = [this.whole.get(device), ...[...this.kept.values()].filter((doc) => doc.device === device)];
        const near = docs.flatMap((doc) => doc.segments).filter(holds);
        if (!near.length && this.api.can('tiles')) {
            near.push(...(await this.api.ribbon(device, t - slack - 1, t + slack + 1, 1)).segments.filter(holds));
        }
        return near.sort((a, b) => b.dur_ns - a.dur_ns)[0];
    }

    /* The neighbor of a stretch among those that are listed; `part`: of the same cause alone. */
    neighbour(device, segment, by, part) {
        const all = this.whole.get(device).segments.filter((other) => !part || other.part === part);
        return by > 0 ? all.find((other) => other.start_ns > segment.start_ns) : all.findLast((other) => other.start_ns < segment.start_ns);
    }
}

function drawGaps(ctx, buckets, doc, colours) {
    for (const [bucket, cells] of buckets) {
        const idle = cells.filter((cell) => !isBusyPart(cell.part) && cell.part !== 'collective_wait');
        const sum = idle.reduce((ns, cell) => ns + cell.used + cell.other, 0);
        const most = idle.reduce((a, b) => (!a || b.used + b.other > a.used + a.other ? b : a), null);
        if (most) {
            ctx.globalAlpha = GAP_ALPHA * Math.min(1, sum / doc.bucket_ns);
            ctx.fillStyle = colours.get(most.part) || colours.get('idle_unknown');
            ctx.fillRect(bucket, 0, 1, 1);
        }
    }
}

function drawPicture(scene, doc, picture, y, h) {
    const { ctx, view } = scene;
    const x = view.x(doc.from_ns);
    ctx.drawImage(picture, x, y, view.x(doc.from_ns + picture.width * doc.bucket_ns) - x, h);
}

/* The row of a device, with the names of who held it up. */
export function drawRibbonRow(scene, track, y) {
    const { ctx, view, ribbons, palette } = scene;
    for (const doc of ribbons.cover(track.ribbon, scene.level, view.t0, view.t1)) {
        drawPicture(scene, doc, ribbons.picturesOf(doc).columns, y + 1, RIBBON_PX);
        drawHolders(scene, doc, y);
    }
    const { segment } = scene.selected || {};
    if (segment && scene.selected.track === track.id) {
        ctx.strokeStyle = palette.text;
        ctx.lineWidth = 2.5;
        ctx.strokeRect(view.x(segment.start_ns) - 1, y, Math.max(4, segment.dur_ns / view.nsPerPx + 2), RIBBON_PX + 1);
    }
}

function drawHolders(scene, doc, y) {
    const { ctx, view, palette, width } = scene;
    const pattern = hatch(ctx);
    for (const segment of doc.segments) {
        const x0 = Math.max(0, view.x(segment.start_ns));
        const x1 = Math.min(width, view.x(segment.start_ns + segment.dur_ns));
        if (x1 - x0 < 40 || isBusyPart(segment.part)) {
            continue;
        }
        ctx.fillStyle = pattern;
        ctx.fillRect(x0, y + 1, x1 - x0, RIBBON_PX);
        ctx.fillStyle = palette.onPiece;
        const text = scene.fit(ctx, `${holderOf(segment)} ${placeText(segment)}`.trim(), x1 - x0 - 8);
        text && scene.texts.push([text, x0 + 4, y + 18]);
    }
}

/* Behind a device's operations: why it is idle. */
export function drawGapsBehind(scene, device, y, h) {
    const { ribbons, view } = scene;
    if (ribbons && ribbons.whole.has(device)) {
        for (const doc of ribbons.cover(device, scene.level, view.t0, view.t1)) {
            drawPicture(scene, doc, ribbons.picturesOf(doc).gaps, y, h);
        }
    }
}

export function tellSegment(segment, label) {
    announce(`${label}, ${holderOf(segment)} ${placeText(segment)}`);
}
