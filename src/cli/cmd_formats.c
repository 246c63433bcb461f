// SPDX-License-Identifier: Apache-2.0
// stoker formats: the profiles that can be read.
#include "cli/cli.h"
#include "cli/screen.h"

static int run(const struct stk_args *args)
{
    struct stk_output output;
    struct stoker_err err;
    const char *format = args->values[STK_OPT_ID_MARKDOWN].set ? "markdown" : "text";
    stk_output_open(&output, NULL);
    enum stoker_status status = stoker_describe_readers(format, stk_output_write, &output, &err);
    int code = stk_output_close(&output, true);
    return status == STOKER_OK || status == STOKER_EOUTPUT ? code : stk_fail(&err);
}

const struct stk_cmd stk_cmd_formats = {
    .name = "formats",
    .summary = "list the profile formats that can be read",
    .words = "",
    .description = "Lists the formats that stoker reads. A file is recognised by its content, "
                   "whatever its name; gzip "
                   "and zstd are unpacked on the way.",
    .examples = "stoker formats\tlist them\n",
    .options = {STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .run = run,
};
