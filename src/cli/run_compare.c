// SPDX-License-Identifier: Apache-2.0
// Finds the normal run; see run_compare.h. Two commands are the same if their lines in the two
// run.json match; the same function writes both. The input wait that `why` reports and the
// what-if's estimate come from the normal run's window.
#include "cli/run_compare.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/plain_file.h"
#include "job/capture/parent/folder.h"
#include "cli/cli.h"
#include "stoker/report.h"
#include "stoker/whatif.h"

enum { JSON_MOST = 1 << 16 };

struct text {
    char bytes[JSON_MOST];
    size_t n;
};

static int keep(void *arg, const char *bytes, size_t n)
{
    struct text *t = arg;
    STK_ASSERT(t->n < sizeof t->bytes);
    size_t fits = sizeof t->bytes - 1 - t->n < n ? sizeof t->bytes - 1 - t->n : n;
    memcpy(t->bytes + t->n, bytes, fits);
    t->n += fits;
    t->bytes[t->n] = 0;
    return 0;
}

static bool read_json(const char *folder, struct text *to)
{
    char *path = stk_folder_path(folder, "run.json");
    char *json = path ? stk_plain_text(AT_FDCWD, path, sizeof to->bytes - 1, &to->n) : NULL;
    memcpy(to->bytes, json ? json : "", json ? to->n + 1 : 1);
    to->n = json ? to->n : 0;
    stk_free(json);
    stk_free(path);
    return to->n > 0;
}

// A key's line, up to its end.
static const char *line_of(const struct text *t, const char *key, size_t *n)
{
    const char *at = strstr(t->bytes, key);
    *n = at ? strcspn(at, "\n") : 0;
    return at;
}

static bool is_same(const struct text *own, const struct text *other)
{
    size_t n = 0, m = 0;
    const char *a = line_of(own, "\"command\": ", &n), *b = line_of(other, "\"command\": ", &m);
    return a && b && n == m && memcmp(a, b, n) == 0 &&
           strstr(other->bytes, "\"input_mode\": \"as-is\"");
}

static time_t written(const char *folder)
{
    struct stat st;
    char *path = stk_folder_path(folder, "run.json");
    time_t at = path && stat(path, &st) == 0 ? st.st_mtime : 0;
    stk_free(path);
    return at;
}

// The newest matching folder next to the run's own; NULL: none. Free with stk_free.
static char *find(const struct stk_run *run, struct text *own, struct text *other)
{
    char above[4096], *newest = NULL;
    snprintf(above, sizeof above, "%s", run->folder);
    char *slash = strrchr(above, '/');
    *(slash ? slash : above) = 0;
    DIR *d = opendir(above);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        char *folder = e->d_name[0] == '.' ? NULL : stk_folder_path(above, e->d_name);
        bool fits = folder && strcmp(folder, run->folder) != 0 && read_json(folder, other) &&
                    is_same(own, other) && (!newest || written(folder) > written(newest));
        char *drop = fits ? newest : folder;
        newest = fits ? folder : newest;
        stk_free(drop);
    }
    if (d) {
        closedir(d);
    }
    return newest;
}

static void ask_profile(const char *folder, struct stk_run_compared *to)
{
    struct stoker_why_options why;
    struct stoker_whatif_options options;
    struct stoker_result *result = NULL;
    struct stoker_whatif *whatif = NULL;
    struct stoker_saving s;
    struct stoker_err err;
    stoker_why_options_default(&why);
    if (stoker_why(&folder, 1, &why, &result, &err) == STOKER_OK) {
        to->has_said = stoker_result_share(result, "input_wait", &to->said_share);
    }
    stoker_whatif_options_default(&options);
    options.fixes = "input-free";
    if (stoker_whatif(&folder, 1, &options, &whatif, &err) == STOKER_OK &&
        stoker_whatif_saving(whatif, "input-free", &s)) {
        to->has_predicted = true;
        to->low = s.low_share;
        to->expected = s.expected_share;
        to->high = s.high_share;
    }
    stoker_result_free(result);
    stoker_whatif_free(whatif);
}

static void compare(struct stk_run *run, const char *folder, uint64_t warmup)
{
    struct stk_steps_of_run before;
    struct stoker_err err;
    const struct stk_steps *own = &run->steps.ranks[run->steps.lead];
    if (stk_steps_read(folder, warmup, &before, &err) != STOKER_OK) {
        stk_fail(&err);
    } else if (before.count && before.ranks[before.lead].judged) {
        const struct stk_steps *lead = &before.ranks[before.lead];
        struct stk_run_compared *to = &run->compared;
        snprintf(to->folder, sizeof to->folder, "%s", folder);
        to->step_ns = lead->time_ns / lead->judged;
        to->free_ns = own->time_ns / own->judged;
        if (lead->head.window_state == STK_WINDOW_DONE) {
            ask_profile(folder, to);
        }
    } else {
        fprintf(stderr, "stoker: %s has no steps to compare with\n", folder);
    }
    stk_steps_free(&before);
}

void stk_run_compare(struct stk_run *run, const char *wanted, uint64_t warmup)
{
    const struct stk_steps *lead = run->steps.count ? &run->steps.ranks[run->steps.lead] : NULL;
    // If --input couldn't be applied, the input wasn't free.
    if (strcmp(run->input_mode, "as-is") == 0 || !lead || !lead->judged ||
        !strstr(lead->head.hooks, ".input")) {
        return;
    }
    if (wanted) {
        compare(run, wanted, warmup);
        return;
    }
    struct text *texts = stk_alloc_zero(2, sizeof *texts);
    if (texts) {
        struct stk_sink sink;
        stk_sink_init(&sink, keep, &texts[0]);
        stk_run_json(run, &sink);
        char *folder =
            stk_sink_finish(&sink, NULL) == STOKER_OK ? find(run, &texts[0], &texts[1]) : NULL;
        if (folder) {
            compare(run, folder, warmup);
        }
        stk_free(folder);
    }
    stk_free(texts);
}
