// SPDX-License-Identifier: Apache-2.0
// The ledger: a line for each proof, with what was predicted beforehand where something was, so
// that everybody can see how well predictions come true. One TSV with a header (STK_LEDGER_HEADER),
// in the user's data directory unless another file is named; lab/ledger.tsv is one, too.
//
// Lines are appended whole: under a lock (flock), by one write, taken back where the disk is full.
// So several writers lose nothing of one another, and a reader sees whole lines. What is unknown is
// an empty cell. All ratios are time after over time before.
// Limits: over NFS a lock holds only where the server keeps them; a ledger of more than a million
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

// The user's own: $XDG_DATA_HOME/stoker/ledger.tsv, else ~/.local/share/... False: neither
// XDG_DATA_HOME nor HOME is set, or the path is too long.
bool stk_ledger_path(char *to, size_t size);
// The moment, the version and the processor's name, in their columns.
void stk_ledger_here(struct stk_ledger_line *line);
// A hash of a profile's bytes (of a folder: of all files in it), 16 hex digits; "" where it cannot
// be read.
void stk_ledger_hash(const char *path, char to[32]);

// Appends; makes the file with its header, and folders above it, where they are not there. Other
// codes: it could not be written, and is as it was.
STK_MUST_CHECK enum stoker_status
stk_ledger_append(const char *path, const struct stk_ledger_line *line, struct stoker_err *err);

struct stk_ledger {
    struct stk_vec lines; // struct stk_ledger_line
    size_t damaged;       // unreadable lines
};
// A file that is not there is an error (STOKER_EINPUT), as is one without the header.
STK_MUST_CHECK enum stoker_status stk_ledger_read(const char *path, struct stk_ledger *to,
                                                  struct stoker_err *err);
void stk_ledger_free(struct stk_ledger *ledger);

// How predictions came true, of the lines that have both.
struct stk_calibration {
    size_t predictions;
    size_t inside;       // the measured ratio is within the prediction
    size_t meet;         // both intervals meet
    size_t too_low;      // faster was promised than came
    double median_error; // |expected - measured|, share of the time before
};
struct stk_calibration stk_ledger_calibration(const struct stk_ledger *ledger);
