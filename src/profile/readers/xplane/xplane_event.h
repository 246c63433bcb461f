// SPDX-License-Identifier: Apache-2.0
// Events of one line to rows of one shard. The hot path of the XPlane reader: for each event, look
// up its metadata, round its times, and check each stat's id.
#pragma once

#include "profile/readers/xplane/xplane_plane.h"

// Bytes that must be readable after a block given to stk_xp_decode.
#define STK_XP_PAD 16

// All processes of a file are one: it is written per host by the profiled process.
#define STK_XP_PROCESS 0

// What an event gets from its metadata, looked up once per decoder.
struct stk_xp_prepared {
    uint32_t name; // string id of the shard
    uint32_t meta; // index of the metadata, or STK_NONE
    uint8_t kind, derived;
    bool ready;
    bool has_defaults;  // stats of the metadata that count for the event
    uint8_t input;      // enum stk_xp_input
    bool is_collective; // by XLA's name of its operation
};

// Parsed texts whose address doesn't change, by address (xplane_launch.c).
#define STK_XP_PARSED 64
struct stk_xp_parsed {
    const char *text; // kernel_details
    size_t n;
    struct stk_launch_config config;
};
struct stk_xp_costed {
    const char *op, *shapes;
    size_t op_n, shapes_n;
    int64_t flops, bytes;
};

// Whose stats of tf.data an event carries, by its name (xplane_input.c).
enum stk_xp_input { STK_XP_INPUT_NONE, STK_XP_INPUT_STAGE_OF, STK_XP_INPUT_FUNCTION };
enum stk_xp_input stk_xp_input_of(struct stk_str name);

struct stk_xp_decoder {
    struct stk_shard *shard;
    const struct stk_xp_plane *planes;
    size_t plane_count;
    // Per plane, NULL until the first of its lines: by metadata id, dense ones.
    struct stk_xp_prepared **prepared;
    struct stk_xp_prepared rare; // of any other id
    bool no_memory;
    bool has_pext;  // STK_CPU_PEXT
    uint32_t wants; // bits STK_WANT_...
    // The line being decoded.
    const struct stk_xp_plane *plane;
    const struct stk_xp_line *line;
    struct stk_xp_prepared *by_id;
    uint64_t id_count; // of by_id
    bool has_zero;     // the plane has metadata with id 0, which isn't written
    uint8_t base_kind; // of events on this line whose metadata doesn't matter; UNSET: it does
    uint32_t tracks[STK_XP_DERIVED_COUNT]; // the line's own and those next to it; STK_NONE: not yet
    uint64_t events;                       // of this line, so far
    struct stk_xp_parsed parsed[STK_XP_PARSED];
    struct stk_xp_costed costed[STK_XP_PARSED];
};

// The metadata of an event, or NULL.
static inline const struct stk_xp_event_meta *stk_xp_prepared_meta(const struct stk_xp_decoder *d,
                                                                   const struct stk_xp_prepared *x)
{
    return x->meta == STK_NONE ? NULL : stk_vec_at(&d->plane->event_metas, x->meta);
}

bool stk_xp_decoder_init(struct stk_xp_decoder *d, struct stk_shard *shard,
                         const struct stk_xp_plane *planes, size_t plane_count);
void stk_xp_decoder_deinit(struct stk_xp_decoder *d);

void stk_xp_line_begin(struct stk_xp_decoder *d, const struct stk_xp_line *line);
// Decodes the fields of the line that are completely in p[0, n), which starts at a field; p is at
// `offset` of the input. Returns the bytes used; SIZE_MAX: the rest isn't a field.
size_t stk_xp_decode(struct stk_xp_decoder *d, const uint8_t *p, size_t n, uint64_t offset);
void stk_xp_line_end(struct stk_xp_decoder *d);

// xplane_details.c: further details of an event of the current line, if wanted: at most
// STK_XP_DETAILS_MAX. p[0, n) is its message. Returns how many were written to out.
#define STK_XP_DETAILS_MAX 16
bool stk_xp_is_collective(struct stk_str name);
size_t stk_xp_details(struct stk_xp_decoder *d, const struct stk_xp_prepared *x, uint8_t kind,
                      const uint8_t *p, size_t n, struct stk_detail *out);

// xplane_launch.c: writes how the event's kernel was launched to ext, if wanted.
void stk_xp_launch(struct stk_xp_decoder *d, const struct stk_xp_event_meta *m, const uint8_t *p,
                   size_t n, struct stk_row_ext *ext);
void stk_xp_parse_kernel(struct stk_str text, struct stk_launch_config *c);
// xplane_cost.c: flops and bytes of a TensorFlow operation of this type with inputs of these
// shapes. Unknown figures stay as they were.
void stk_xp_cost(struct stk_str type, struct stk_str shapes, struct stk_launch_config *c);
// Elements of the gradient that a TensorFlow operation ("path:Type") applies to a variable, and
// their size, from its largest input. -1: another operation, or unknown shapes.
int64_t stk_xp_update_elements(struct stk_str op, struct stk_str shapes, int64_t *width);

// xplane_input.c: the same for events of tf.data; out has room for STK_XP_DETAILS_MAX.
size_t stk_xp_input_details(struct stk_xp_decoder *d, enum stk_xp_input input, const uint8_t *p,
                            size_t n, struct stk_detail *out);

// Key of the line's track, or of a row next to it.
struct stk_track_key stk_xp_track_key(const struct stk_xp_plane *plane,
                                      const struct stk_xp_line *line, enum stk_xp_derived derived);
