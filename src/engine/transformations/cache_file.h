// SPDX-License-Identifier: Apache-2.0
// Elements kept in a file: implements cache with a filename, and snapshot.
#pragma once

#include "engine/graph/dataset.h"

struct stk_cache_file;

// path: the file, copied. The file is looked for, and with makes_folder its folder created, at the
// first element. is_packed: compressed.
STK_MUST_CHECK enum stoker_status stk_cache_file_open(struct stk_cache_file **out,
                                                      struct stk_iter *it, const char *path,
                                                      bool makes_folder, bool is_packed,
                                                      struct stoker_err *err);
void stk_cache_file_close(struct stk_cache_file *c); // takes NULL
STK_MUST_CHECK enum stoker_status stk_cache_file_next(struct stk_cache_file *c, int64_t want,
                                                      struct stk_block *out,
                                                      struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_cache_file_skip(struct stk_cache_file *c, int64_t n,
                                                      int64_t *done, struct stoker_err *err);
