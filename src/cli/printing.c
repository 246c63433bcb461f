// SPDX-License-Identifier: Apache-2.0
// See printing.h. A file is kept only if it could be written completely.
#include "cli/printing.h"

#include "base/assert.h"

#include <string.h>

int stk_printing_begin(struct stk_printing *p, const struct stk_args *args, const char *format)
{
    STK_ASSERT(format);
    const struct stk_opt_value *v = args->values;
    int code = stk_output_open(&p->output, v[STK_OPT_ID_OUTPUT].text, strcmp(format, "text") == 0);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    p->how = (struct stoker_write_options){
        .colour = stk_screen_colour(p->output.fd, v[STK_OPT_ID_NO_COLOR].set),
        .links = stk_screen_links(p->output.fd, v[STK_OPT_ID_NO_COLOR].set),
        .columns = stk_screen_columns(p->output.fd),
        .verbose = v[STK_OPT_ID_QUIET].set ? -1 : v[STK_OPT_ID_VERBOSE].set,
        .ascii = stk_screen_ascii(),
        .csv_raw = v[STK_OPT_ID_CSV_RAW].set,
    };
    return STK_EXIT_DONE;
}

int stk_printing_end(struct stk_printing *p, enum stoker_status status, int done)
{
    int code = stk_output_end(&p->output, status, &p->err);
    return code == STK_EXIT_DONE ? done : code;
}

int stk_printing_describe(const struct stk_args *args,
                          enum stoker_status (*describe)(const char *format, stoker_write_fn write,
                                                         void *arg, struct stoker_err *err))
{
    const char *format = args->values[STK_OPT_ID_MARKDOWN].set ? "markdown" : "text";
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, format);
    return code == STK_EXIT_DONE
               ? stk_printing_end(&p, describe(format, stk_output_write, &p.output, &p.err), code)
               : code;
}
