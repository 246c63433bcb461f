// SPDX-License-Identifier: Apache-2.0
// The table of readers, and how a file finds its own.
#include "profile/readers/reader.h"

const struct stk_reader *const stk_readers[] = {
#define X(name) &stk_reader_##name,
#include "profile/readers/readers.def"
#undef X
};
const int stk_reader_count = sizeof stk_readers / sizeof stk_readers[0];
