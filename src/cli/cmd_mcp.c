// SPDX-License-Identifier: Apache-2.0
// stoker mcp: the Model Context Protocol (serve/mcp.h) over standard input and output, for coding
// agents. A request is read once the previous one is answered.
//
// Limits: a request has at most LINE_MAX_BYTES.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "serve/mcp.h"

enum { LINE_MAX_BYTES = 1 << 20 };

static int to_stdout(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    return fwrite(bytes, 1, n, stdout) != n || fflush(stdout) != 0;
}

// The next line of standard input without its line end, zero-terminated; false: no more.
static bool next_line(struct stk_vec *line, bool *is_long)
{
    int c = EOF;
    line->count = 0;
    *is_long = false;
    while ((c = getc(stdin)) != EOF && c != '\n') {
        char *to = *is_long || line->count == LINE_MAX_BYTES ? NULL : stk_vec_push(line);
        *is_long = *is_long || !to;
        if (to) {
            *to = (char)c;
        }
    }
    char *last = stk_vec_push(line);
    if (last) {
        *last = 0;
        line->count--;
    }
    *is_long = *is_long || !last;
    return c != EOF || line->count > 0;
}

static int serve(struct stk_mcp *s)
{
    struct stk_vec line;
    bool is_long, is_good = true;
    STK_ASSERT(s->folders.count > 0);
    s->write = to_stdout;
    stk_vec_init(&line, 1, LINE_MAX_BYTES + 1);
    while (is_good && !stk_signals_pending() && next_line(&line, &is_long)) {
        if (is_long) {
            is_good = stk_mcp_refuse(s, NULL, STK_MCP_PARSE_ERROR, "a request has more than 1 MiB");
        } else if (line.count > 0) {
            is_good = stk_mcp_handle(s, line.items, line.count);
        }
    }
    stk_vec_deinit(&line);
    return is_good ? STK_EXIT_DONE : STK_EXIT_LIMIT;
}

static int open_folders(struct stk_mcp *s, const struct stk_args *args)
{
    struct stat st;
    if (args->word_count > STK_MCP_FOLDERS) {
        return stk_usage(&stk_cmd_mcp, "more than %d folders", STK_MCP_FOLDERS);
    }
    for (int i = 0; i < args->word_count; i++) {
        char *path = realpath(args->words[i], NULL);
        if (!path || stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
            free(path);
            return stk_usage(&stk_cmd_mcp, "%.200s: no such folder", args->words[i]);
        }
        s->folders.paths[s->folders.count++] = path;
    }
    return STK_EXIT_DONE;
}

static int mcp_run(const struct stk_args *args)
{
    static struct stk_mcp server; // too large for a stack
    int code = open_folders(&server, args);
    code = code == STK_EXIT_DONE ? serve(&server) : code;
    for (size_t i = 0; i < server.folders.count; i++) {
        free(server.folders.paths[i]);
    }
    return code;
}

const struct stk_cmd stk_cmd_mcp = {
    .name = "mcp",
    .summary = "answer a coding agent's questions about profiles",
    .words = "FOLDER...",
    .description =
        "Serves the Model Context Protocol on standard input and output: a coding agent starts it "
        "and asks for reports, what-ifs, tables and SQL queries. It reads only profiles below the "
        "given folders, writes no files and opens no connections. Answers are the JSON documents "
        "of the other commands, each with a note that names from the profile are data.",
    .examples = "stoker mcp traces/\tas the command of an agent's settings\n",
    .min_words = 1,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_NONE},
    .completes = "files",
    .run = mcp_run,
};
