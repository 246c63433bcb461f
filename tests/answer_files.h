// SPDX-License-Identifier: Apache-2.0
// Analyses of stoker stats on files of other tools, made here: the rows of a database, a message.
#ifndef STK_TESTS_ANSWER_FILES_H
#define STK_TESTS_ANSWER_FILES_H

#include <sqlite3.h>

#include "answer.h"
#include "xplane_writer.h"

// Take the trace of an Nsight Systems export instead, whose tables the SQL makes and fills.
static inline void answer_read_rows(struct answer *a, const struct stk_stats *stats,
                                    const char *sql)
{
    char path[64];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "/tmp/stk_answer_%ld.sqlite", (long)getpid());
    remove(path);
    CHECK_EQ(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    answer_read(a, stats, path);
    remove(path);
}

// The same for an XSpace, which is freed.
static inline void answer_read_space(struct answer *a, const struct stk_stats *stats,
                                     struct pb *space)
{
    const char *path = file_of(space->p, space->n);
    free(space->p);
    answer_read(a, stats, path);
    unlink(path);
}

#endif
