// SPDX-License-Identifier: Apache-2.0
// The parts of a step as the report knows them (docs/report.md): label, color group and meaning.
// Colors are CSS variables --g-GROUP; a pattern tells the parts of a group, and waiting from work,
// apart without color. tests/web/check compares ids with src/profile/model/parts.def.

export const PARTS = [
    ['compute', 'compute', 'compute', 'solid', 'kernels except collectives, and memsets'],
    ['communication_exposed', 'communication', 'comm', 'solid', 'collectives not overlapped with compute'],
    ['collective_wait', 'communication wait', 'comm', 'hatch', 'waiting in a collective for a late rank'],
    ['transfer_h2d_exposed', 'H2D copy', 'transfer', 'solid', 'host-to-device copies not overlapped with compute'],
    ['transfer_d2h_exposed', 'D2H copy', 'transfer', 'hatch', 'device-to-host copies not overlapped with compute'],
    ['transfer_d2d_exposed', 'device copy', 'transfer', 'dots',
        'copies within or between devices, or of unknown direction'],
    ['input_wait', 'input', 'input', 'hatch', 'waiting for the next batch'],
    ['compile', 'compile', 'cold', 'dots', 'compilation, autotuning, module loading, graph capture, first use'],
    ['memory_alloc', 'allocation', 'host', 'dots', 'allocating or freeing device memory'],
    ['host_sync', 'sync', 'sync', 'hatch', 'a blocking call released the launching thread late'],
    ['kernel_launch', 'launch', 'host', 'solid', 'kernel launches: runtime calls and the short gaps between them'],
    ['host_wait', 'host blocked', 'host', 'hatch', 'the main thread is blocked on a lock, queue, sleep or future'],
    ['host_compute', 'host work', 'host', 'cross', 'the CPU computes: Python, framework, callbacks'],
    ['profiler_overhead', 'profiler', 'unknown', 'solid', "profiling overhead that the profile records"],
    ['idle_unknown', 'unknown', 'unknown', 'hatch', 'idle, and the profile doesn\'t show why'],
].map(([id, label, group, pattern, meaning]) => ({ id, label, group, pattern, meaning }));

const PART_BY_ID = new Map(PARTS.map((part) => [part.id, part]));

/* A part that this page does not know (a newer stoker) keeps its id as its label. */
export function partOf(id) {
    return PART_BY_ID.get(id) ||
        { id, label: id.replaceAll('_', ' '), group: 'unknown', pattern: 'dots', meaning: '' };
}

/* What a replayed step goes to (stoker whatif --json, `exposed`): coarser than the parts, in their colors. */
const EXPOSED = { compute: ['compute', 'compute', 'solid'], communication: ['communication', 'comm', 'solid'], transfer: ['copies', 'transfer', 'solid'],
    input: ['input', 'input', 'hatch'], host: ['host: launching and other work', 'host', 'solid'], sync: ['sync', 'sync', 'hatch'], unknown: ['unknown', 'unknown', 'hatch'] };

const AGREES = 0.05; // of the step

/* Whether the replay splits the step now as the report does: with several ranks it may follow another one. */
export function agreesWithReplay(parts, exposed) {
    const total = parts.reduce((sum, part) => sum + part.ns, 0);
    const reported = (group) => parts.filter((part) => partOf(part.id).group === group).reduce((sum, part) => sum + part.ns, 0) / (total || 1);
    const replayed = (group) => (exposed || []).filter(({ kind }) => (EXPOSED[kind] || [])[1] === group).reduce((sum, { share }) => sum + share, 0);
    return total > 0 && ['compute', 'comm', 'transfer', 'input'].every((group) => Math.abs(reported(group) - replayed(group)) <= AGREES);
}

export function exposedParts(list, ns) {
    return (list || []).map(({ kind, share }) => {
        const [label, group, pattern] = EXPOSED[kind] || [kind, 'unknown', 'dots'];
        return { id: kind, ns: share * ns, kind: { label, group, pattern } };
    });
}

/* On the host's own scope `compute` is the model's work, not a kernel's. */
export function partMeaning(id, scope) {
    if (scope === 'host' && id === 'compute') {
        return "the model's own operations run";
    }
    return partOf(id).meaning;
}

/* [{id, ns, share}] from an object {id: ns} as in steps.list. */
export function partsFromObject(parts, total) {
    return PARTS.filter((part) => parts[part.id] > 0).map((part) =>
        ({ id: part.id, ns: parts[part.id], share: total > 0 ? parts[part.id] / total : 0 }));
}
