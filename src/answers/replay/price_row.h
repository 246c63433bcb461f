// SPDX-License-Identifier: Apache-2.0
// A price is a what-if: it estimates what a change would gain, by changing a scene: it shortens
// nodes, or removes edges.
//
// To add one: a file price_<name>.c that ends in its descriptor `const struct stk_price_row
// stk_price_<name>`, and one line X(<name>) in prices.def. --list and the docs page come from that
// row. A fix names its price by this id (src/fixes/text).
//
// Each is applied at three levels: optimistic, expected, pessimistic. A level must never be faster
// than the one before it; the pricing enforces that.
#pragma once

#include "answers/replay/replay.h"

enum stk_price_level { STK_PRICE_LOW, STK_PRICE_EXPECTED, STK_PRICE_HIGH, STK_PRICE_LEVELS };

struct stk_price_how {
    enum stk_price_level level;
    double value;     // for ids that take a number
    const char *text; // as given, for ids that take a word
};

struct stk_price_row {
    const char *id;      // "input-free"; ends in '=' if it takes a value
    const char *value;   // its default, NULL: it takes no value
    const char *choices; // "fp16|bf16" if the value is a word; NULL: a number above 0
    // Whether it is valid, if the values aren't a plain list; may be NULL.
    bool (*takes)(const char *value);
    const char *what;     // what is changed
    const char *assumes;  // the conditions
    bool is_priced_alone; // also listed without --fix
    // Assumes only a rate or a size of the device's work: no change has to be made that could gain
    // less, and its own ends cover what such work may take.
    bool is_supposed;
    bool may_slow;      // a step may become longer
    bool changes_model; // also changes the model's own work
    bool is_more_work;  // a step does `value` times the work, so the saving is per sample
    bool needs_peers;   // needs collectives that are matched with other ranks'
    // Why there is nothing to change in this graph; NULL: there is. May be NULL with needs_peers.
    const char *(*refuse)(const struct stk_graph *g);
    // The same for the requested value; may be NULL.
    const char *(*refuse_value)(const struct stk_graph *g, const struct stk_price_how *how);
    // False: no memory.
    bool (*apply)(struct stk_scene *s, const struct stk_price_how *how);
    // The step without the fix in another run, if the part that the fix removes differs from run to
    // run: slowest for the optimistic end, fastest for the other; may be NULL.
    void (*vary)(struct stk_scene *s, enum stk_price_level level);
};

#define X(name) extern const struct stk_price_row stk_price_##name;
#include "answers/replay/prices.def"
#undef X
extern const struct stk_price_row *const stk_price_rows[];
extern const int stk_price_row_count;

// Levels of a cheaper input, which are shown with an input wait.
#define STK_PRICE_INPUT_HALF "input-faster=2"
#define STK_PRICE_INPUT_EIGHTH "input-faster=8"

// A requested what-if.
struct stk_price_asked {
    const struct stk_price_row *fix;
    double value;
    const char *text; // "input-faster=2"
};
// Why it can't be applied to this graph as requested; NULL: it can.
const char *stk_price_refuse_in(const struct stk_graph *g, const struct stk_price_asked *set);
bool stk_price_is_supposed(const struct stk_price_asked *set, size_t count); // all of them
// May a step become longer with one of them?
bool stk_price_may_slow(const struct stk_price_asked *set, size_t count);
bool stk_price_changes_model(const struct stk_price_asked *set, size_t count); // one of them
double stk_price_work(const struct stk_price_asked *set, size_t count); // of a step; 1: unchanged
// The row of "id" or "id=value"; NULL: no what-if has that id.
const struct stk_price_row *stk_price_find(const char *text);
// Parses one "id" or "id=value", or the id of advice that has a price; the error names the nearest
// id. `text` must outlive the set.
STK_MUST_CHECK enum stoker_status stk_price_parse(const char *text, struct stk_price_asked *out,
                                                  struct stoker_err *err);

// Why what-ifs of the input have nothing to change; NULL: they have.
const char *stk_price_refuse_input(const struct stk_graph *g);
// For a fix's `refuse`: is there a node of this kind and `what` (-1: any)?
bool stk_price_finds(const struct stk_graph *g, enum stk_node_kind kind, int what);
// Without a device, a wait shows only if the framework records it as one. True: nodes of that kind
// take less than a fiftieth of the steps. What the fix would remove may then be recorded as
// something else, or not at all, so no figure shows its gain.
bool stk_price_may_hide(const struct stk_graph *g, enum stk_node_kind kind, int what);
// Removes all waits for batches. Returns the mean time from one to the next that workers had ready,
// 0 not known.
double stk_price_drop_pace(struct stk_scene *s);
// Removes a share of the workers' work in parallel with the model, 0 to 1. The work that they
// slowed down may get faster, at most by the known amount (stk_graph.undisturbed). Two fifths of
// that are expected (from the measured pairs of lab/pairs); at worst nothing is gained.
void stk_price_undisturb(struct stk_scene *s, enum stk_price_level level, double gone);
// Removes a launch call, and the host's work since the call before it.
void stk_price_drop_call(struct stk_scene *s, uint32_t call);
// A share of a node's time, rounded.
static inline int64_t stk_price_scaled(int64_t ns, double factor)
{
    return (int64_t)((double)ns * factor);
}
