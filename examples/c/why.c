// SPDX-License-Identifier: Apache-2.0
// Asks from a program why a job is slow: prints the verdict of one or more profiles, and the
// kernels that take longest. Usage: why PROFILE... Exits with 0, 1 if a profile can't be read, 2 if
// none is given.
#include <stdio.h>

#include <stoker/report.h>
#include <stoker/stats.h>

// Receives output: here for a FILE. A non-zero result ends writing with STOKER_EOUTPUT.
static int to_file(void *file, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, file) != n;
}

static int complain(const struct stoker_err *e)
{
    fprintf(stderr, "why: %s\n", e->message);
    for (int i = 0; i < e->contexts; i++) {
        fprintf(stderr, "  %s\n", e->context[i]);
    }
    return 1;
}

static int show_kernels(const char *const *paths, size_t count)
{
    struct stoker_tables *t;
    struct stoker_err e;
    if (stoker_stats("kernels", paths, count, NULL, &t, &e) != STOKER_OK) {
        return complain(&e);
    }
    int failed = 0;
    if (stoker_tables_inconclusive(t)) {
        puts("no kernels in it");
    } else if (stoker_tables_write(t, "text", NULL, NULL, to_file, stdout, &e) != STOKER_OK) {
        failed = complain(&e);
    }
    stoker_tables_free(t);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: why PROFILE...\n", stderr);
        return 2;
    }
    const char *const *paths = (const char *const *)(argv + 1);
    struct stoker_result *r;
    struct stoker_err e;
    if (stoker_why(paths, (size_t)argc - 1, NULL, &r, &e) != STOKER_OK) {
        return complain(&e);
    }
    printf("verdict: %s\n", stoker_result_verdict(r));
    struct stoker_write_options brief = {.verbose = -1};
    int failed = 0;
    if (stoker_result_write(r, "text", &brief, to_file, stdout, &e) != STOKER_OK) {
        failed = complain(&e);
    }
    stoker_result_free(r);
    return failed ? failed : show_kernels(paths, (size_t)argc - 1);
}
