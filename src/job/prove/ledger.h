// SPDX-License-Identifier: Apache-2.0
// The ledger: a line per proof, with the earlier prediction if there was one, so that everybody can
// see how good predictions are. A TSV file with a header (STK_LEDGER_HEADER), in the user's data
// directory unless another file is named; lab/ledger.tsv is also one.
//
// A line is appended under a lock (flock), by one write, and removed again if the disk is full. So
// concurrent writers lose nothing, and a reader sees complete lines. Unknown values are empty
// cells. All ratios are time after over time before.
// Limits: over NFS a lock works only if the server supports it; a ledger of more than a million
// lines is not read.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/vec.h"
#include "results/ledger.h"

#define STK_LEDGER_HEADER                                                                          \
    "time\tprofile\tfix\tpredicted_low\tpredicted\tpredicted_high\tmeasured_low\tmeasured\t"       \
    "measured_high\tpairs\tframework\tdevice\tstoker\n"

// The user's ledger: $XDG_DATA_HOME/stoker/ledger.tsv, else ~/.local/share/... False: neither
// XDG_DATA_HOME nor HOME is set, or the path is too long.
bool stk_ledger_path(char *to, size_t size);
// Fills the columns for the time, the version and the processor's name.
void stk_ledger_here(struct stk_ledger_line *line);
// A hash of a profile's bytes (of a folder: of all its files), 16 hex digits; "": unreadable.
void stk_ledger_hash(const char *path, char to[32]);

// Appends a line; makes the file with its header, and its folders, if they don't exist. Other
// codes: the file couldn't be written, and is unchanged.
STK_MUST_CHECK enum stoker_status
stk_ledger_append(const char *path, const struct stk_ledger_line *line, struct stoker_err *err);

struct stk_ledger {
    struct stk_vec lines; // struct stk_ledger_line
    size_t damaged;       // unreadable lines
};
// A missing file is an error (STOKER_EINPUT), as is one without the header.
STK_MUST_CHECK enum stoker_status stk_ledger_read(const char *path, struct stk_ledger *to,
                                                  struct stoker_err *err);
void stk_ledger_free(struct stk_ledger *ledger);

// The accuracy of predictions, over lines with a prediction and a measurement.
struct stk_calibration {
    size_t predictions;
    size_t inside;       // the measured ratio is in the predicted interval
    size_t meet;         // both intervals overlap
    size_t too_low;      // the prediction was too optimistic
    double median_error; // |expected - measured|, share of the time before
};
struct stk_calibration stk_ledger_calibration(const struct stk_ledger *ledger);
