// SPDX-License-Identifier: Apache-2.0
// stoker formats: the profile formats that can be read.
#include "cli/printing.h"

static int formats_run(const struct stk_args *args)
{
    return stk_printing_describe(args, stoker_describe_readers);
}

const struct stk_cmd stk_cmd_formats = {
    .name = "formats",
    .summary = "list the profile formats that stoker reads",
    .words = "",
    .description = "Lists the formats that stoker reads. It recognizes a file by its content, not "
                   "its name, and unpacks gzip and zstd.",
    .examples = "stoker formats\tlist them\n",
    .options = {STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .run = formats_run,
};
