// SPDX-License-Identifier: Apache-2.0
// The parts of a step as the report knows them (docs/report.md): label, colour group and meaning.
// Colours are CSS variables --g-GROUP; a pattern tells the parts of a group, and waiting from work,
// apart without colour. tests/web/check compares ids with src/profile/model/parts.def.

export const PARTS = [
    ['compute', 'compute', 'compute', 'solid', 'kernels that are not collectives, and memsets'],
    ['communication_exposed', 'communication', 'comm', 'solid', 'collectives not hidden behind compute'],
    ['collective_wait', 'communication wait', 'comm', 'hatch', 'waiting in a collective for a rank that is late'],
    ['transfer_h2d_exposed', 'copy to device', 'transfer', 'solid', 'copies to the device not hidden behind compute'],
    ['transfer_d2h_exposed', 'copy to host', 'transfer', 'hatch', 'copies to the host not hidden behind compute'],
    ['transfer_d2d_exposed', 'copy on device', 'transfer', 'dots',
        'copies between or inside devices, or of unknown direction'],
    ['input_wait', 'input', 'input', 'hatch', 'the step waits for its next batch'],
    ['compile', 'compile', 'cold', 'dots', 'compilation, autotuning, module load, graph capture, first use'],
    ['memory_alloc', 'allocation', 'host', 'dots', 'allocating or freeing device memory'],
    ['host_sync', 'sync', 'sync', 'hatch', 'the launching thread was released late by a blocking call'],
    ['kernel_launch', 'launch', 'host', 'solid', 'launching work: runtime calls, and short pieces between them'],
    ['host_wait', 'host blocked', 'host', 'hatch', "the host's thread is blocked: a lock, a queue, sleep, a future"],
    ['host_compute', 'host work', 'host', 'cross', 'the host computes: Python, framework, callbacks'],
    ['profiler_overhead', 'profiler', 'unknown', 'solid', "the profiler's own work, where the profile records it"],
    ['idle_unknown', 'unknown', 'unknown', 'hatch', 'idle for a reason the profile does not hold'],
].map(([id, label, group, pattern, meaning]) => ({ id, label, group, pattern, meaning }));

/* What a critical path goes to (docs/whatif.md); its compute is that of the parts above. */
const PATH_KINDS = Object.entries({
    input: ['input', 'hatch', 'the path leads through the making of a batch'],
    host: ['host', 'cross', 'the path leads through the host: it launches, or computes'],
    sync: ['sync', 'hatch', 'the path leads through a call that waits for the device'],
    transfer: ['transfer', 'solid', 'the path leads through a copy'],
    communication: ['comm', 'solid', 'the path leads through a collective'],
    unknown: ['unknown', 'hatch', 'what holds the path is not recorded'],
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
