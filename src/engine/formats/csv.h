// SPDX-License-Identifier: Apache-2.0
// Rows and fields of CSV files, as tf.data.experimental.CsvDataset reads them: a field ends at the
// delimiter or at the end of the line (
// , \r or \r
// ). A field that starts with a quote ends at the next quote that isn't doubled, and may contain
// anything. Values are views into the text.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STK_CSV_PAD 64 // bytes after the text that may be read; their content doesn't matter

struct stk_csv_field {
    const uint8_t *data;
    size_t size;
    bool is_escaped; // contains doubled quotes, each standing for one
};

struct stk_csv_scan {
    uint8_t delim;
    bool has_quotes; // else quotes are ordinary characters
    const uint8_t *at, *end;
    const uint8_t *base; // of 64 bytes; `mask` marks the special ones not passed yet
    uint64_t mask;
};

// Starts reading [data, end).
void stk_csv_start(struct stk_csv_scan *s, const uint8_t *data, const uint8_t *end);
// The next row: its first `room` fields, and how many it has. False: [at, end) has no whole row,
// and scan->at is unchanged. is_last: nothing follows `end`, which then ends a row. *why: NULL, or
// what is wrong with the row, which was skipped.
bool stk_csv_row(struct stk_csv_scan *s, bool is_last, struct stk_csv_field *fields,
                 size_t capacity, size_t *count, const char **why);
// The field's bytes without doubled quotes; returns how many. `out` has room for field->size.
size_t stk_csv_unescape(const struct stk_csv_field *field, uint8_t *out);

// Marks delimiters, line ends and (if has_quotes) quotes among 64 bytes. The plain version is for
// CPUs without AVX2, and for tests.
uint64_t stk_csv_mask(const uint8_t p[64], uint8_t delim, bool has_quotes);
uint64_t stk_csv_mask_plain(const uint8_t p[64], uint8_t delim, bool has_quotes);
