// SPDX-License-Identifier: Apache-2.0
// The critical path that a replay found, kept for a rank: for queries and exports.
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "profile/model/path_piece.h"
#include "answers/replay/graph.h"

// *out is in the arena; empty if there is no path.
STK_MUST_CHECK enum stoker_status stk_path_pieces_keep(const struct stk_replay_path *from,
                                                       struct stk_arena *arena,
                                                       struct stk_path_pieces *out,
                                                       struct stoker_err *err);
// Names are the profile's, copied before redaction replaced them; with --redact none.
struct stk_path_pieces stk_path_pieces_shown(const struct stk_path_pieces *kept, bool redact);
