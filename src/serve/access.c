// SPDX-License-Identifier: Apache-2.0
// Token, Host and Origin; see access.h.
#include "serve/access.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/seed.h"

enum stoker_status stk_access_open(struct stk_access *g, const char *host, struct stoker_err *err)
{
    unsigned char random[STK_TOKEN_CHARS / 2];
    if (!stk_random_fill(random, sizeof random, true)) {
        return stk_err_set(err, STOKER_EBUG, "the system provides no random bytes for a token");
    }
    for (size_t i = 0; i < sizeof random; i++) {
        snprintf(g->token + 2 * i, 3, "%02x", random[i]);
    }
    if (snprintf(g->host, sizeof g->host, "%s", host) >= (int)sizeof g->host) {
        return stk_err_set(err, STOKER_EUSAGE, "--host: too long for an address");
    }
    return STOKER_OK;
}

bool stk_access_knows_token(const struct stk_access *g, const char *given)
{
    unsigned char differ = 0;
    if (!given || strlen(given) != STK_TOKEN_CHARS) {
        return false;
    }
    for (int i = 0; i < STK_TOKEN_CHARS; i++) {
        differ |= (unsigned char)(given[i] ^ g->token[i]);
    }
    return differ == 0;
}

static bool is_ours(const struct stk_access *g, const char *authority)
{
    const char *const names[] = {"127.0.0.1", "localhost", "[::1]", g->host};
    char known[128];
    int port = atomic_load(&g->port);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool is_v6 = strchr(names[i], ':') && names[i][0] != '[';
        snprintf(known, sizeof known, is_v6 ? "[%s]:%d" : "%s:%d", names[i], port);
        if (strcasecmp(known, authority) == 0) {
            return true;
        }
    }
    return false;
}

bool stk_access_knows_host(const struct stk_access *g, const char *header)
{
    return header && is_ours(g, header);
}

// Requests of the page itself carry none, or its own.
bool stk_access_knows_origin(const struct stk_access *g, const char *header)
{
    return !header || (strncmp(header, "http://", 7) == 0 && is_ours(g, header + 7));
}
