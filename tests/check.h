// SPDX-License-Identifier: Apache-2.0
// Checks for test programs: count, say what failed and how to rerun it alone, carry on.
//   int main(void) { CHECK(1 + 1 == 2); CHECK_EQ(f(), 3); return check_done("unit.example"); }
#ifndef STK_TESTS_CHECK_H
#define STK_TESTS_CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long check_count, check_failures, check_skipped;

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        check_count++;                                                                             \
        if (!(cond)) {                                                                             \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond);                     \
        }                                                                                          \
    } while (0)

#define CHECK_EQ(got, want)                                                                        \
    do {                                                                                           \
        int64_t check_g = (int64_t)(got), check_w = (int64_t)(want);                               \
        check_count++;                                                                             \
        if (check_g != check_w) {                                                                  \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: %s is %" PRId64 ", wanted %" PRId64 "\n", __FILE__, __LINE__,  \
                    #got, check_g, check_w);                                                       \
        }                                                                                          \
    } while (0)

#define CHECK_STR(got, want)                                                                       \
    do {                                                                                           \
        const char *check_g = (got), *check_w = (want);                                            \
        check_count++;                                                                             \
        if (!check_g || strcmp(check_g, check_w) != 0) {                                           \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: %s is \"%s\", wanted \"%s\"\n", __FILE__, __LINE__, #got,      \
                    check_g ? check_g : "(null)", check_w);                                        \
        }                                                                                          \
    } while (0)

static inline void check_skip(const char *why)
{
    check_skipped++;
    printf("skipped: %s\n", why);
}

// Where real profiles lie, or NULL with a message: the test then skips what needs them.
static inline const char *check_fixtures(void)
{
    const char *dir = getenv("STOKER_FIXTURES");
    static char fallback[] = "../shared/fixtures";
    if (!dir || !*dir) {
        dir = fallback;
    }
    char probe[4096];
    snprintf(probe, sizeof probe, "%s/expected.json", dir);
    FILE *f = fopen(probe, "rb");
    if (!f) {
        check_skip("no profiles found; set STOKER_FIXTURES to their folder");
        return NULL;
    }
    fclose(f);
    return dir;
}

static inline int check_done(const char *test)
{
    printf("%s: %lu checks, %lu failed, %lu skipped\n", test, check_count, check_failures,
           check_skipped);
    if (check_failures) {
        fprintf(stderr, "run it alone: ctest --test-dir build/release -R '^%s$' -V\n", test);
    }
    return check_failures ? 1 : 0;
}

#endif
