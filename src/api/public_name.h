// SPDX-License-Identifier: Apache-2.0
// Which names --redact leaves as they are: those that a vendor or a framework chose, and stoker's
// own. Everything else may be a user's.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// All of the name is public: not one word of it is a user's.
bool stk_public_name(const char *name);

// A model of a device ("NVIDIA H100 80GB HBM3"), or what recorded a profile ("JAX 0.11.2").
bool stk_public_product(const char *name);
// The key of an event's value.
bool stk_public_key(const char *key, size_t n);

// What a framework puts around a name: "PjitFunction(" and ")". Both public.
struct stk_public_frame {
    const char *before, *after;
};
// The frame that a name stands in, longer than the frame; NULL: none.
const struct stk_public_frame *stk_public_frame_of(const char *name);

// Rows of the tables, each in its order; NULL after the last.
const char *stk_public_word(size_t i);
const char *stk_public_key_row(size_t i);
