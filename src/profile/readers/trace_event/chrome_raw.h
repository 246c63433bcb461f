// SPDX-License-Identifier: Apache-2.0
// One event of the Trace Event Format in Kineto's dialect, as fields: only those that later stages
// need. Readers of other formats with the same events fill it too.
#pragma once

#include "base/str.h"
#include "profile/readers/trace_event/chrome_number.h"

// Categories (`cat`), old and new spellings alike.
enum stk_chrome_cat {
    STK_CHROME_CAT_NONE,       // no cat
    STK_CHROME_CAT_UNKNOWN,    // one that is not in the table
    STK_CHROME_CAT_OP,         // cpu_op, Operator
    STK_CHROME_CAT_ANNOTATION, // user_annotation
    STK_CHROME_CAT_RUNTIME,    // calls of the runtime or driver
    STK_CHROME_CAT_PYTHON,
    STK_CHROME_CAT_KERNEL,
    STK_CHROME_CAT_MEMCPY,
    STK_CHROME_CAT_MEMSET,
    STK_CHROME_CAT_DERIVED, // gpu_user_annotation, counters projected onto kernels
    STK_CHROME_CAT_SYNC,    // cuda_sync
    STK_CHROME_CAT_EVENT,   // cuda_event
    STK_CHROME_CAT_OVERHEAD,
    STK_CHROME_CAT_INSTANT,        // cpu_instant_event
    STK_CHROME_CAT_SPAN,           // Trace: the window itself
    STK_CHROME_CAT_FOREIGN_HOST,   // runtime calls of an unknown accelerator
    STK_CHROME_CAT_FOREIGN_DEVICE, // its device work
    STK_CHROME_CAT_FLOW,
    // Written by stoker export (answers/export/export_chrome.c):
    STK_CHROME_CAT_STOKER, // stoker's own rows, made from the others
    STK_CHROME_CAT_INPUT,  // kinds that Kineto has no category for
    STK_CHROME_CAT_MEMORY,
    STK_CHROME_CAT_OTHER,
    STK_CHROME_CAT_ROW // a row that is neither thread nor stream
};
enum stk_chrome_cat stk_chrome_cat_find(const char *p, size_t n);
// Categories whose args have values that are kept.
static inline bool stk_chrome_cat_has_args(enum stk_chrome_cat cat)
{
    return cat != STK_CHROME_CAT_OP && cat != STK_CHROME_CAT_PYTHON && cat != STK_CHROME_CAT_SPAN;
}

// A process, thread or stream id: a number (quoted or not), or some text.
struct stk_chrome_id {
    struct stk_str text; // unless it is a number
    int64_t number;
};

#define STK_CHROME_HAS_TS (1u << 0)
#define STK_CHROME_HAS_DUR (1u << 1)
#define STK_CHROME_BAD_TS (1u << 2) // present and not usable
#define STK_CHROME_BAD_DUR (1u << 3)
#define STK_CHROME_LONG_DUR (1u << 4) // a number beyond all bounds
#define STK_CHROME_HAS_CORR (1u << 5)
#define STK_CHROME_HAS_DEVICE (1u << 6)
#define STK_CHROME_HAS_STREAM (1u << 7)
#define STK_CHROME_HAS_BYTES (1u << 8)
#define STK_CHROME_HAS_RANK (1u << 9)
#define STK_CHROME_HAS_RAW_PID (1u << 10)
#define STK_CHROME_IN_GRAPH (1u << 11)
#define STK_CHROME_HAS_VALUE (1u << 12) // counter
#define STK_CHROME_BAD_FIELD (1u << 13) // some other field has the wrong type or range
#define STK_CHROME_GLOBAL (1u << 14)    // instant of global scope
#define STK_CHROME_DEVICE_MEMORY (1u << 15)
#define STK_CHROME_HAS_PID (1u << 16)
#define STK_CHROME_HAS_STEP (1u << 17)
#define STK_CHROME_HAS_LAUNCH (1u << 18)

// Keys of arguments that are kept. Those of a kernel's launch are last.
enum stk_chrome_arg {
    STK_CHROME_ARG_NONE,
    STK_CHROME_ARG_RANK,
    STK_CHROME_ARG_LABEL,
    STK_CHROME_ARG_BYTES,
    STK_CHROME_ARG_DEVICE,
    STK_CHROME_ARG_STREAM,
    STK_CHROME_ARG_RAW_PID,
    STK_CHROME_ARG_GRAPH,
    STK_CHROME_ARG_STEP,
    STK_CHROME_ARG_CORR,
    STK_CHROME_ARG_MEMORY_PLACE,
    STK_CHROME_ARG_DETAILS,
    STK_CHROME_ARG_GRID,
    STK_CHROME_ARG_BLOCK,
    STK_CHROME_ARG_REGISTERS,
    STK_CHROME_ARG_SHARED,
    STK_CHROME_ARG_OCCUPANCY
};
#define STK_CHROME_LAUNCH_COUNT (STK_CHROME_ARG_OCCUPANCY - STK_CHROME_ARG_GRID + 1)

struct stk_chrome_raw {
    uint64_t pos; // of its brace in the decompressed input
    uint32_t flags;
    char ph;             // 0: none
    uint8_t cat;         // enum stk_chrome_cat
    bool odd_bytes;      // strings may need unescaping
    struct stk_str name; // as in the text
    uint32_t *name_memo; // cache of its id among the stager's names, STK_NONE at first; or NULL
    struct stk_str cat_text;
    struct stk_chrome_id pid, tid;
    struct stk_chrome_time ts, dur;
    // from args
    int64_t corr, device, stream, bytes, rank, value, step;
    struct stk_str label;   // args.name (metadata)
    struct stk_str details; // args.memcpy_details (TensorFlow)
    struct stk_str args;    // the whole object as text; empty: none
    // How a kernel was launched, as text, by key: those whose bit is set. If STK_CHROME_HAS_LAUNCH
    // is set, all were seen, each once; else `args` must be read for them.
    uint8_t launch_seen, launch_again;
    struct stk_str launch[STK_CHROME_LAUNCH_COUNT];
};

static inline enum stk_chrome_arg stk_chrome_arg_find(const char *key, size_t n)
{
#define KEY(literal) (n == sizeof(literal) - 1 && memcmp(key, literal, sizeof(literal) - 1) == 0)
    switch (n) {
    case 4:
        return KEY("rank")   ? STK_CHROME_ARG_RANK
               : KEY("name") ? STK_CHROME_ARG_LABEL
               : KEY("grid") ? STK_CHROME_ARG_GRID
                             : STK_CHROME_ARG_NONE;
    case 5:
        return KEY("bytes") || KEY("Bytes") ? STK_CHROME_ARG_BYTES
               : KEY("block")               ? STK_CHROME_ARG_BLOCK
                                            : STK_CHROME_ARG_NONE;
    case 6:
        return KEY("device")   ? STK_CHROME_ARG_DEVICE
               : KEY("stream") ? STK_CHROME_ARG_STREAM
                               : STK_CHROME_ARG_NONE;
    case 7:
        return KEY("pid_raw") ? STK_CHROME_ARG_RAW_PID : STK_CHROME_ARG_NONE;
    case 8:
        return KEY("graph id")   ? STK_CHROME_ARG_GRAPH
               : KEY("step_num") ? STK_CHROME_ARG_STEP
                                 : STK_CHROME_ARG_NONE;
    case 11:
        return KEY("correlation")   ? STK_CHROME_ARG_CORR
               : KEY("Device Type") ? STK_CHROME_ARG_MEMORY_PLACE
                                    : STK_CHROME_ARG_NONE;
    case 13:
        return KEY("shared memory") ? STK_CHROME_ARG_SHARED : STK_CHROME_ARG_NONE;
    case 14:
        return KEY("correlation_id")   ? STK_CHROME_ARG_CORR
               : KEY("memcpy_details") ? STK_CHROME_ARG_DETAILS
                                       : STK_CHROME_ARG_NONE;
    case 20:
        return KEY("registers per thread") ? STK_CHROME_ARG_REGISTERS : STK_CHROME_ARG_NONE;
    case 25:
        return KEY("est. achieved occupancy %") ? STK_CHROME_ARG_OCCUPANCY : STK_CHROME_ARG_NONE;
    default:
        return STK_CHROME_ARG_NONE;
    }
#undef KEY
}
