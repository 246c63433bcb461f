// SPDX-License-Identifier: Apache-2.0
// The dependency graph of a rank's steps (answers/replay/graph.h), coded.
#pragma once

#include "answers/partial/code.h"
#include "answers/replay/graph.h"

void stk_code_graph(struct stk_code *c, struct stk_graph *g);
// Checks what a replay relies on: every index is within its bounds. False: the bytes are damaged.
bool stk_graph_is_sound(const struct stk_graph *g);
