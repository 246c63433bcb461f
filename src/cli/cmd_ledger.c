// SPDX-License-Identifier: Apache-2.0
// stoker ledger: predictions, and what was then measured.
#include <inttypes.h>

#include "base/assert.h"
#include "base/human.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "job/prove/ledger.h"
#include "results/print/document.h"

enum { ROWS_FOR_PEOPLE = 20, CELL = 64 };

static void put_json(const char *path, const struct stk_ledger *ledger, size_t first,
                     struct stk_sink *to)
{
    STK_ASSERT(first <= ledger->lines.count);
    struct stk_calibration c = stk_ledger_calibration(ledger);
    double n = (double)c.predictions;
    struct stk_ledger_doc doc = {
        .schema = STK_LEDGER_SCHEMA,
        .file = path,
        .lines = {.items = first < ledger->lines.count ? stk_vec_at(&ledger->lines, first) : NULL,
                  .count = ledger->lines.count - first,
                  .left_out = first},
        .lines_damaged = ledger->damaged,
        .calibration = {.predictions = c.predictions, .has_any = c.predictions > 0}};
    if (c.predictions) {
        doc.calibration.inside_share = (double)c.inside / n;
        doc.calibration.intervals_meet_share = (double)c.meet / n;
        doc.calibration.too_optimistic_share = (double)c.too_low / n;
        doc.calibration.median_error_share = c.median_error;
    }
    stk_json_document(&stk_ledger_doc_info, &doc, false, to);
}

// "0.62 [0.60, 0.65]".
static void ratio_text(const struct stk_interval *r, char to[CELL])
{
    stk_text_printf(to, CELL, r->is_known ? "%.2f [%.2f, %.2f]" : "-", r->estimate, r->low,
                    r->high);
}

static void put_calibration(const struct stk_calibration *c, struct stk_sink *to)
{
    char inside[STK_HUMAN_MAX], error[STK_HUMAN_MAX];
    if (!c->predictions) {
        stk_sink_text(to, "No proof in this ledger has a prediction.\n");
        return;
    }
    stk_sink_printf(to,
                    "%zu prediction%s: %zu measured within the predicted interval (%s), %zu gained "
                    "less than predicted. Median error: %s of the original time.\n",
                    c->predictions, c->predictions == 1 ? "" : "s", c->inside,
                    stk_human_share((double)c->inside / (double)c->predictions, inside), c->too_low,
                    stk_human_share(c->median_error, error));
}

static void put_people(const char *path, const struct stk_ledger *ledger, size_t first,
                       struct stk_sink *to)
{
    STK_ASSERT(first <= ledger->lines.count);
    struct stk_calibration c = stk_ledger_calibration(ledger);
    char predicted[CELL], measured[CELL];
    stk_sink_text(to, path);
    stk_sink_printf(to, ": %zu proof%s%s\n\n", ledger->lines.count,
                    ledger->lines.count == 1 ? "" : "s", first ? ", the last of them:" : "");
    if (ledger->lines.count) {
        stk_sink_printf(to, "%-20s  %-19s  %-19s  %5s  %s\n", "time", "predicted", "measured",
                        "pairs", "fix");
    }
    for (size_t i = first; i < ledger->lines.count; i++) {
        const struct stk_ledger_line *line = stk_vec_at(&ledger->lines, i);
        ratio_text(&line->predicted, predicted);
        ratio_text(&line->measured, measured);
        stk_sink_printf(to, "%-20.20s  %-19s  %-19s  %5" PRId64 "  ", line->time, predicted,
                        measured, line->pairs);
        stk_sink_text(to, line->fix);
        stk_sink_text(to, "\n");
    }
    stk_sink_text(to, ledger->lines.count
                          ? "\nRatios: time after / time before, with their intervals.\n"
                          : "");
    put_calibration(&c, to);
    if (ledger->damaged) {
        stk_sink_printf(to, "%zu damaged line%s skipped.\n", ledger->damaged,
                        ledger->damaged == 1 ? " was" : "s were");
    }
}

struct made {
    const char *path;
    const struct stk_ledger *ledger;
    size_t first;
    bool is_json;
};

static void put(const void *made, struct stk_sink *to)
{
    const struct made *m = made;
    (m->is_json ? put_json : put_people)(m->path, m->ledger, m->first, to);
}

static int put_all(const struct stk_args *args, const char *path, const struct stk_ledger *ledger)
{
    const struct stk_opt_value *v = args->values;
    bool is_json = v[STK_OPT_ID_JSON].set;
    size_t count = ledger->lines.count;
    size_t most = v[STK_OPT_ID_LIMIT].set ? (size_t)v[STK_OPT_ID_LIMIT].number
                  : is_json               ? 10000
                                          : ROWS_FOR_PEOPLE;
    size_t first = most && count > most ? count - most : 0;
    const struct made made = {path, ledger, first, is_json};
    return stk_output_put(NULL, put, &made);
}

static int ledger_run(const struct stk_args *args)
{
    const char *path = args->values[STK_OPT_ID_LEDGER_FILE].text;
    char own[4096];
    struct stk_ledger ledger;
    struct stoker_err err;
    if (!path && !stk_ledger_path(own, sizeof own)) {
        return stk_usage(
            &stk_cmd_ledger,
            "HOME and XDG_DATA_HOME are not set, so the ledger can't be found: give --file FILE");
    }
    path = path ? path : own;
    int code = stk_ledger_read(path, &ledger, &err) == STOKER_OK ? put_all(args, path, &ledger)
                                                                 : stk_fail(&err);
    stk_ledger_free(&ledger);
    return code;
}

const struct stk_cmd stk_cmd_ledger = {
    .name = "ledger",
    .summary = "list past proofs: predicted and measured",
    .words = "",
    .description =
        "Each result of `stoker prove` adds a line to a ledger: the change, the what-if's estimate "
        "(--predict), and the measured ratio with its interval. It also keeps the versions, the "
        "machine and a hash of the profile. This command lists the latest proofs, and says how "
        "often the measured ratio was within the estimate and how far off the expected value "
        "was.\n\n"
        "The file is $XDG_DATA_HOME/stoker/ledger.tsv, or ~/.local/share/stoker/ledger.tsv. It is "
        "tab-separated text. Several processes can append to it at once.",
    .examples = "stoker ledger\tthe last 20 proofs\n"
                "stoker ledger --json --file lab/ledger.tsv\tanother file, as JSON\n",
    .max_words = 0,
    .options = {STK_OPT_ID_LEDGER_FILE, STK_OPT_ID_JSON, STK_OPT_ID_LIMIT, STK_OPT_ID_NONE},
    .run = ledger_run,
};
