// SPDX-License-Identifier: Apache-2.0
// Writes wire files. Any number of writers share a file, one per thread. A writer collects records
// of one type in its own buffer and appends them as a block when the buffer is full, the type
// changes or the caller asks. Writers need no lock: each block gets its place in the file by one
// atomic addition. If the process dies, only what isn't appended yet is lost.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "wire/wire.h"

struct stk_wire_file;

// Creates or replaces the file. producer: at most 23 characters. Errors: stk_err_of_file's status,
// or STOKER_EOUTPUT.
STK_MUST_CHECK enum stoker_status stk_wire_create(struct stk_wire_file **out, const char *path,
                                                  const char *producer, struct stoker_err *err);
// The last one ends the file with an END block if `is_whole`. An error: something couldn't be
// written, now or earlier. Takes NULL.
STK_MUST_CHECK enum stoker_status stk_wire_close(struct stk_wire_file *f, bool is_whole,
                                                 struct stoker_err *err);
// Ends the file for current readers; later blocks replace the END block. All writers must have
// flushed.
STK_MUST_CHECK enum stoker_status stk_wire_pause(struct stk_wire_file *f, struct stoker_err *err);
// Is the file still at this path?
bool stk_wire_is_at(const struct stk_wire_file *f, const char *path);

struct stk_wire_writer; // belongs to one thread

struct stk_wire_writer *stk_wire_writer_open(struct stk_wire_file *f); // NULL: no memory
void stk_wire_writer_close(struct stk_wire_writer *w); // appends the rest; takes NULL
void stk_wire_flush(struct stk_wire_writer *w);
// Numbers are unique in the file; 0 after writing failed.
uint32_t stk_wire_string(struct stk_wire_writer *w, const char *text);
uint32_t stk_wire_track(struct stk_wire_writer *w, enum stk_wire_track_kind kind, int64_t number,
                        int device, uint32_t name);
// Adds a record of a type; first_ns and last_ns: its time, 0 for none. stk_wire_close reports
// failures: a recorder must not disturb the recorded program.
void stk_wire_put(struct stk_wire_writer *w, enum stk_wire_type type, const void *record,
                  size_t size, uint64_t first_ns, uint64_t last_ns);
