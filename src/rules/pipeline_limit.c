// SPDX-License-Identifier: Apache-2.0
// stoker.data's report of itself names the stage that limited it (data/run/recorder_limit.c), what
// sort of work that is, and the line that wrote it. Here is what to do about each sort, in its own
// API.
#include <string.h>

#include "rules/pipeline_limit.h"
#include "wire/limits.h"

struct limit {
    const char *says; // behind "the stage NAME holds 93 % of the pipeline's work: "
    struct stk_rep_fix fix;
};

static const struct limit limits[STK_WIRE_LIMIT_COUNT] = {
    [STK_WIRE_LIMIT_PYTHON] =
        {"a Python function, one element at a time under the interpreter's lock",
         {"any",
          "Write the map's function with operations of sd, which makes it native code "
          "(ds.explain() says what could not be traced); where that cannot be, run it in "
          "processes.",
          "ds = ds.map(f, num_parallel_calls=sd.AUTOTUNE)   # f of sd's operations alone\n"
          "ds = ds.map(f, processes=os.cpu_count())         # or as Python, in processes\n"
          "ds = ds.batch(batch_size).prefetch(sd.AUTOTUNE)"}},
    [STK_WIRE_LIMIT_GENERATOR] =
        {"a Python generator, one element at a time under the interpreter's lock",
         {"any",
          "Write the data to files once, and read those; or give arrays instead of a generator.",
          "ds.save(folder)                       # once\n"
          "ds = sd.Dataset.load(folder)          # then, also shuffled by position\n"
          "ds = sd.Dataset.from_tensor_slices((x, y))"}},
    [STK_WIRE_LIMIT_UNBUFFERED] =
        {"it could overlap the step, but nothing is made ahead of that (no prefetch)",
         {"any", "End the pipeline with prefetch: batches are then made while the step runs.",
          "ds = ds.prefetch(sd.AUTOTUNE)"}},
    [STK_WIRE_LIMIT_DECODE] =
        {"decoding images on one thread",
         {"any",
          "Decode on all processors, only the part that is used, and crop and resize in the same "
          "step.",
          "ds = ds.map(lambda r: sd.image.jpeg_random_resized_crop(r, [224, 224]),\n"
          "            num_parallel_calls=sd.AUTOTUNE).batch(batch_size).prefetch(sd.AUTOTUNE)"}},
    [STK_WIRE_LIMIT_DECODE_PARALLEL] =
        {"decoding images, which has threads already",
         {"any",
          "Decode less: only the part that is used, files stored at about the size needed, and "
          "once "
          "where decoded images fit in memory or on disk.",
          "ds = ds.map(lambda r: sd.image.jpeg_random_resized_crop(r, [224, 224], fast=True),\n"
          "            num_parallel_calls=sd.AUTOTUNE).batch(batch_size).prefetch(sd.AUTOTUNE)\n"
          "ds = ds.map(decode, num_parallel_calls=sd.AUTOTUNE).cache()   # then what differs by "
          "epoch"}},
    [STK_WIRE_LIMIT_READ] =
        {"reading files",
         {"any",
          "Read several files at once, or keep the elements after the first epoch; uncompressed or "
          "indexed files read faster (stoker data convert).",
          "ds = sd.TFRecordDataset(files, num_parallel_reads=sd.AUTOTUNE)\n"
          "ds = ds.cache()                       # where they fit in memory\n"
          "ds = sd.IndexedDataset(\"all.stkidx\")  # stoker data convert *.tfrecord -o "
          "all.stkidx"}},
    [STK_WIRE_LIMIT_BATCH] =
        {"copying elements into batches",
         {"any",
          "Make batches on threads of their own and ahead of the step; smaller elements (uint8, "
          "cast "
          "on the device) are copied faster.",
          "ds = ds.batch(batch_size, num_parallel_calls=sd.AUTOTUNE).prefetch(sd.AUTOTUNE)"}},
    [STK_WIRE_LIMIT_MAP] = {"a native map on one thread",
                            {"any",
                             "Run the map on all processors, and make batches ahead of the step.",
                             "ds = ds.map(f, num_parallel_calls=sd.AUTOTUNE)\n"
                             "ds = ds.batch(batch_size).prefetch(sd.AUTOTUNE)"}},
    [STK_WIRE_LIMIT_MAP_PARALLEL] = {"a native map that has threads already",
                                     {"any",
                                      "Make an element cheaper (crop before the rest, cast and "
                                      "normalise last or on the device), "
                                      "and keep what is the same in each epoch.",
                                      "ds = ds.map(parse, num_parallel_calls=sd.AUTOTUNE).cache()\n"
                                      "ds = ds.map(augment, num_parallel_calls=sd.AUTOTUNE)\n"
                                      "ds = ds.batch(batch_size).prefetch(sd.AUTOTUNE)"}},
    [STK_WIRE_LIMIT_OTHER] = {"work of its own",
                              {"any", "Make batches ahead of the step.",
                               "ds = ds.batch(batch_size).prefetch(sd.AUTOTUNE)"}},
};

static const struct limit *find(const char *what)
{
    return &limits[stk_wire_limit_find(what, strcspn(what, "|"))];
}

static const char *said_limit(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *f = &ctx->pass.run->facts;
    return f->input_limit ? f->input_limit : f->recorded_limit;
}

bool stk_pipeline_limit_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const char *what = said_limit(ctx);
    const char *where = what ? strchr(what, '|') : NULL,
               *stage = where ? strchr(++where, '|') : NULL;
    const char *share = stage ? strchr(++stage, '|') : NULL;
    if (!share) {
        return false;
    }
    int place = (int)(stage - 1 - where), name = (int)(share - stage);
    stk_finding_say(ctx, f, "the stage %.*s holds %s %% of the pipeline's work: %s%s%.*s", name,
                    stage, share + 1, find(what)->says, place ? ", " : "", place, where);
    return true;
}

void stk_pipeline_limit_fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    if (said_limit(ctx)) {
        stk_finding_fix(ctx, f, &find(said_limit(ctx))->fix);
    }
}
