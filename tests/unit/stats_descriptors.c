// SPDX-License-Identifier: Apache-2.0
// Every analysis of stoker stats is described completely: each column and figure has a sentence, a
// unit that agrees with its name, and its place in the row; values that may be missing say why and
// what to do.
#include "check.h"

#include "answers/passes/stats/stats.h"

static bool is_text(const char *s)
{
    size_t n = s ? strlen(s) : 0;
    return n >= 8 && n < 600 && s[n - 1] != ' ' && s[n - 1] != '.' && s[0] != ' ' &&
           !strstr(s, "  ") && !strchr(s, '\n') && !strchr(s, '|');
}

static bool ends(const char *s, const char *ending)
{
    size_t n = strlen(s), k = strlen(ending);
    return n >= k && strcmp(s + n - k, ending) == 0;
}

static bool unit_agrees(const struct stk_column *c)
{
    bool is_rate = ends(c->id, "_per_s");
    return ends(c->id, "_ns") == (c->type == STK_TYPE_NS) &&
           (!ends(c->id, "_share") || c->type == STK_TYPE_SHARE) &&
           is_rate == (c->type == STK_TYPE_RATE) &&
           (!ends(c->id, "_bytes") || c->type == STK_TYPE_BYTES) &&
           (!is_rate || !ends(c->id, "bytes_per_s") || strstr(c->doc, "bytes") != NULL);
}

static void check_columns(const char *of, const struct stk_column *columns, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        bool good = is_text(columns[c].doc) && unit_agrees(&columns[c]) && columns[c].at == c;
        for (size_t k = 0; k < c; k++) {
            good &= strcmp(columns[k].id, columns[c].id) != 0;
        }
        CHECK(good);
        if (!good) {
            fprintf(stderr, "%s: %s: %s\n", of, columns[c].id, columns[c].doc);
        }
    }
    CHECK(count > 0);
}

static void check_analysis(const struct stk_stats *s, size_t *columns, size_t *figures)
{
    size_t tables = 0;
    for (; s->tables[tables]; tables++) {
        const struct stk_table_info *t = s->tables[tables];
        CHECK_RUN(check_columns, t->id, t->columns, t->column_count);
        CHECK(is_text(t->id) || strlen(t->id) > 2);
        CHECK(strlen(t->title) > 4);
        *columns += t->column_count;
    }
    CHECK(tables > 0 && tables <= STK_TABLE_MAX);
    CHECK(s->summary != NULL && s->summary->figure_count <= STK_TABLE_FIGURES);
    CHECK_RUN(check_columns, s->name, s->summary->figures, s->summary->figure_count);
    *figures += s->summary->figure_count;
    for (size_t m = 0; s->missing[m]; m++) {
        CHECK(m < STK_STATS_MISSING && strlen(s->missing[m]->what) > 4);
        CHECK(is_text(s->missing[m]->why) && is_text(s->missing[m]->remedy));
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    size_t columns = 0, figures = 0, keys = 0;
    for (int i = 0; i < stk_stats_count; i++) {
        const struct stk_stats *s = stk_stats_all[i];
        check_analysis(s, &columns, &figures);
        for (size_t k = 0; s->by && s->by[k]; k++, keys++) {
            CHECK(strlen(s->by[k]->name) > 2 && !s->by[k]->by);
            check_analysis(s->by[k], &columns, &figures);
        }
    }
    CHECK(columns > 200 && figures > 80 && keys >= 2);
    printf("%zu columns and %zu figures have their sentences\n", columns, figures);
    return check_done("unit.stats_descriptors");
}
