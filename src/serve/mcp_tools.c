// SPDX-License-Identifier: Apache-2.0
// See mcp_tools.h. Limits: a link changed between the check of a path and its reading is followed:
// a user who can change it can also change the profile.
#include "serve/mcp_tools.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/err.h"
#include "stoker/diff.h"
#include "stoker/query.h"
#include "stoker/stats.h"
#include "stoker/whatif.h"

enum { DEPTH_MAX = 16 };

#define PROFILE                                                                                    \
    {"profile", "string", "a profile or a folder of them, below the folders of the server", true}
#define LIMIT {"limit", "integer", "rows of long lists (100)", false}

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 &&
           (path[n] == 0 || path[n] == '/' || folder[n - 1] == '/');
}

static char *resolve_in(const struct stk_mcp_folders *folders, const char *path)
{
    char *resolved = realpath(path, NULL);
    for (size_t i = 0; resolved && i < folders->count; i++) {
        if (is_below(resolved, folders->paths[i])) {
            return resolved;
        }
    }
    free(resolved);
    return NULL;
}

// A folder is read as a whole, and a link in it may lead elsewhere. What can't be examined, or is
// deeper than stoker ever looks, counts as such a link.
static bool leads_out(const struct stk_mcp_folders *folders, const char *path, int depth)
{
    struct stat st;
    char inner[PATH_MAX];
    if (lstat(path, &st) != 0 || depth > DEPTH_MAX) {
        return true;
    }
    if (S_ISLNK(st.st_mode)) {
        char *resolved = resolve_in(folders, path);
        free(resolved);
        return !resolved;
    }
    DIR *d = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    bool found = S_ISDIR(st.st_mode) && !d;
    while (d && !found) {
        errno = 0;
        struct dirent *e = readdir(d);
        if (!e) {
            found = errno != 0; // what can't be listed may lead out
            break;
        }
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            int n = snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
            found = n >= (int)sizeof inner || leads_out(folders, inner, depth + 1);
        }
    }
    if (d) {
        closedir(d);
    }
    return found;
}

char *stk_mcp_resolve(const struct stk_mcp_folders *folders, const char *path,
                      struct stoker_err *err)
{
    char joined[PATH_MAX], *found = NULL;
    STK_ASSERT(folders->count > 0);
    if (path[0] == '/') {
        found = resolve_in(folders, path);
    }
    for (size_t i = 0; !found && path[0] != '/' && i < folders->count; i++) {
        int n = snprintf(joined, sizeof joined, "%s/%s", folders->paths[i], path);
        found = n < (int)sizeof joined ? resolve_in(folders, joined) : NULL;
    }
    if (found && leads_out(folders, found, 0)) {
        (void)stk_err_set(err, STOKER_EDENIED,
                          "%.200s: contains a link that leads out of the folders that this server "
                          "reads: name a file in it",
                          path);
        free(found);
        return NULL;
    }
    if (!found) { // one message for both, so it reveals nothing about other folders
        (void)stk_err_set(err, STOKER_EMISSING,
                          "%.200s: not there, or not below a folder that this server reads", path);
    }
    return found;
}

static void reading(const struct stk_mcp_call *call, struct stoker_why_options *o)
{
    stoker_why_options_default(o);
    o->limit = call->limit;
}

static enum stoker_status run_report(const struct stk_mcp_call *call, stoker_write_fn write,
                                     void *to, struct stoker_err *err)
{
    struct stoker_why_options o;
    struct stoker_result *result;
    reading(call, &o);
    enum stoker_status status = stoker_why(&call->profile, 1, &o, &result, err);
    if (status == STOKER_OK) {
        status = stoker_result_write(result, "json", NULL, write, to, err);
        stoker_result_free(result);
    }
    return status;
}

static enum stoker_status run_whatif(const struct stk_mcp_call *call, stoker_write_fn write,
                                     void *to, struct stoker_err *err)
{
    struct stoker_whatif_options o;
    struct stoker_whatif *whatif;
    stoker_whatif_options_default(&o);
    reading(call, &o.reading);
    o.fixes = stk_json_member_text(call->arguments, "fix");
    enum stoker_status status = stoker_whatif(&call->profile, 1, &o, &whatif, err);
    if (status == STOKER_OK) {
        status = stoker_whatif_write(whatif, "json", NULL, write, to, err);
        stoker_whatif_free(whatif);
    }
    return status;
}

static enum stoker_status write_tables(struct stoker_tables *tables, stoker_write_fn write,
                                       void *to, struct stoker_err *err)
{
    enum stoker_status status = stoker_tables_write(tables, "json", NULL, NULL, write, to, err);
    stoker_tables_free(tables);
    return status;
}

static enum stoker_status run_stats(const struct stk_mcp_call *call, stoker_write_fn write,
                                    void *to, struct stoker_err *err)
{
    struct stoker_why_options o;
    struct stoker_tables *tables;
    reading(call, &o);
    const char *analysis = stk_json_member_text(call->arguments, "analysis");
    enum stoker_status status = stoker_stats(analysis, &call->profile, 1, &o, &tables, err);
    return status == STOKER_OK ? write_tables(tables, write, to, err) : status;
}

static enum stoker_status run_query(const struct stk_mcp_call *call, stoker_write_fn write,
                                    void *to, struct stoker_err *err)
{
    struct stoker_why_options o;
    struct stoker_query_options q;
    struct stoker_profiles *profiles;
    struct stoker_tables *tables;
    reading(call, &o);
    stoker_query_options_default(&q);
    q.limit = call->limit;
    const char *sql = stk_json_member_text(call->arguments, "sql");
    enum stoker_status status = stoker_open(&call->profile, 1, &o, &profiles, err);
    if (status != STOKER_OK) {
        return status;
    }
    status = stoker_query(profiles, sql, &q, &tables, err);
    status = status == STOKER_OK ? write_tables(tables, write, to, err) : status;
    stoker_close(profiles);
    return status;
}

static enum stoker_status run_explain(const struct stk_mcp_call *call, stoker_write_fn write,
                                      void *to, struct stoker_err *err)
{
    return stoker_explain(stk_json_member_text(call->arguments, "id"), "text", write, to, err);
}

static enum stoker_status run_tables(const struct stk_mcp_call *call, stoker_write_fn write,
                                     void *to, struct stoker_err *err)
{
    (void)call;
    return stoker_describe_tables("text", write, to, err);
}

const struct stk_mcp_tool stk_mcp_tools[] = {
    {"report",
     "Why the GPU waits: the verdict, where each step's time goes, findings with evidence and "
     "fixes.",
     {PROFILE, LIMIT},
     run_report},
    {"whatif",
     "What each fix would save, by replaying the recorded steps.",
     {PROFILE,
      {"fix", "string", "estimate these together: input-free,fuse; default: each fix alone", false},
      LIMIT},
     run_whatif},
    {"stats",
     "One analysis as tables: kernels, input, ops, gaps and others.",
     {PROFILE, {"analysis", "string", "such as kernels; a wrong name lists them all", true}, LIMIT},
     run_stats},
    {"query",
     "One SELECT over the events, in SQLite's dialect.",
     {PROFILE, {"sql", "string", "a single SELECT; the tool tables lists the tables", true}, LIMIT},
     run_query},
    {"tables", "Tables and columns for the tool query.", {{0}}, run_tables},
    {"explain",
     "A rule or fix: when it fires, why it matters, what to change.",
     {{"id", "string", "of a finding or fix, such as input-wait", true}},
     run_explain},
    {0}};
