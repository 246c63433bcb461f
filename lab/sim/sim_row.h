// SPDX-License-Identifier: Apache-2.0
// What the simulator reports: one row for each event, complete and exact. A writer keeps what its
// producer would have recorded.
#ifndef SIM_ROW_H
#define SIM_ROW_H

#include <stdbool.h>
#include <stdint.h>

enum sim_role {
#define R(role, kind, kineto, xplane, nsys) SIM_ROLE_##role,
#include "sim_roles.def"
#undef R
    SIM_ROLES
};

enum sim_kind {
    SIM_STEP,       // a step's marker, on the training thread
    SIM_SLICE,      // work of a CPU thread
    SIM_LOADER,     // work of a loader worker
    SIM_RUNTIME,    // a CUDA runtime call
    SIM_OVERHEAD,   // the profiler's
    SIM_KERNEL,     // on the device, from here on
    SIM_COLLECTIVE, // also a kernel
    SIM_COPY,
    SIM_MEMSET
};

enum sim_dir { SIM_TO_DEVICE, SIM_TO_HOST };

struct sim_row {
    uint8_t kind, role;
    uint8_t dir;     // of copies
    bool pinned;     // of copies
    bool is_graph;   // node of a CUDA graph, or its launch
    uint8_t stream;  // of device rows, and of calls that wait
    uint16_t thread; // in the rank: 0 trains, 1 runs backward, then the loaders
    uint32_t rank, step;
    uint32_t ordinal; // of a collective; of a batch
    int64_t start_ns, end_ns;
    uint64_t corr; // links a launch and its work; 0: none
    int64_t bytes;
};

// The kind of a role's rows; device kinds start at SIM_KERNEL.
extern const uint8_t sim_role_kinds[SIM_ROLES];

#endif
