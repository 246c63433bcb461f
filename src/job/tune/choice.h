// SPDX-License-Identifier: Apache-2.0
// A fix with a value to try, and sets of these.
#pragma once

#include <stddef.h>

#include "job/tune/tries.h"

enum { STK_TUNE_TOGETHER = 32, STK_TUNE_LABEL = 320, STK_TUNE_LINE = 768 };

struct stk_tune_choice {
    const struct stk_rep_fix *fix;
    char value[STK_TUNE_VALUE];
};
struct stk_tune_set {
    struct stk_tune_choice items[STK_TUNE_TOGETHER];
    int count;
};

// "torch.dataloader.num_workers=2".
void stk_tune_label(const struct stk_tune_choice *choice, char to[STK_TUNE_LABEL]);
// A row's text, with each "{}" replaced by the value.
void stk_tune_fill(const char *text, const char *value, char *to, size_t size);
// The set plus one; unchanged if there is no room.
struct stk_tune_set stk_tune_with(const struct stk_tune_set *set,
                                  const struct stk_tune_choice *choice);
// Whether each of `some` is in `all`, with the same value.
bool stk_tune_covers(const struct stk_tune_set *all, const struct stk_tune_set *some);
bool stk_tune_is_same(const struct stk_tune_set *a, const struct stk_tune_set *b);
// What the set may change in the job: the most that one of its fixes does. If callbacks see less,
// losses change no more than with another order.
enum stk_tune_changes stk_tune_changes_of(const struct stk_tune_set *set);
// Steps that this set merges into one.
uint64_t stk_tune_together(const struct stk_tune_set *set);
// Length of the name of the variable that the fix sets.
size_t stk_tune_name_length(const struct stk_rep_fix *fix);
// "K=V" for the choice, if K's present value is `now` (NULL: unset).
void stk_tune_set_variable(const struct stk_tune_choice *choice, const char *now, char *to,
                           size_t size);
// `env` (NULL-terminated) plus the plan for the hooks and the set's variables. Free with stk_free,
// as one block, before `env`. NULL: no memory.
char **stk_tune_environment(char *const *env, const struct stk_tune_set *set, uint64_t stop);
// The command with the set's commands in front; free it the same way.
char **stk_tune_command(char *const *argv, const struct stk_tune_set *set);
