// SPDX-License-Identifier: Apache-2.0
// Which names --redact leaves unchanged: those chosen by a vendor or framework, and stoker's own.
// Any other name may be a user's.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Is the whole name public, with no word of a user?
bool stk_public_name(const char *name);

// A device model ("NVIDIA H100 80GB HBM3"), or what recorded a profile ("JAX 0.11.2").
bool stk_public_product(const char *name);
// The key of an event's value.
bool stk_public_key(const char *key, size_t n);

// What a framework puts around a name: "PjitFunction(" and ")". Both are public.
struct stk_public_frame {
    const char *before, *after;
};
// The frame around a name that is longer than the frame; NULL: none.
const struct stk_public_frame *stk_public_frame_of(const char *name);

// Rows of the tables, in order; NULL past the end.
const char *stk_public_word(size_t i);
const char *stk_public_key_row(size_t i);
