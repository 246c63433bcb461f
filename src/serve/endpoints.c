// SPDX-License-Identifier: Apache-2.0
// The table of requests; see endpoints.h.
#include "serve/endpoints.h"

#include <string.h>

static const struct stk_endpoint endpoints[] = {
#define E(name, is_post, has_rest, need)                                                           \
    {#name, is_post, has_rest, STK_NEED_##need, stk_endpoint_##name},
#include "serve/endpoints.def"
#undef E
};

const struct stk_endpoint *stk_endpoint_find(const char *path, const char **rest)
{
    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++) {
        const struct stk_endpoint *e = &endpoints[i];
        size_t n = strlen(e->name);
        if (strncmp(path, e->name, n) != 0) {
            continue;
        }
        if (path[n] == 0 && !e->has_rest) {
            *rest = "";
            return e;
        }
        if (path[n] == '/' && e->has_rest && path[n + 1]) {
            *rest = path + n + 1;
            return e;
        }
    }
    return NULL;
}
