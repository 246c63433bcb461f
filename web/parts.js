// SPDX-License-Identifier: Apache-2.0
// The parts of a step as the report knows them (docs/report.md): label, colour group and meaning.
// Colours are CSS variables --g-GROUP; a pattern tells the parts of a group, and waiting from work,
// apart without colour. tests/web/check compares ids with src/profile/model/parts.def.

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

/* What a critical path goes to (docs/whatif.md); its compute is that of the parts above. */
const PATH_KINDS = Object.entries({
    input: ['input', 'hatch', 'the path goes through batch preparation'],
    host: ['host', 'cross', 'the path goes through the CPU, which launches or computes'],
    sync: ['sync', 'hatch', 'the path goes through a call that waits for the device'],
    transfer: ['transfer', 'solid', 'the path goes through a copy'],
    communication: ['comm', 'solid', 'the path goes through a collective'],
    unknown: ['unknown', 'hatch', 'the profile doesn\'t show what the path waits for'],
}).map(([id, [group, pattern, meaning]]) => ({ id, label: id, group, pattern, meaning }));

const PART_BY_ID = new Map([...PARTS, ...PATH_KINDS].map((part) => [part.id, part]));

/* A part that this page does not know (a newer stoker) keeps its id as its label. */
export function partOf(id) {
    return PART_BY_ID.get(id) ||
        { id, label: id.replaceAll('_', ' '), group: 'unknown', pattern: 'dots', meaning: '' };
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
