// SPDX-License-Identifier: Apache-2.0
// Requests below /api/: a row of endpoints.def for each, and a function.
#pragma once

#include <stdbool.h>

#include "serve/documents.h"
#include "serve/drops.h"

struct stk_asked {
    struct stk_documents *documents;
    const char *rest; // rest of the path: "kernels" for table/kernels
    const char *(*value)(const void *request, const char *name); // from the query; NULL: missing
    const void *request;
    const char *body; // for a POST, NUL-terminated
    struct stk_drops *drops;
    struct stk_drop_file *dropped; // the body of /api/drop, else NULL
};

// The answer: `shared` if the documents keep it, else `own`.
struct stk_answer {
    const struct stk_body *shared;
    struct stk_body own;
    const char *type;
};

// Answers are made on several threads. This is what an answer locks: others with the same need
// wait.
enum stk_need {
    STK_NEED_NOTHING,
    STK_NEED_EVENTS = 1,
    STK_NEED_DOCUMENTS = 2,
    STK_NEED_BOTH = STK_NEED_EVENTS | STK_NEED_DOCUMENTS
};

struct stk_endpoint {
    const char *name;
    bool is_post, has_rest;
    enum stk_need need; // locked from the call of `answer` until its result was copied
    enum stoker_status (*answer)(const struct stk_asked *a, struct stk_answer *out,
                                 struct stoker_err *err);
};

// The side of ?side=: STK_VIEW_A unless it is b.
int stk_asked_side(const struct stk_asked *a);

#define E(name, is_post, has_rest, need)                                                           \
    enum stoker_status stk_endpoint_##name(const struct stk_asked *a, struct stk_answer *out,      \
                                           struct stoker_err *err);
#include "serve/endpoints.def"
#undef E

// NULL: no such endpoint. *rest: the text after its name and a slash, "" if none.
const struct stk_endpoint *stk_endpoint_find(const char *path, const char **rest);
