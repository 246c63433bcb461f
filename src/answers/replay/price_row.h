// SPDX-License-Identifier: Apache-2.0
// A what-if changes a scene: it shortens nodes, or takes edges away. To add one: a file
// replay/price_<name>.c that ends in its descriptor `const struct stk_fix stk_fix_<name>`, and one
// line X(<name>) in prices.def. --list and the docs page come from that row.
//
// Each is applied at three levels: what can be hoped for, what is expected, what is the least. A
// level must never be faster than the one before it; the pricing enforces it.
#ifndef STK_REPLAY_FIX_H
#define STK_REPLAY_FIX_H

#include "answers/replay/replay.h"

enum stk_level_of_fix { STK_FIX_LOW, STK_FIX_EXPECTED, STK_FIX_HIGH, STK_FIX_LEVELS };

struct stk_fix_how {
    enum stk_level_of_fix level;
    double value;     // of ids that take a number
    const char *text; // as given, for ids that take a word
};

struct stk_fix {
    const char *id;      // "input-free"; ends in '=' if it takes a value
    const char *value;   // that is meant without one, NULL: it takes none
    const char *choices; // "fp16|bf16" if the value is a word; NULL: a number above 0
    // Whether it is one of them, where they are no plain list; may be NULL.
    bool (*takes)(const char *value);
    const char *what;     // what is changed
    const char *assumes;  // what must hold
    bool is_priced_alone; // without --fix, too
    // A rate or a size of the device's work is supposed: nothing has to be done for it that could
    // give less, and ends of its own hold what such work may take.
    bool is_supposed;
    bool may_slow;     // a step may become longer
    bool is_more_work; // a step does `value` times the work: what is saved is of a sample
    // Why there is nothing to change in this graph; NULL: there is.
    const char *(*refuse)(const struct stk_graph *g);
    // The same of the value that was asked for; may be NULL.
    const char *(*refuse_value)(const struct stk_graph *g, const struct stk_fix_how *how);
    // False: no memory.
    bool (*apply)(struct stk_scene *s, const struct stk_fix_how *how);
    // The step without the fix in another run, where what the fix takes away differs from run to
    // run: at its slowest for the optimistic end, at its quickest for the other; may be NULL.
    void (*vary)(struct stk_scene *s, enum stk_level_of_fix level);
};

#define X(name) extern const struct stk_fix stk_fix_##name;
#include "answers/replay/prices.def"
#undef X
extern const struct stk_fix *const stk_fixes[];
extern const int stk_fix_count;

// A fix as it was asked for.
struct stk_fix_set {
    const struct stk_fix *fix;
    double value;
    const char *text; // "input-faster=2"
};
// Why it cannot be applied to this graph, as asked for; NULL: it can.
const char *stk_fix_refuse(const struct stk_graph *g, const struct stk_fix_set *set);
bool stk_fix_is_supposed(const struct stk_fix_set *set, size_t count); // all of them
// May a step become longer with one of them?
bool stk_fix_may_slow(const struct stk_fix_set *set, size_t count);
double stk_fix_work(const struct stk_fix_set *set, size_t count); // of a step, 1: as now
// One "id" or "id=value", or the id of an advice that has a price; the error names the nearest id.
// `text` must outlive the set.
STK_MUST_CHECK enum stoker_status stk_fix_parse(const char *text, struct stk_fix_set *out,
                                                struct stoker_err *err);

// Why what-ifs of the input have nothing to change; NULL: they have.
const char *stk_fix_refuse_input(const struct stk_graph *g);
// For a fix's `refuse`: is there a node of this kind, and `what` (-1: any)?
bool stk_fix_finds(const struct stk_graph *g, enum stk_node_kind kind, int what);
// Without a device a wait is seen only where the framework records it as one. This: nodes of that
// kind take less than a fiftieth of the steps, so that what the fix takes away may be recorded as
// something else, or not at all, and no number says its worth.
bool stk_fix_may_hide(const struct stk_graph *g, enum stk_node_kind kind, int what);
// Nothing waits for batches any more; the mean time from one to the next that workers had ready, 0
// not known.
double stk_fix_drop_pace(struct stk_scene *s);
// Of workers beside the model a share of the work is gone, 0 to 1: what they held up may be faster,
// as far as it is known (stk_graph.undisturbed), two fifths of that are expected (by
// the measured pairs of lab/pairs), and none is sure.
void stk_fix_undisturb(struct stk_scene *s, enum stk_level_of_fix level, double gone);
// A launch call that is no more, and what the host did before it since the call before.
void stk_fix_drop_call(struct stk_scene *s, uint32_t call);
// A share of a node's time, rounded.
static inline int64_t stk_fix_scaled(int64_t ns, double factor)
{
    return (int64_t)((double)ns * factor);
}

#endif
