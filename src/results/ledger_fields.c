// SPDX-License-Identifier: Apache-2.0
// The contract of `stoker ledger --json`, field by field. Rows are only ever added.
#include "results/field_rows.h"
#include "results/ledger.h"

static const struct stk_field line_fields[] = {
    ROW_HERE("time", stk_ledger_line, time, "of the proof, UTC"),
    ROW_HERE("profile", stk_ledger_line, profile, "hash of A's profile"),
    ROW_HERE("fix", stk_ledger_line, fix, "what was tried"),
    ROW_IF("predicted", OBJECT, stk_ledger_line, predicted, predicted.is_known, &stk_interval_info,
           "time after over time before, by a what-if"),
    ROW_IF("measured", OBJECT, stk_ledger_line, measured, measured.is_known, &stk_interval_info,
           "time after over time before, with its interval"),
    ROW("pairs", NUMBER, stk_ledger_line, pairs, NULL, NULL, "of runs"),
    ROW_HERE("framework", stk_ledger_line, framework, "and versions"),
    ROW_HERE("device", stk_ledger_line, device, "it ran on"),
    ROW_HERE("stoker", stk_ledger_line, stoker, "its version"),
    END};
INFO(line, sizeof(struct stk_ledger_line));

static const struct stk_field calibration_fields[] = {
    SUB("predictions", COUNT, stk_ledger_doc, calibration, predictions, NULL,
        "beside what was measured"),
    SUB_IF("inside_share", SHARE, stk_ledger_doc, calibration, inside_share, has_any,
           "measured within the predicted interval"),
    SUB_IF("intervals_meet_share", SHARE, stk_ledger_doc, calibration, intervals_meet_share,
           has_any, "both intervals have a part in common"),
    SUB_IF("too_optimistic_share", SHARE, stk_ledger_doc, calibration, too_optimistic_share,
           has_any, "more was promised than came"),
    SUB_IF("median_error_share", RATIO, stk_ledger_doc, calibration, median_error_share, has_any,
           "of the time before"),
    END};
INFO(calibration, SIZE_OF(stk_ledger_doc, calibration));

static const struct stk_field ledger_fields[] = {
    ROW("schema", TEXT, stk_ledger_doc, schema, NULL, STK_LEDGER_SCHEMA,
        "name and version of this contract"),
    ROW("file", TEXT, stk_ledger_doc, file, NULL, NULL, "the ledger"),
    ROW("lines", LIST, stk_ledger_doc, lines, &line, NULL, "proofs, the newest last"),
    ROW("lines_left_out", LEFT_OUT, stk_ledger_doc, lines, NULL, NULL, "older ones, by --limit"),
    ROW("lines_damaged", COUNT, stk_ledger_doc, lines_damaged, NULL, NULL, "passed over"),
    ROW("calibration", OBJECT, stk_ledger_doc, calibration, &calibration, NULL,
        "how predictions came true"),
    END};
const struct stk_struct_info stk_ledger_info = {"ledger", sizeof(struct stk_ledger_doc),
                                                ledger_fields};
