// SPDX-License-Identifier: Apache-2.0
// Reads and writes job descriptions, using the rows of sim_job.def.
#include "sim_job.h"

#include <ctype.h>
#include <string.h>

#include "base/near.h"
#include "base/text.h"

struct key {
    const char *name;
    const char *choices; // NULL: a number
    double value, least, most;
    size_t offset;
    const char *meaning;
};

#define N(name, value, least, most, meaning)                                                       \
    {#name, NULL, value, least, most, offsetof(struct sim_job, name), meaning},
#define W(name, choices, meaning)                                                                  \
    {#name, choices, 0, 0, 0, offsetof(struct sim_job, name), meaning},
static const struct key keys[] = {
#include "sim_job.def"
};
#undef N
#undef W
enum { KEYS = sizeof keys / sizeof keys[0] };

static double *number_of(struct sim_job *job, const struct key *k)
{
    return (double *)(void *)((char *)job + k->offset);
}

static int *word_of(struct sim_job *job, const struct key *k)
{
    return (int *)(void *)((char *)job + k->offset);
}

void sim_job_default(struct sim_job *job)
{
    memset(job, 0, sizeof *job);
    for (int i = 0; i < KEYS; i++) {
        if (!keys[i].choices) {
            *number_of(job, &keys[i]) = keys[i].value;
        }
    }
}

double sim_job_number(struct sim_job *job, const char *key)
{
    for (int i = 0; i < KEYS; i++) {
        if (!keys[i].choices && strcmp(keys[i].name, key) == 0) {
            return *number_of(job, &keys[i]);
        }
    }
    return 0;
}

const char *sim_job_word(const char *choices, int i, char *to, size_t size)
{
    while (i-- > 0) {
        choices = strchr(choices, '|') + 1;
    }
    size_t n = strcspn(choices, "|");
    snprintf(to, size, "%.*s", (int)n, choices);
    return to;
}

static enum stoker_status set_word(struct sim_job *job, const struct key *k, const char *value,
                                   struct stoker_err *err)
{
    const char *p = k->choices;
    for (int i = 0; p; i++) {
        size_t n = strcspn(p, "|");
        if (strlen(value) == n && strncmp(p, value, n) == 0) {
            *word_of(job, k) = i;
            return STOKER_OK;
        }
        p = p[n] ? p + n + 1 : NULL;
    }
    return stk_err_set(err, STOKER_EINVAL, "%s = %s: one of %s", k->name, value, k->choices);
}

enum stoker_status sim_job_set(struct sim_job *job, const char *key, const char *value,
                               struct stoker_err *err)
{
    const char *near = NULL;
    for (int i = 0; i < KEYS; i++) {
        const struct key *k = &keys[i];
        near = stk_near_best(key, near, k->name);
        if (strcmp(k->name, key) != 0) {
            continue;
        }
        if (k->choices) {
            return set_word(job, k, value, err);
        }
        char *end;
        double v = stk_text_to_real(value, &end);
        if (end == value || *end || !(v >= k->least && v <= k->most)) {
            return stk_err_set(err, STOKER_EINVAL, "%s = %s: a number from %g to %g", key, value,
                               k->least, k->most);
        }
        *number_of(job, k) = v;
        return STOKER_OK;
    }
    return stk_err_set(err, STOKER_EINVAL, "no key '%s' in a job%s%s%s", key,
                       near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static char *trimmed(char *s)
{
    while (isspace((unsigned char)*s)) {
        s++;
    }
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1])) {
        s[--n] = '\0';
    }
    return s;
}

enum stoker_status sim_job_parse(struct sim_job *job, char *text, struct stoker_err *err)
{
    int line_no = 0;
    for (char *line = text, *next; line; line = next) {
        line_no++;
        char *end = line + strcspn(line, "\n;#");
        char *stop =
            *end == '#' ? end + strcspn(end, "\n") : end; // a comment goes to the line's end
        next = *stop ? stop + 1 : NULL;
        *end = '\0';
        char *key = trimmed(line), *equals = strchr(key, '=');
        if (!*key) {
            continue;
        }
        if (!equals) {
            return stk_err_set(err, STOKER_EINVAL, "line %d: '%s' isn't 'key = value'", line_no,
                               key);
        }
        *equals = '\0';
        enum stoker_status status = sim_job_set(job, trimmed(key), trimmed(equals + 1), err);
        if (status != STOKER_OK) {
            stk_err_while(err, "in line %d of the job", line_no);
            return status;
        }
    }
    return STOKER_OK;
}

void sim_job_print(const struct sim_job *job, const char *end, FILE *out)
{
    struct sim_job normal, copy = *job;
    sim_job_default(&normal);
    for (int i = 0; i < KEYS; i++) {
        const struct key *k = &keys[i];
        char text[STK_TEXT_NUMBER_MAX];
        if (k->choices && *word_of(&copy, k) != *word_of(&normal, k)) {
            fprintf(out, "%s=%s%s", k->name,
                    sim_job_word(k->choices, *word_of(&copy, k), text, sizeof text), end);
        } else if (!k->choices && *number_of(&copy, k) != *number_of(&normal, k)) {
            stk_text_put_real(text, *number_of(&copy, k));
            fprintf(out, "%s=%s%s", k->name, text, end);
        }
    }
}

void sim_job_help(FILE *out)
{
    for (int i = 0; i < KEYS; i++) {
        const struct key *k = &keys[i];
        if (k->choices) {
            fprintf(out, "%-20s %s: %s\n", k->name, k->choices, k->meaning);
        } else {
            fprintf(out, "%-20s %g (%g to %g): %s\n", k->name, k->value, k->least, k->most,
                    k->meaning);
        }
    }
}
