// SPDX-License-Identifier: Apache-2.0
// Every allocation of every export fails once, on a few small profiles: the n-th alone, then the
// n-th and all after it; and every write is refused once. Nothing may crash or leak (address
// sanitizer), and every failure is reported.
#include <unistd.h>

#include "base/alloc.h"
#include "inputs.h"
#include "stoker/export.h"

#define MAX_ALLOCATIONS 300
#define PROFILES_PER_FORMAT 4

struct writer {
    size_t bytes, writes, refused_at; // the write that is refused; 0: none
};

static int take(void *arg, const char *bytes, size_t n)
{
    struct writer *w = arg;
    (void)bytes;
    w->bytes += n;
    return ++w->writes == w->refused_at;
}

static enum stoker_status export_once(const struct stoker_export_format *f, const char *path,
                                      struct writer *w)
{
    char file[] = "/tmp/stoker-torture-XXXXXX";
    struct stoker_why_options options;
    struct stoker_export *x = NULL;
    struct stoker_err err;
    memset(&err, 0, sizeof err);
    stoker_why_options_default(&options);
    options.threads = 1;
    options.redact = 1;
    int fd = f->needs_file ? mkstemp(file) : -1;
    enum stoker_status status = stoker_export_open(&path, 1, &options, &x, &err);
    CHECK((status == STOKER_OK) == (x != NULL));
    if (x) {
        status =
            stoker_export_write(x, f->name, &(struct stoker_export_options){.args = f->takes_args},
                                f->needs_file ? file : NULL, f->needs_file ? NULL : take, w, &err);
    }
    CHECK(status == STOKER_OK || err.message[0] != 0);
    stoker_export_free(x);
    if (fd >= 0) {
        close(fd);
        unlink(file);
    }
    return status;
}

static void fail_each(const struct stoker_export_format *f, const struct torture_input *in,
                      int sticky)
{
    const char *path = torture_write(in->bytes, in->size);
    struct writer w = {0};
    uint64_t before = stk_alloc_count();
    enum stoker_status want = export_once(f, path, &w);
    uint64_t needed = stk_alloc_count() - before;
    uint64_t step = needed > MAX_ALLOCATIONS ? needed / MAX_ALLOCATIONS : 1;
    CHECK(want != STOKER_OK || f->needs_file || w.bytes > 0);
    for (uint64_t n = 1; n <= needed; n += step) {
        w = (struct writer){0};
        stk_alloc_fail_at(n, sticky);
        enum stoker_status got = export_once(f, path, &w);
        stk_alloc_fail_at(0, 0);
        CHECK(got == want || got == STOKER_ENOMEM || got == STOKER_ELIMIT);
    }
}

static void refuse_each(const struct stoker_export_format *f, const struct torture_input *in)
{
    const char *path = torture_write(in->bytes, in->size);
    struct writer all = {0};
    if (export_once(f, path, &all) != STOKER_OK) {
        return;
    }
    for (size_t n = 1; n <= all.writes; n++) {
        struct writer w = {.refused_at = n};
        CHECK_EQ(export_once(f, path, &w), STOKER_EOUTPUT);
        CHECK_EQ(w.writes, n); // nothing more is tried
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    size_t count;
    struct torture_input *inputs = torture_inputs(&count);
    size_t step = count / PROFILES_PER_FORMAT + 1;
    struct stoker_export_format f;
    for (size_t k = 0; stoker_export_format(k, &f); k++) {
        for (size_t i = k % step; i < count; i += step) {
            CHECK_RUN(fail_each, &f, &inputs[i], 0);
            CHECK_RUN(fail_each, &f, &inputs[i], 1);
            CHECK_RUN(refuse_each, &f, &inputs[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(inputs[i].bytes);
    }
    free(inputs);
    return check_done("torture.torture_export");
}
