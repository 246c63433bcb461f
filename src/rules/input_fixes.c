// SPDX-License-Identifier: Apache-2.0
// Advice for a step that waits for its input, by evidence: which loader it is, whether it has
// workers, which stage limits (model's slow_stage), and whether Python makes the elements. A
// pipeline that is parallel already is not told to be, nor one that has a buffer to get one.
// stoker.data says itself what limits it (pipeline_limit.c).
#include <string.h>

#include "base/human.h"
#include "rules/input_fixes.h"
#include "rules/input_makers.h"

enum {
    FIX_AT_ONCE,
    FIX_TORCH_ITERATOR,
    FIX_TORCH_OWN_SAMPLES,
    FIX_TORCH_AT_ONCE,
    FIX_WHOLE_BATCH,
    FIX_SHORT_BATCH,
    FIX_NO_WORKERS,
    FIX_HELD_OPEN,
    FIX_TRACE_WORKERS,
    FIX_ITEM,
    FIX_COLLATE,
    FIX_HAND_OVER,
    FIX_LOADER,
    FIX_ITERABLE,
    FIX_PIN,
    FIX_TORCH_EVEN,
    FIX_TF_PYTHON,
    FIX_TF_ITERATOR,
    FIX_KERAS_WORKERS,
    FIX_TF_SMALL,
    FIX_TF_GROUP,
    FIX_TF_MAP,
    FIX_TF_PARALLEL,
    FIX_TF_AUGMENT,
    FIX_TF_CACHED,
    FIX_TF_FILTER,
    FIX_TF_DEVICE,
    FIX_TF_READ,
    FIX_TF_BATCH,
    FIX_TF_PREFETCH,
    FIX_TFDATA,
    FIX_TF_EVEN,
    FIX_GRAIN,
    FIX_GRAIN_LOADER,
    FIX_GRAIN_WORKERS,
    FIX_JAX_JIT,
    FIX_JAX_THREAD,
    FIX_JAX_PROCESSES,
    FIX_OWN_CODE,
    FIX_OWN_LOOP,
    FIX_HANDING,
    FIX_JAX_LISTS,
    FIX_OWN_SAMPLER,
    FIX_OWN_THREAD,
    FIX_EVEN,
    FIX_PROOF
};

// A loader with as many workers as the job may use cores, and what comes behind.
#define TORCH_LOADER(more)                                                                         \
    "workers = min(8, len(os.sched_getaffinity(0)))  # cores the job may use\n"                    \
    "loader = DataLoader(dataset, batch_size=batch_size, num_workers=workers,\n"                   \
    "                    persistent_workers=True" more ")"
// A loader that gives its Dataset the numbers of a whole batch.
#define TORCH_WHOLE                                                                                \
    "batches = BatchSampler(RandomSampler(dataset), batch_size, drop_last=True)\n"                 \
    "loader = DataLoader(dataset, sampler=batches, batch_size=None)\n"                             \
    "def __getitem__(self, rows):  # of the Dataset: all numbers of a batch\n"                     \
    "    return self.x[rows], self.y[rows]"
const struct stk_rep_fix stk_input_fixes[] = {
    [FIX_AT_ONCE] =
        {"any",
         "Waiting for an answer keeps no processor busy: ask for several batches at once, on as "
         "many threads as are said above. read(n) makes batch n; where a connection carries one "
         "request at a time, each thread needs its own.",
         "def at_once(read, numbers, threads=8):\n"
         "    with concurrent.futures.ThreadPoolExecutor(threads) as pool:\n"
         "        ahead = collections.deque()\n"
         "        for n in numbers:\n"
         "            ahead.append(pool.submit(read, n))\n"
         "            if len(ahead) > threads: yield ahead.popleft().result()\n"
         "        while ahead: yield ahead.popleft().result()\n"
         "for batch in at_once(read, range(steps)): train_step(batch)"},
    [FIX_TORCH_AT_ONCE] =
        {"pytorch",
         "Waiting for an answer keeps no processor busy: let the Dataset ask for all items of a "
         "batch at once, on threads, and take more workers than there are cores.",
         "def __getitems__(self, numbers):  # of the Dataset, beside __getitem__\n"
         "    with concurrent.futures.ThreadPoolExecutor(16) as pool:\n"
         "        return list(pool.map(self.__getitem__, numbers))"},
    [FIX_TORCH_ITERATOR] =
        {"pytorch",
         "The loader's iterator is made anew for each step, which starts its workers again and "
         "throws away what they made ahead: make it once, before the loop, and anew where an "
         "epoch ends.",
         "batches = iter(loader)         # once, before the loop\n"
         "batch = next(batches, None)    # in each step\n"
         "if batch is None:\n"
         "    batches = iter(loader)     # the next epoch\n"
         "    batch = next(batches)"},
    [FIX_TORCH_OWN_SAMPLES] =
        {"pytorch",
         "The functions named above work on one sample after the other, by hundreds of short calls "
         "of PyTorch's: let them take the whole batch, with one call for all samples, and draw "
         "what is random for all of them at once.",
         "flips = torch.rand(len(images), 1, 1, 1) < 0.5  # one number a sample\n"
         "images = torch.where(flips, images.flip(-1), images)"},
    [FIX_WHOLE_BATCH] =
        {"pytorch",
         "A batch is made by many short calls, sample by sample, which cost a worker as much, and "
         "default_collate more of them: give the Dataset the numbers of a whole batch, and index "
         "and compute once for all of its samples. That needs no further processor.",
         TORCH_WHOLE},
    [FIX_SHORT_BATCH] =
        {"pytorch",
         "A batch is made in about the time that a worker takes to hand it over: where the data "
         "fit into memory, give the Dataset the numbers of a whole batch, and index once for all "
         "of its samples.",
         TORCH_WHOLE},
    [FIX_NO_WORKERS] =
        {"pytorch",
         "The training process prepares each batch itself (num_workers=0): let worker processes "
         "do it ahead of time, at most as many as the cores that the job may use, and the step "
         "leaves free. An IterableDataset must split its data among them, or each worker gives "
         "all of it.",
         TORCH_LOADER("")},
    [FIX_HELD_OPEN] =
        {"pytorch",
         "The Dataset reads from an archive or a database that it holds open: workers that share "
         "it read at each other's places, and fail. Let each open it for itself, at its first use.",
         "@functools.cached_property\n"
         "def archive(self):  # of the Dataset, in the place of opening it in __init__\n"
         "    return zipfile.ZipFile(self.path)"},
    [FIX_TRACE_WORKERS] =
        {"pytorch",
         "The workers do not keep up. Keep them between epochs, and let each record what it does "
         "per item for stoker to read; then make an item cheaper (decode at the size needed, fewer "
         "and larger files), or raise num_workers, up to the cores that the job may use, and "
         "beyond them where an item waits for a disk or a network.",
         "import stoker\n"
         "loader = DataLoader(dataset, batch_size=batch_size, num_workers=workers,\n"
         "                    persistent_workers=True, worker_init_fn=stoker.trace_worker)\n"
         "# then: stoker why trace.json.gz stoker_workers/"},
    [FIX_ITEM] =
        {"pytorch",
         "Make an item cheaper: decode at the size needed, read fewer and larger files, compute "
         "once what each epoch repeats; or use more workers, where the job may use more cores, or "
         "an item waits for a disk or a network.",
         TORCH_LOADER("")},
    [FIX_COLLATE] =
        {"pytorch",
         "Putting a batch together takes the workers' time: give arrays of one size, uint8 rather "
         "than float, and stack once.",
         "def collate(items):\n"
         "    x, y = zip(*items)\n"
         "    return torch.stack(x), torch.stack(y)\n"
         "loader = DataLoader(dataset, batch_size=batch_size, collate_fn=collate)"},
    [FIX_HAND_OVER] =
        {"pytorch",
         "The workers wait more than they work: handing batches over is slow. Send fewer and "
         "smaller tensors (uint8, cast on the device), and keep the workers between epochs.",
         TORCH_LOADER(", prefetch_factor=4")},
    [FIX_LOADER] =
        {"pytorch",
         "Prepare batches in worker processes, ahead of time, at most as many as the cores that "
         "the job may use, and the step leaves free. An IterableDataset must split its data among "
         "them, or each worker gives all of it.",
         TORCH_LOADER("")},
    [FIX_ITERABLE] = {"pytorch", "In an IterableDataset, let each worker read its own part.",
                      "def __iter__(self):\n"
                      "    info = torch.utils.data.get_worker_info()\n"
                      "    first, step = (info.id, info.num_workers) if info else (0, 1)\n"
                      "    for path in self.paths[first::step]:\n"
                      "        yield from read(path)"},
    [FIX_PIN] = {"pytorch", "Batches in pinned memory can be copied while the device computes.",
                 "loader = DataLoader(dataset, batch_size=batch_size, num_workers=workers, "
                 "pin_memory=True)\n"
                 "batch = batch.to(device, non_blocking=True)"},
    [FIX_TORCH_EVEN] = {"pytorch",
                        "Hold more batches ready, let none wait for a slow one (in_order, from "
                        "PyTorch 2.6 on), and keep the workers between epochs.",
                        TORCH_LOADER(", prefetch_factor=8, in_order=False")},
    [FIX_TF_PYTHON] =
        {"tensorflow",
         "Python makes the elements (from_generator, py_function, numpy_function), one at a time "
         "under its lock, and more parallel calls help only where it waits for a disk or a "
         "network: do the work with TensorFlow's operations in map, or write the elements to files "
         "once and read those.",
         "ds.save('elements')                    # once: ds as it is\n"
         "ds = tf.data.Dataset.load('elements')  # in training\n"
         "ds = ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)"},
    [FIX_TF_ITERATOR] =
        {"tensorflow",
         "The iterator is made anew for each step, which starts its threads and fills its buffers "
         "(a shuffle buffer too) again: make it once, before the loop.",
         "batches = iter(ds.repeat().prefetch(tf.data.AUTOTUNE))  # once\n"
         "batch = next(batches)                                   # in each step"},
    [FIX_KERAS_WORKERS] =
        {"tensorflow",
         "Where a keras.utils.PyDataset makes them, it has one worker unless it is told otherwise.",
         "def __init__(self):  # of the PyDataset\n"
         "    super().__init__(workers=4, max_queue_size=16)"},
    [FIX_TF_SMALL] =
        {"tensorflow",
         "Elements are small, and most of their time goes into calls, of the map and of what is "
         "around it: make batches first, and let the map work on whole batches. Most of "
         "TensorFlow's operations, decode_csv and parse_example too, take them as they are.",
         "ds = ds.batch(batch_size).map(parse, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [FIX_TF_GROUP] =
        {"tensorflow",
         "group_by_window and bucket_by_sequence_length call a function for each element, on one "
         "thread: where lengths are alike, put together what comes in a row, and pad it.",
         "ds = ds.padded_batch(batch_size).prefetch(tf.data.AUTOTUNE)"},
    [FIX_TF_MAP] = {"tensorflow", "Run the map in parallel, and make batches ahead of the step.",
                    "ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)\n"
                    "ds = ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)"},
    [FIX_TF_PARALLEL] =
        {"tensorflow",
         "The map runs in parallel already (num_parallel_calls; TensorFlow sees to that itself, "
         "where it may), so make an element cheaper: decode at the size needed, keep what is the "
         "same in each epoch (cache() before repeat(): behind it, it never ends), "
         "and work on whole batches.",
         "ds = ds.cache().repeat()  # behind the map, where it gives the same in each epoch\n"
         "ds = ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)"},
    [FIX_TF_AUGMENT] =
        {"tensorflow",
         "What differs from epoch to epoch, as what is drawn at random, works on whole batches, "
         "behind the cache.",
         "ds = ds.batch(batch_size).map(augment, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [FIX_TF_CACHED] =
        {"tensorflow",
         "cache() keeps what this stage makes, so that it works in the first pass alone: profile a "
         "later one. Elements that are kept in files are there in the next run, too.",
         "ds = ds.cache('elements')  # a name of files instead of memory"},
    [FIX_TF_FILTER] = {"tensorflow",
                       "A filter behind the map throws away what the map has made: filter first, "
                       "by what is known without it.",
                       "ds = ds.filter(wanted).map(parse, num_parallel_calls=tf.data.AUTOTUNE)"},
    [FIX_TF_DEVICE] =
        {"tensorflow",
         "A map of tf.data runs on the host's processors always, within tf.device('/GPU:0') too. "
         "What the GPU can do (casts, crops, noise) belongs into the step, on a whole batch.",
         "step_before = train_step\n"
         "@tf.function\n"
         "def train_step(batch):\n"
         "    return step_before(augment(batch))  # on the device, and no longer in the map"},
    [FIX_TF_READ] =
        {"tensorflow", "Read several files at once.",
         "ds = (tf.data.Dataset.list_files(pattern)\n"
         "      .interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "      .map(parse, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "      .batch(batch_size).prefetch(tf.data.AUTOTUNE))"},
    [FIX_TF_BATCH] =
        {"tensorflow",
         "Make batches in parallel and ahead of the step; smaller elements (uint8, cast on the "
         "device) are copied faster.",
         "ds = ds.batch(batch_size, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [FIX_TF_PREFETCH] =
        {"tensorflow",
         "The pipeline does not end with a buffer: with prefetch, batches are made while the step "
         "runs.",
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [FIX_TFDATA] = {"tensorflow",
                    "Run the stages of the input pipeline in parallel, and end it with prefetch.",
                    "ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)\n"
                    "ds = ds.batch(batch_size, num_parallel_calls=tf.data.AUTOTUNE)\n"
                    "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [FIX_TF_EVEN] = {"tensorflow", "Fill a smaller shuffle buffer, and hold more batches ready.",
                     "ds = ds.shuffle(1000).batch(batch_size).prefetch(16)"},
    [FIX_GRAIN] =
        {"jax",
         "With Grain, prepare batches in worker processes, at most as many as the cores that the "
         "job may use; threads help where reading waits for a disk or a network.",
         "absl.flags.FLAGS.mark_as_parsed()  # unless absl.app.run runs the program\n"
         "workers = min(8, len(os.sched_getaffinity(0)))\n"
         "ds = ds.to_iter_dataset(grain.ReadOptions(num_threads=16, prefetch_buffer_size=64))\n"
         "ds = ds.batch(batch_size)\n"
         "ds = ds.mp_prefetch(grain.MultiprocessingOptions(num_workers=workers))"},
    [FIX_GRAIN_LOADER] =
        {"jax",
         "With grain.DataLoader, prepare batches in worker processes, at most as many as the cores "
         "that the job may use; threads help where reading waits for a disk or a network.",
         "absl.flags.FLAGS.mark_as_parsed()  # unless absl.app.run runs the program\n"
         "workers = min(8, len(os.sched_getaffinity(0)))\n"
         "loader = grain.DataLoader(\n"
         "    data_source=source, sampler=sampler, operations=operations, worker_count=workers,\n"
         "    read_options=grain.ReadOptions(num_threads=16, prefetch_buffer_size=64))"},
    [FIX_GRAIN_WORKERS] =
        {"jax",
         "Grain's worker processes make the batches, and do not keep up: make an element cheaper, "
         "or raise their number, as far as cores are free; where they wait for a disk or a "
         "network, let each read with several threads.",
         NULL},
    [FIX_JAX_JIT] =
        {"jax",
         "Operations of JAX run one by one, each called from Python: put the function that "
         "prepares "
         "a batch with them under jit, and what it does for each sample under vmap. What is drawn "
         "at random comes from jax.random, and a number that changes is an array.",
         "prepare = jax.jit(prepare)  # once, before the loop"},
    [FIX_JAX_THREAD] =
        {"jax",
         "Prepare and send the next batch while the device works: a thread with a small queue, "
         "since a generator alone runs only when it is asked. It hides waiting for a disk or a "
         "network, and little of what Python computes: the thread and the loop share its lock.",
         "def ahead(batches, size=2):\n"
         "    q = queue.Queue(size)\n"
         "    def fill():\n"
         "        for b in batches: q.put(jax.device_put(b))\n"
         "        q.put(None)\n"
         "    threading.Thread(target=fill, daemon=True).start()\n"
         "    while (b := q.get()) is not None: yield b\n"
         "for batch in ahead(batches): state = train_step(state, batch)"},
    [FIX_JAX_PROCESSES] =
        {"jax",
         "Where preparing a batch keeps a processor busy, let processes do it; read(n) makes batch "
         "n, in a module of its own or beside a guarded main. Processes are spawned, as JAX's "
         "threads do not outlive a fork.",
         "pool = multiprocessing.get_context('spawn').Pool(min(8, len(os.sched_getaffinity(0))))\n"
         "for batch in pool.imap(read, range(steps)): state = train_step(state, batch)"},
    [FIX_OWN_CODE] =
        {"any",
         "Take the functions named above out of the training loop: run them in the loader's "
         "workers, on a thread ahead of the step where they wait for a disk or a network, or once, "
         "beforehand.",
         NULL},
    [FIX_OWN_LOOP] =
        {"any",
         "Put what the loop does before it calls the model into a function, or a Dataset's "
         "__getitem__, of its own: then a loader's workers, or a thread where it waits for a disk "
         "or a network, can run it ahead of the step, or it is done once, beforehand.",
         NULL},
    [FIX_HANDING] =
        {"any",
         "Keep samples as arrays or tensors that are made once, and index those: lists are read "
         "number by number each time. A list of arrays is put together by numpy.stack first.",
         "rows = numpy.asarray(rows, numpy.float32)  # once, before the loop"},
    [FIX_JAX_LISTS] =
        {"jax",
         "Lists of Python's are handed to JAX, which looks at them number by number, and takes "
         "much longer for each than NumPy: make arrays of NumPy's of them, once or for the batch.",
         "x = jnp.asarray(numpy.array(rows, numpy.float32))  # in the place of jnp.array(rows)"},
    [FIX_OWN_SAMPLER] =
        {"any",
         "The functions named above run in the training process, however many workers the loader "
         "has, as a sampler does: make them cheaper, or compute the order of an epoch at once, "
         "beforehand.",
         NULL},
    [FIX_OWN_THREAD] =
        {"any",
         "Threads or processes of the job's own make the batches already, and do not keep up. Make "
         "a batch cheaper: whole batches rather than samples, once what each epoch repeats, fewer "
         "and larger files. More of them help as far as cores are free, and beyond where they wait "
         "for a disk or a network; asking further ahead helps where the mean rate suffices.",
         NULL},
    [FIX_EVEN] = {"any",
                  "Look at what the long fetch did: a shuffle buffer that fills, a new epoch or "
                  "file, a slow disk. A deeper prefetch hides it if the mean rate suffices.",
                  NULL},
    [FIX_PROOF] = {"any",
                   "To see what the input costs in all, train on one constant batch and compare "
                   "the step time.",
                   NULL},
    {0},
};

static void fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, int which)
{
    stk_finding_fix(ctx, f, &stk_input_fixes[which]);
}

// The stage itself, of "Iterator::Root::Prefetch::ParallelMapV2".
static const char *last_of(const char *stage)
{
    const char *last = strrchr(stage, ':');
    return last ? last + 1 : stage;
}

// tf.data's stages that put batches together; MapAndBatch is what it makes of map and batch.
static bool makes_batches(const char *stage)
{
    return strstr(last_of(stage), "Batch") && !strstr(last_of(stage), "Unbatch");
}

static double share_of(int64_t ns, int64_t all_ns)
{
    return all_ns > 0 ? (double)ns / (double)all_ns : 0;
}

static void say_workers(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_worker_sum *w = &ctx->pass.run->workers;
    char each[STK_HUMAN_MAX], busy[STK_HUMAN_MAX], part[STK_HUMAN_MAX], count[STK_HUMAN_MAX];
    stk_finding_say(ctx, f, "%s record%s of workers: at work %s of their time, the rest waiting",
                    stk_human_count(w->workers, count), w->workers == 1 ? "" : "s",
                    stk_human_share(share_of(w->batch_ns, w->wall_ns), busy));
    stk_finding_raise(f, 1);
    if (w->items > 0) {
        stk_finding_say(ctx, f, "a worker's item takes %s%s%s, %s of its work",
                        stk_human_ns(w->item_ns / (int64_t)w->items, each), w->item ? " in " : "",
                        w->item ? stk_rule_owner(ctx, w->item) : "",
                        stk_human_share(share_of(w->item_ns, w->batch_ns), part));
        stk_finding_raise(f, 2);
    }
    if (w->collate_ns > 0 && w->batches > 0) {
        stk_finding_say(ctx, f, "putting a batch together takes %s, %s of it",
                        stk_human_ns(w->collate_ns / (int64_t)w->batches, each),
                        stk_human_share(share_of(w->collate_ns, w->batch_ns), part));
    }
}

static int worker_fix(const struct stk_rule_ctx *ctx)
{
    const struct stk_worker_sum *w = &ctx->pass.run->workers;
    if (w->workers == 0) {
        return FIX_TRACE_WORKERS;
    }
    if (share_of(w->batch_ns, w->wall_ns) < stk_input_thresholds[STK_INPUT_FROM_BUSY].value) {
        return FIX_HAND_OVER;
    }
    bool collates =
        share_of(w->collate_ns, w->batch_ns) >= stk_input_thresholds[STK_INPUT_FROM_COLLATE].value;
    return collates ? FIX_COLLATE : FIX_ITEM;
}

bool stk_input_is_handing(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    return facts->own_batches > 0 && share_of(facts->own_handing_ns, facts->loader_fetch_ns) >=
                                         stk_input_thresholds[STK_INPUT_FROM_HANDING].value;
}

// The calls of a batch, where they are many, and why workers would not pay.
static void say_calls(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    char calls[STK_HUMAN_MAX], share[STK_HUMAN_MAX], tensors[STK_HUMAN_MAX], each[STK_HUMAN_MAX];
    if (stk_input_many_calls(ctx)) {
        stk_finding_say(
            ctx, f, "a batch takes %s operators of PyTorch's, and short calls %s of its time",
            stk_human_count(facts->fetch_ops / facts->loader_fetches, calls),
            stk_human_share(share_of(facts->fetch_fine_ns, facts->loader_fetch_ns), share));
        stk_finding_raise(f, 1);
    }
    if (!stk_input_workers_pay(ctx)) {
        uint64_t n = facts->fetch_stacks / facts->loader_fetches;
        stk_finding_say(
            ctx, f,
            "a worker would hand over each tensor of a batch by itself, some %s each%s%s%s: that "
            "takes as long as making it",
            stk_human_ns((int64_t)stk_input_thresholds[STK_INPUT_FROM_TENSOR].value * 1000, each),
            n > 1 ? ", and a batch has " : "", n > 1 ? stk_human_count(n, tensors) : "",
            n > 1 ? " of them" : "");
        stk_finding_raise(f, 2);
    }
}

// The loader is quick; what the job does with a batch before the step is not.
static void choose_own_torch(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    double steps = ctx->pass.run->step_marks > 0 ? ctx->pass.run->step_marks : 1;
    char count[STK_HUMAN_MAX];
    if ((double)facts->prep_ops >= stk_input_thresholds[STK_INPUT_FROM_OPS].value * steps) {
        stk_finding_say(ctx, f, "%s operators of PyTorch's a step before the model's own",
                        stk_human_count((uint64_t)((double)facts->prep_ops / steps), count));
        stk_finding_raise(f, 1);
        fix(ctx, f, FIX_TORCH_OWN_SAMPLES);
    }
    fix(ctx, f, FIX_OWN_CODE);
}

static void choose_torch(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    bool has_workers = stk_input_has_workers(ctx), is_alone = stk_input_is_alone(ctx);
    bool many = stk_input_many_calls(ctx);
    char count[STK_HUMAN_MAX];
    if (stk_input_makes_loader_iterators(ctx)) {
        uint64_t made = facts->signs[STK_SIGN_LOADER_ITERATOR].count;
        stk_finding_say(ctx, f, "the loader made %s iterators, one for a step",
                        stk_human_count(made, count));
        stk_finding_raise(f, 1);
        fix(ctx, f, FIX_TORCH_ITERATOR);
        return;
    }
    if (stk_input_is_beside_loader(ctx)) {
        choose_own_torch(ctx, f);
        return;
    }
    if (is_alone) {
        stk_finding_say(ctx, f,
                        "_SingleProcessDataLoaderIter: the loader has no workers (num_workers=0)");
    } else if (has_workers && facts->own_batches > 0) {
        stk_finding_say(ctx, f,
                        "_MultiProcessingDataLoaderIter: workers exist, and keep up; the loop goes "
                        "on with what they give");
    } else if (has_workers && ctx->pass.run->workers.workers == 0) {
        stk_finding_say(ctx, f,
                        "_MultiProcessingDataLoaderIter: workers exist, but do not keep up");
    } else if (has_workers) {
        say_workers(ctx, f);
    }
    bool whole = is_alone && (many || !stk_input_workers_pay(ctx));
    if (whole) {
        say_calls(ctx, f);
    }
    if (has_workers && facts->own_batches > 0) {
        fix(ctx, f, FIX_OWN_LOOP);
    } else if (has_workers) {
        if (stk_input_owns_fetch(ctx)) {
            fix(ctx, f, FIX_OWN_SAMPLER);
        }
        fix(ctx, f, even ? worker_fix(ctx) : FIX_TORCH_EVEN);
    } else {
        if (is_alone && stk_input_waits_for_answer(ctx)) {
            fix(ctx, f, FIX_TORCH_AT_ONCE);
        }
        if (whole) {
            fix(ctx, f, many ? FIX_WHOLE_BATCH : FIX_SHORT_BATCH);
        }
        if (!is_alone || stk_input_workers_pay(ctx)) {
            fix(ctx, f, is_alone ? FIX_NO_WORKERS : even ? FIX_LOADER : FIX_TORCH_EVEN);
            if (facts->signs[STK_SIGN_HELD_OPEN].count > 0) {
                fix(ctx, f, FIX_HELD_OPEN);
            }
        }
        if (is_alone && !whole) {
            fix(ctx, f, FIX_ITERABLE);
        }
    }
    if (facts->runtime_calls > 0 || facts->has_device_rows) {
        fix(ctx, f, FIX_PIN);
    }
}

// A source in memory: no files are read.
static bool is_in_memory(const char *stage)
{
    const char *last = last_of(stage);
    return strncmp(last, "Tensor", 6) == 0 || strncmp(last, "Range", 5) == 0;
}

// Functions that tf.data called for a batch of the step's; 0: few, or each of them takes long.
static uint64_t small_elements(const struct stk_rule_ctx *ctx, int64_t *each_ns)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_facts *facts = &run->facts;
    uint64_t calls = facts->signs[STK_SIGN_CAPTURED].count, batches = facts->loader_fetches;
    int64_t threads = run->slow_stage.parallelism > 1 ? run->slow_stage.parallelism : 1;
    if (batches == 0 ||
        (double)calls < stk_input_thresholds[STK_INPUT_FROM_MANY].value * (double)batches) {
        return 0;
    }
    *each_ns = facts->loader_fetch_ns / (int64_t)calls * threads;
    return (double)*each_ns < stk_input_thresholds[STK_INPUT_FROM_SMALL].value * 1e3
               ? calls / batches
               : 0;
}

// Rows of Python's functions are told with the user's own (stk_finding_cause).
void stk_input_fixes_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_slow_stage *s = &ctx->pass.run->slow_stage;
    char each[STK_HUMAN_MAX], share[STK_HUMAN_MAX], count[STK_HUMAN_MAX];
    if (!s->stage || s->is_fetch || !s->is_pipeline) {
        return;
    }
    const char *per =
        s->elements > 0
            ? stk_rule_text(ctx, ", %s %s", stk_human_ns(s->self_ns / s->elements, each),
                            makes_batches(s->stage) ? "a batch" : "an element")
            : "";
    stk_finding_say(ctx, f, "the stage %s limits: %s of the pipeline's work%s, on %s thread%s",
                    stk_rule_name(ctx, s->stage), stk_human_share(s->share, share), per,
                    stk_human_count((uint64_t)(s->parallelism > 0 ? s->parallelism : 1), count),
                    s->parallelism > 1 ? "s" : "");
    stk_finding_raise(f, 1);
    int64_t each_ns;
    uint64_t small = stk_input_makes_iterators(ctx) || stk_input_python_limits(ctx)
                         ? 0
                         : small_elements(ctx, &each_ns);
    if (small) {
        stk_finding_say(ctx, f, "tf.data calls functions %s times a batch, about %s each in all",
                        stk_human_count(small, count), stk_human_ns(each_ns, each));
        stk_finding_raise(f, 2);
    }
    if (s->next) {
        stk_finding_say(ctx, f,
                        s->next_is_beside
                            ? "%s works beside it, and more in all: where processors are few, it "
                              "limits as well"
                            : "%s takes turns with it, and works about as much",
                        stk_rule_name(ctx, s->next));
        stk_finding_raise(f, 2);
    }
}

static int tf_fix(const struct stk_rule_ctx *ctx)
{
    const struct stk_slow_stage *s = &ctx->pass.run->slow_stage;
    if (stk_input_python_limits(ctx)) {
        return FIX_TF_PYTHON;
    }
    if (!s->stage || !s->is_pipeline) {
        return FIX_TFDATA;
    }
    if (strcmp(s->kind, "read") == 0 && !is_in_memory(s->stage)) {
        return FIX_TF_READ;
    }
    if (strcmp(s->kind, "batch") == 0) {
        return strncmp(last_of(s->stage), "GroupByWindow", 13) == 0 ? FIX_TF_GROUP : FIX_TF_BATCH;
    }
    if (strcmp(s->kind, "cache") != 0 && strstr(s->stage, "Cache")) { // one around it
        return FIX_TF_CACHED;
    }
    if (strcmp(s->kind, "preprocess") == 0 || strcmp(s->kind, "decode") == 0) {
        int64_t each_ns;
        bool parallel = s->parallelism > 1 || strstr(last_of(s->stage), "Parallel");
        return small_elements(ctx, &each_ns) ? FIX_TF_SMALL
               : parallel                    ? FIX_TF_PARALLEL
                                             : FIX_TF_MAP;
    }
    return FIX_TFDATA;
}

bool stk_input_tf_adds_makers(const struct stk_rule_ctx *ctx)
{
    int which = tf_fix(ctx);
    return which == FIX_TF_MAP || which == FIX_TF_BATCH || which == FIX_TF_READ;
}

static void choose_tf(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even)
{
    const struct stk_slow_stage *s = &ctx->pass.run->slow_stage;
    if (stk_input_makes_iterators(ctx)) {
        fix(ctx, f, FIX_TF_ITERATOR);
        return;
    }
    if (!even) {
        fix(ctx, f, FIX_TF_EVEN);
    }
    if (s->stage && strstr(s->stage, "::Filter::")) {
        fix(ctx, f, FIX_TF_FILTER);
    }
    int which = tf_fix(ctx);
    bool map_beside = s->next && s->next_is_beside && strcmp(s->next_kind, "preprocess") == 0;
    if (map_beside || which == FIX_TF_PARALLEL) {
        fix(ctx, f, FIX_TF_PARALLEL);
        fix(ctx, f, FIX_TF_AUGMENT);
    }
    if (which != FIX_TF_PARALLEL) {
        fix(ctx, f, which);
    }
    if (s->next && strcmp(s->next_kind, "read") == 0 && strcmp(s->kind, "read") != 0 &&
        !is_in_memory(s->next)) {
        fix(ctx, f, FIX_TF_READ);
    }
    if (stk_input_python_limits(ctx) && ctx->pass.run->facts.signs[STK_SIGN_KERAS].count > 0) {
        fix(ctx, f, FIX_KERAS_WORKERS);
    }
    if (s->stage && s->is_pipeline && !s->is_buffered) {
        fix(ctx, f, FIX_TF_PREFETCH);
    }
    if (s->stage && s->is_pipeline && strcmp(s->kind, "preprocess") == 0 &&
        ctx->pass.run->facts.has_device_rows && !stk_input_python_limits(ctx)) {
        fix(ctx, f, FIX_TF_DEVICE);
    }
}

// grain.DataLoader has an interface of its own; without Python's frames nothing tells which it is.
static void choose_grain(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    if (facts->signs[STK_SIGN_GRAIN_MERGE].count > 0 &&
        facts->signs[STK_SIGN_GRAIN_READ].count == 0) {
        fix(ctx, f, FIX_GRAIN_WORKERS);
        return;
    }
    bool is_loader = facts->signs[STK_SIGN_GRAIN_LOADER].count > 0 ||
                     stk_rule_cause_names(ctx, STK_PART_INPUT, "grain.DataLoaderIterator");
    if (is_loader) {
        fix(ctx, f, FIX_GRAIN_LOADER);
    }
    fix(ctx, f, FIX_GRAIN);
    if (!is_loader && !facts->has_python) {
        fix(ctx, f, FIX_GRAIN_LOADER);
    }
}

// What prepares batches calls operations of JAX's.
static bool calls_jax(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double steps = run->step_marks > 0 ? run->step_marks : 1;
    return (double)run->facts.signs[STK_SIGN_JAX_CALL].count >=
           stk_input_thresholds[STK_INPUT_FROM_JAX_CALLS].value * steps;
}

// Most of what makes a batch is JAX's looking at lists, element by element.
static bool hands_lists(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    return run->facts.list_handing_ns > 0 &&
           share_of(run->facts.list_handing_ns, run->causes[STK_PART_INPUT].ns) >=
               stk_input_thresholds[STK_INPUT_FROM_HANDING].value;
}

void stk_input_fixes_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even)
{
    static const char *const loaders[] = {"DataLoader", "DataPipe", "Iterator", "get_next", NULL};
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_cause *cause = &run->causes[STK_PART_INPUT];
    bool has_grain = run->facts.signs[STK_SIGN_GRAIN].count > 0;
    if ((cause->name_count > 0 || cause->owner_count > 0) && !has_grain &&
        !stk_rule_cause_names_any(ctx, STK_PART_INPUT, loaders)) {
        if (stk_input_waits_for_answer(ctx)) {
            fix(ctx, f, FIX_AT_ONCE);
        }
        if (calls_jax(ctx) && !stk_input_is_handed_over(ctx)) {
            fix(ctx, f, FIX_JAX_JIT);
        }
        if (stk_input_is_handing(ctx)) {
            fix(ctx, f, FIX_HANDING);
        }
        if (hands_lists(ctx)) {
            fix(ctx, f, FIX_JAX_LISTS);
        }
        fix(ctx, f,
            stk_input_is_handed_over(ctx) ? FIX_OWN_THREAD
            : run->facts.own_batches > 0  ? FIX_OWN_LOOP
                                          : FIX_OWN_CODE);
    }
    if (!even) {
        fix(ctx, f, FIX_EVEN);
    }
    choose_torch(ctx, f, even);
    choose_tf(ctx, f, even);
    if (has_grain) {
        choose_grain(ctx, f);
    } else if (!stk_input_is_handed_over(ctx)) {
        fix(ctx, f, FIX_JAX_THREAD);
        fix(ctx, f, FIX_JAX_PROCESSES);
    }
    fix(ctx, f, FIX_PROOF);
}
