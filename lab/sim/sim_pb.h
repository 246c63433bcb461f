// SPDX-License-Identifier: Apache-2.0
// Protobuf messages, built from the inside out.
#ifndef SIM_PB_H
#define SIM_PB_H

#include <stdint.h>
#include <string.h>

#include "base/varint.h"
#include "base/vec.h"
#include "sim_world.h"

static inline void sim_pb_raw(struct stk_vec *b, const void *p, size_t n)
{
    void *to = n ? stk_vec_push_n(b, n) : NULL;
    if (n && !to) {
        sim_die("profile", "no memory");
    }
    if (n) {
        memcpy(to, p, n);
    }
}

static inline void sim_pb_varint(struct stk_vec *b, uint64_t v)
{
    uint8_t own[STK_VARINT_MAX];
    sim_pb_raw(b, own, (size_t)(stk_varint_put(own, v) - own));
}

static inline void sim_pb_int(struct stk_vec *b, unsigned field, uint64_t v)
{
    sim_pb_varint(b, field << 3);
    sim_pb_varint(b, v);
}

static inline void sim_pb_bytes(struct stk_vec *b, unsigned field, const void *p, size_t n)
{
    sim_pb_varint(b, field << 3 | 2);
    sim_pb_varint(b, n);
    sim_pb_raw(b, p, n);
}

static inline void sim_pb_text(struct stk_vec *b, unsigned field, const char *s)
{
    sim_pb_bytes(b, field, s, strlen(s));
}

static inline void sim_pb_begin(struct stk_vec *b)
{
    stk_vec_init(b, 1, SIZE_MAX);
}

// Adds the message `m` as a field; frees `m`.
static inline void sim_pb_message(struct stk_vec *b, unsigned field, struct stk_vec *m)
{
    sim_pb_bytes(b, field, m->items, m->count);
    stk_vec_deinit(m);
}

#endif
