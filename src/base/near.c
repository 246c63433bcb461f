// SPDX-License-Identifier: Apache-2.0
// Edit distance between short words.
#include "base/near.h"

#include <string.h>

#include "base/assert.h"

#define MAX_WORD 63

static int least(int a, int b)
{
    return a < b ? a : b;
}

int stk_near_distance(const char *a, const char *b)
{
    int d[MAX_WORD + 1][MAX_WORD + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX_WORD || m > MAX_WORD) {
        return 99;
    }
    for (size_t i = 0; i <= n; i++) {
        d[i][0] = (int)i;
    }
    for (size_t j = 0; j <= m; j++) {
        d[0][j] = (int)j;
    }
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            int cost = a[i - 1] != b[j - 1];
            d[i][j] = least(least(d[i - 1][j] + 1, d[i][j - 1] + 1), d[i - 1][j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[n][m];
}

bool stk_near_slip(const char *typed, const char *meant)
{
    size_t n = strlen(typed), m = strlen(meant);
    if (n >= 3 && n < m && strncmp(typed, meant, n) == 0) {
        return true;
    }
    size_t longer = n > m ? n : m;
    return stk_near_distance(typed, meant) <= (longer < 6 ? 1 + (longer > 3) : (int)(longer / 3));
}

const char *stk_near_best(const char *typed, const char *best, const char *name)
{
    STK_ASSERT(typed && name);
    if (!stk_near_slip(typed, name) ||
        (best && stk_near_distance(typed, name) >= stk_near_distance(typed, best))) {
        return best;
    }
    return name;
}
