// SPDX-License-Identifier: Apache-2.0
// Reads the ledger and sums up the accuracy of its predictions; see ledger.h. A line that lacks a
// column or has an invalid number is skipped and counted as damaged.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "job/prove/ledger.h"
#include "job/prove/paired.h"

enum { LINE = 4096, LINES = 1000000, COLUMNS = 13 };

// An empty cell is unknown. False: neither empty nor a number.
static bool read_number(const char *cell, double *to)
{
    char *end;
    *to = stk_text_to_real(cell, &end);
    return !*cell || (*end == 0 && isfinite(*to));
}

static bool read_ratio(char *const *cells, struct stk_interval *to)
{
    to->is_known = cells[0][0] && cells[1][0] && cells[2][0];
    return read_number(cells[0], &to->low) && read_number(cells[1], &to->estimate) &&
           read_number(cells[2], &to->high);
}

static bool read_line(char *row, struct stk_ledger_line *to)
{
    STK_ASSERT(row);
    char *cells[COLUMNS];
    int count = 0;
    row[strcspn(row, "\r\n")] = 0;
    while (row && count < COLUMNS) {
        cells[count++] = strsep(&row, "\t");
    }
    if (count < COLUMNS) {
        return false;
    }
    snprintf(to->time, sizeof to->time, "%s", cells[0]);
    snprintf(to->profile, sizeof to->profile, "%s", cells[1]);
    snprintf(to->fix, sizeof to->fix, "%s", cells[2]);
    to->pairs = strtol(cells[9], NULL, 10);
    snprintf(to->framework, sizeof to->framework, "%s", cells[10]);
    snprintf(to->device, sizeof to->device, "%s", cells[11]);
    snprintf(to->stoker, sizeof to->stoker, "%s", cells[12]);
    return read_ratio(cells + 3, &to->predicted) && read_ratio(cells + 6, &to->measured);
}

// Reads the next line into `row` (LINE bytes). A line that is too long, cut, or has a zero byte
// (perhaps after a crash) becomes an empty text, which is not a ledger line. False at the end.
static bool next_row(FILE *f, char *row)
{
    size_t n = 0;
    bool is_text = true;
    int c;
    while ((c = getc_unlocked(f)) != EOF && c != '\n') {
        is_text = is_text && c != 0 && n + 2 < LINE;
        if (is_text) {
            row[n++] = (char)c;
        }
    }
    bool is_there = c == '\n' || n || !is_text;
    if (c == EOF || !is_text) {
        n = 0;
    } else {
        row[n++] = '\n';
    }
    row[n] = 0;
    return is_there;
}

static enum stoker_status read_lines(FILE *f, const char *path, struct stk_ledger *to,
                                     struct stoker_err *err)
{
    char row[LINE];
    if (!next_row(f, row) || strcmp(row, STK_LEDGER_HEADER) != 0) {
        return stk_err_set(err, STOKER_EINPUT, "%s is not a ledger: its header is missing", path);
    }
    while (next_row(f, row)) {
        struct stk_ledger_line line = {0};
        if (!*row || !read_line(row, &line)) {
            to->damaged++;
            continue;
        }
        struct stk_ledger_line *slot = stk_vec_push(&to->lines);
        if (!slot) {
            return stk_err_nomem(err);
        }
        *slot = line;
    }
    return STOKER_OK;
}

enum stoker_status stk_ledger_read(const char *path, struct stk_ledger *to, struct stoker_err *err)
{
    *to = (struct stk_ledger){0};
    stk_vec_init(&to->lines, sizeof(struct stk_ledger_line), LINES);
    FILE *f = fopen(path, "re");
    if (!f) {
        return stk_err_set(err, STOKER_EINPUT, "the ledger %s: %s", path, strerror(errno));
    }
    enum stoker_status status = read_lines(f, path, to, err);
    fclose(f);
    return status;
}

void stk_ledger_free(struct stk_ledger *ledger)
{
    stk_vec_deinit(&ledger->lines);
}

struct stk_calibration stk_ledger_calibration(const struct stk_ledger *ledger)
{
    struct stk_calibration c = {0};
    size_t n = ledger->lines.count;
    double *errors = stk_alloc_array(n + 1, sizeof *errors);
    for (size_t i = 0; i < n; i++) {
        const struct stk_ledger_line *line = stk_vec_at(&ledger->lines, i);
        const struct stk_interval *p = &line->predicted, *m = &line->measured;
        if (!p->is_known || !m->is_known) {
            continue;
        }
        c.inside += m->estimate >= p->low && m->estimate <= p->high;
        c.meet += m->high >= p->low && m->low <= p->high;
        c.too_low += m->estimate > p->high;
        if (errors) {
            errors[c.predictions] = fabs(p->estimate - m->estimate);
        }
        c.predictions++;
    }
    if (errors && c.predictions) {
        c.median_error = stk_paired_median(errors, c.predictions);
    }
    stk_free(errors);
    return c;
}
