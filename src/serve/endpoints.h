// SPDX-License-Identifier: Apache-2.0
// What can be asked below /api/: a row of endpoints.def for each, and a function.
#pragma once

#include <stdbool.h>

#include "serve/documents.h"
#include "serve/drops.h"

struct stk_asked {
    struct stk_documents *documents;
    const char *rest; // of the path: "kernels" of table/kernels
    const char *(*value)(const void *request, const char *name); // of the query; NULL: not given
    const void *request;
    const char *body; // of a POST, NUL-terminated
    struct stk_drops *drops;
    struct stk_drop_file *dropped; // the body of /api/drop, NULL of any other
};

// What is answered: `shared` where it is kept by the documents, else `own`.
struct stk_answer {
    const struct stk_body *shared;
    struct stk_body own;
    const char *type;
};

// Answers are made on several threads. What one needs for itself: others of the same need wait.
enum stk_need {
    STK_NEED_NOTHING,
    STK_NEED_EVENTS = 1,
    STK_NEED_DOCUMENTS = 2,
    STK_NEED_BOTH = STK_NEED_EVENTS | STK_NEED_DOCUMENTS
};

struct stk_endpoint {
    const char *name;
    bool is_post, has_rest;
    enum stk_need need; // from the call of `answer` until what it gave was taken
    enum stoker_status (*answer)(const struct stk_asked *a, struct stk_answer *out,
                                 struct stoker_err *err);
};

// Of ?side=: STK_VIEW_A unless it is b.
int stk_asked_side(const struct stk_asked *a);

#define E(name, is_post, has_rest, need)                                                           \
    enum stoker_status stk_endpoint_##name(const struct stk_asked *a, struct stk_answer *out,      \
                                           struct stoker_err *err);
#include "serve/endpoints.def"
#undef E

// NULL: no such endpoint. *rest: what follows its name and a slash, "" for nothing.
const struct stk_endpoint *stk_endpoint_find(const char *path, const char **rest);
