// SPDX-License-Identifier: Apache-2.0
// What can be advised to a step that waits for its input, as text and to paste; input_fixes.c
// chooses.
#include "rules/input_fix_rows.h"

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
    [STK_INPUT_FIX_AT_ONCE] =
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
    [STK_INPUT_FIX_TORCH_AT_ONCE] =
        {"pytorch",
         "Waiting for an answer keeps no processor busy: let the Dataset ask for all items of a "
         "batch at once, on threads, and take more workers than there are cores.",
         "def __getitems__(self, numbers):  # of the Dataset, beside __getitem__\n"
         "    with concurrent.futures.ThreadPoolExecutor(16) as pool:\n"
         "        return list(pool.map(self.__getitem__, numbers))"},
    [STK_INPUT_FIX_TORCH_ITERATOR] =
        {"pytorch",
         "The loader's iterator is made anew for each step, which starts its workers again and "
         "throws away what they made ahead: make it once, before the loop, and anew where an "
         "epoch ends.",
         "batches = iter(loader)         # once, before the loop\n"
         "batch = next(batches, None)    # in each step\n"
         "if batch is None:\n"
         "    batches = iter(loader)     # the next epoch\n"
         "    batch = next(batches)"},
    [STK_INPUT_FIX_TORCH_OWN_SAMPLES] =
        {"pytorch",
         "The functions named above work on one sample after the other, by hundreds of short calls "
         "of PyTorch's: let them take the whole batch, with one call for all samples, and draw "
         "what is random for all of them at once.",
         "flips = torch.rand(len(images), 1, 1, 1) < 0.5  # one number a sample\n"
         "images = torch.where(flips, images.flip(-1), images)"},
    [STK_INPUT_FIX_WHOLE_BATCH] =
        {"pytorch",
         "A batch is made by many short calls, sample by sample, which cost a worker as much, and "
         "default_collate more of them: give the Dataset the numbers of a whole batch, and index "
         "and compute once for all of its samples. That needs no further processor.",
         TORCH_WHOLE},
    [STK_INPUT_FIX_SHORT_BATCH] =
        {"pytorch",
         "A batch is made in about the time that a worker takes to hand it over: where the data "
         "fit into memory, give the Dataset the numbers of a whole batch, and index once for all "
         "of its samples.",
         TORCH_WHOLE},
    [STK_INPUT_FIX_SAMPLER] =
        {"pytorch",
         "The sampler draws from all samples whenever the loader's iterator begins, in the "
         "training process, however many workers there are: let it draw for many steps at once, as "
         "a long epoch does.",
         "sampler = WeightedRandomSampler(weights, num_samples=1000 * batch_size)\n"
         "# or RandomSampler(dataset, replacement=True, num_samples=1000 * batch_size)"},
    [STK_INPUT_FIX_NO_WORKERS] =
        {"pytorch",
         "The training process prepares each batch itself (num_workers=0): let worker processes "
         "do it ahead of time, at most as many as the cores that the job may use, and the step "
         "leaves free. An IterableDataset must split its data among them, or each worker gives "
         "all of it.",
         TORCH_LOADER("")},
    [STK_INPUT_FIX_HELD_OPEN] =
        {"pytorch",
         "The Dataset reads from an archive or a database that it holds open: workers that share "
         "it read at each other's places, and fail. Let each open it for itself, at its first use.",
         "@functools.cached_property\n"
         "def archive(self):  # of the Dataset, in the place of opening it in __init__\n"
         "    return zipfile.ZipFile(self.path)"},
    [STK_INPUT_FIX_TRACE_WORKERS] =
        {"pytorch",
         "The workers do not keep up. Keep them between epochs, and let each record what it does "
         "per item for stoker to read; then make an item cheaper (decode at the size needed, fewer "
         "and larger files), or raise num_workers, up to the cores that the job may use, and "
         "beyond them where an item waits for a disk or a network.",
         "import stoker\n"
         "loader = DataLoader(dataset, batch_size=batch_size, num_workers=workers,\n"
         "                    persistent_workers=True, worker_init_fn=stoker.trace_worker)\n"
         "# then: stoker why trace.json.gz stoker_workers/"},
    [STK_INPUT_FIX_ITEM] =
        {"pytorch",
         "Make an item cheaper: decode at the size needed, read fewer and larger files, compute "
         "once what each epoch repeats; or use more workers, where the job may use more cores, or "
         "an item waits for a disk or a network.",
         TORCH_LOADER("")},
    [STK_INPUT_FIX_COLLATE] =
        {"pytorch",
         "Putting a batch together takes the workers' time: give arrays of one size, uint8 rather "
         "than float, and stack once.",
         "def collate(items):\n"
         "    x, y = zip(*items)\n"
         "    return torch.stack(x), torch.stack(y)\n"
         "loader = DataLoader(dataset, batch_size=batch_size, collate_fn=collate)"},
    [STK_INPUT_FIX_HAND_OVER] =
        {"pytorch",
         "The workers wait more than they work: handing batches over is slow. Send fewer and "
         "smaller tensors (uint8, cast on the device), and keep the workers between epochs.",
         TORCH_LOADER(", prefetch_factor=4")},
    [STK_INPUT_FIX_LOADER] =
        {"pytorch",
         "Prepare batches in worker processes, ahead of time, at most as many as the cores that "
         "the job may use, and the step leaves free. An IterableDataset must split its data among "
         "them, or each worker gives all of it.",
         TORCH_LOADER("")},
    [STK_INPUT_FIX_ITERABLE] =
        {"pytorch", "In an IterableDataset, let each worker read its own part.",
         "def __iter__(self):\n"
         "    info = torch.utils.data.get_worker_info()\n"
         "    first, step = (info.id, info.num_workers) if info else (0, 1)\n"
         "    for path in self.paths[first::step]:\n"
         "        yield from read(path)"},
    [STK_INPUT_FIX_PIN] =
        {"pytorch", "Batches in pinned memory can be copied while the device computes.",
         "loader = DataLoader(dataset, batch_size=batch_size, num_workers=workers, "
         "pin_memory=True)\n"
         "batch = batch.to(device, non_blocking=True)"},
    [STK_INPUT_FIX_TORCH_EVEN] =
        {"pytorch",
         "Hold more batches ready, let none wait for a slow one (in_order, from "
         "PyTorch 2.6 on), and keep the workers between epochs.",
         TORCH_LOADER(", prefetch_factor=8, in_order=False")},
    [STK_INPUT_FIX_TF_PYTHON] =
        {"tensorflow",
         "Python makes the elements (from_generator, py_function, numpy_function), one at a time "
         "under its lock, and more parallel calls help only where it waits for a disk or a "
         "network: do the work with TensorFlow's operations in map, or write the elements to files "
         "once and read those.",
         "ds.save('elements')                    # once: ds as it is\n"
         "ds = tf.data.Dataset.load('elements')  # in training\n"
         "ds = ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_ITERATOR] =
        {"tensorflow",
         "The iterator is made anew for each step, which starts its threads and fills its buffers "
         "(a shuffle buffer too) again: make it once, before the loop.",
         "batches = iter(ds.repeat().prefetch(tf.data.AUTOTUNE))  # once\n"
         "batch = next(batches)                                   # in each step"},
    [STK_INPUT_FIX_KERAS_WORKERS] =
        {"tensorflow",
         "Where a keras.utils.PyDataset makes them, it has one worker unless it is told otherwise.",
         "def __init__(self):  # of the PyDataset\n"
         "    super().__init__(workers=4, max_queue_size=16)"},
    [STK_INPUT_FIX_KERAS_PROCESSES] =
        {"tensorflow",
         "Where a keras.utils.PyDataset makes them, its threads, however many, share Python's lock "
         "with the loop; processes do not.",
         "def __init__(self):  # of the PyDataset\n"
         "    super().__init__(workers=2, use_multiprocessing=True, max_queue_size=16)"},
    [STK_INPUT_FIX_TF_SMALL] =
        {"tensorflow",
         "Elements are small, and most of their time goes into calls, of the map and of what is "
         "around it: make batches first, and let the map work on whole batches. Most of "
         "TensorFlow's operations, decode_csv and parse_example too, take them as they are.",
         "ds = ds.batch(batch_size).map(parse, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_GROUP] =
        {"tensorflow",
         "group_by_window and bucket_by_sequence_length call a function for each element, on one "
         "thread: where lengths are alike, put together what comes in a row, and pad it.",
         "ds = ds.padded_batch(batch_size).prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_MAP] = {"tensorflow",
                              "Run the map in parallel, and make batches ahead of the step.",
                              "ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)\n"
                              "ds = ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_PARALLEL] =
        {"tensorflow",
         "The map runs in parallel already (num_parallel_calls; TensorFlow sees to that itself, "
         "where it may), so make an element cheaper: decode at the size needed, keep what is the "
         "same in each epoch (cache() before repeat(): behind it, it never ends), "
         "and work on whole batches.",
         "ds = ds.cache().repeat()  # behind the map, where it gives the same in each epoch\n"
         "ds = ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_AUGMENT] =
        {"tensorflow",
         "What differs from epoch to epoch, as what is drawn at random, works on whole batches, "
         "behind the cache.",
         "ds = ds.batch(batch_size).map(augment, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_CACHED] =
        {"tensorflow",
         "cache() keeps what this stage makes, so that it works in the first pass alone: profile a "
         "later one. Elements that are kept in files are there in the next run, too.",
         "ds = ds.cache('elements')  # a name of files instead of memory"},
    [STK_INPUT_FIX_TF_FILTER] =
        {"tensorflow",
         "A filter behind the map (rejection_resample has one) throws away what the map has made: "
         "filter first, by what is known without it.",
         "ds = ds.filter(wanted).map(parse, num_parallel_calls=tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_SHARD] =
        {"tensorflow",
         "shard() behind the map throws away what the map has made for the other shards: shard "
         "first, files or records.",
         "ds = ds.shard(count, index).map(parse, num_parallel_calls=tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_APART] =
        {"tensorflow",
         "unbatch() hands on one row after the other, which are shuffled and put together again "
         "one by one: rebatch() changes the size of batches in whole pieces. Shuffle the batches "
         "before it, and their rows in the map.",
         "ds = ds.rebatch(batch_size)  # in the place of ds.unbatch().batch(batch_size)\n"
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_WINDOWS] =
        {"tensorflow",
         "window() makes a data set for each window, which flat_map puts together again row by "
         "row: where the rows fit into memory, cut all windows of a batch from one tensor at once. "
         "Shuffle the places where they begin.",
         "places = tf.data.Dataset.range(len(rows) - length + 1)  # .shuffle(len(rows))\n"
         "def cut(at):  # at: where the windows of a batch begin\n"
         "    return tf.gather(rows, at[:, None] + tf.range(length, dtype=at.dtype))\n"
         "ds = places.batch(batch_size).map(cut, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_DEVICE] =
        {"tensorflow",
         "A map of tf.data runs on the host's processors always, within tf.device('/GPU:0') too. "
         "What the GPU can do (casts, crops, noise) belongs into the step, on a whole batch.",
         "step_before = train_step\n"
         "@tf.function\n"
         "def train_step(batch):\n"
         "    return step_before(augment(batch))  # on the device, and no longer in the map"},
    [STK_INPUT_FIX_TF_READ] =
        {"tensorflow", "Read several files at once.",
         "ds = (tf.data.Dataset.list_files(pattern)\n"
         "      .interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "      .map(parse, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "      .batch(batch_size).prefetch(tf.data.AUTOTUNE))"},
    [STK_INPUT_FIX_TF_BATCH] =
        {"tensorflow",
         "Make batches in parallel and ahead of the step; smaller elements (uint8, cast on the "
         "device) are copied faster.",
         "ds = ds.batch(batch_size, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_PREFETCH] =
        {"tensorflow",
         "The pipeline does not end with a buffer: with prefetch, batches are made while the step "
         "runs.",
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TFDATA] =
        {"tensorflow",
         "Run the stages of the input pipeline in parallel, and end it with prefetch.",
         "ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "ds = ds.batch(batch_size, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "ds = ds.prefetch(tf.data.AUTOTUNE)"},
    [STK_INPUT_FIX_TF_EVEN] = {"tensorflow",
                               "Fill a smaller shuffle buffer, and hold more batches ready.",
                               "ds = ds.shuffle(1000).batch(batch_size).prefetch(16)"},
    [STK_INPUT_FIX_GRAIN] =
        {"jax",
         "With Grain, prepare batches in worker processes, at most as many as the cores that the "
         "job may use; threads help where reading waits for a disk or a network.",
         "absl.flags.FLAGS.mark_as_parsed()  # unless absl.app.run runs the program\n"
         "workers = min(8, len(os.sched_getaffinity(0)))\n"
         "ds = ds.to_iter_dataset(grain.ReadOptions(num_threads=16, prefetch_buffer_size=64))\n"
         "ds = ds.batch(batch_size)\n"
         "ds = ds.mp_prefetch(grain.MultiprocessingOptions(num_workers=workers))"},
    [STK_INPUT_FIX_GRAIN_LOADER] =
        {"jax",
         "With grain.DataLoader, prepare batches in worker processes, at most as many as the cores "
         "that the job may use; threads help where reading waits for a disk or a network.",
         "absl.flags.FLAGS.mark_as_parsed()  # unless absl.app.run runs the program\n"
         "workers = min(8, len(os.sched_getaffinity(0)))\n"
         "loader = grain.DataLoader(\n"
         "    data_source=source, sampler=sampler, operations=operations, worker_count=workers,\n"
         "    read_options=grain.ReadOptions(num_threads=16, prefetch_buffer_size=64))"},
    [STK_INPUT_FIX_GRAIN_WORKERS] =
        {"jax",
         "Grain's worker processes make the batches, and do not keep up: make an element cheaper, "
         "or raise their number, as far as cores are free; where they wait for a disk or a "
         "network, let each read with several threads.",
         NULL},
    [STK_INPUT_FIX_JAX_JIT] =
        {"jax",
         "Operations of JAX run one by one, each called from Python: put the function that "
         "prepares "
         "a batch with them under jit, and what it does for each sample under vmap. What is drawn "
         "at random comes from jax.random, and a number that changes is an array.",
         "prepare = jax.jit(prepare)  # once, before the loop"},
    [STK_INPUT_FIX_JAX_THREAD] =
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
    [STK_INPUT_FIX_JAX_PROCESSES] =
        {"jax",
         "Where preparing a batch keeps a processor busy, let processes do it; read(n) makes batch "
         "n, in a module of its own or beside a guarded main. Processes are spawned, as JAX's "
         "threads do not outlive a fork.",
         "pool = multiprocessing.get_context('spawn').Pool(min(8, len(os.sched_getaffinity(0))))\n"
         "for batch in pool.imap(read, range(steps)): state = train_step(state, batch)"},
    [STK_INPUT_FIX_OWN_CODE] =
        {"any",
         "Take the functions named above out of the training loop: run them in the loader's "
         "workers, on a thread ahead of the step where they wait for a disk or a network, or once, "
         "beforehand.",
         NULL},
    [STK_INPUT_FIX_OWN_LOOP] =
        {"any",
         "Put what the loop does before it calls the model into a function, or a Dataset's "
         "__getitem__, of its own: then a loader's workers, or a thread where it waits for a disk "
         "or a network, can run it ahead of the step, or it is done once, beforehand.",
         NULL},
    [STK_INPUT_FIX_HANDING] =
        {"any",
         "Keep samples as arrays or tensors that are made once, and index those: lists are read "
         "number by number each time. A list of arrays is put together by numpy.stack first.",
         "rows = numpy.asarray(rows, numpy.float32)  # once, before the loop"},
    [STK_INPUT_FIX_JAX_LISTS] =
        {"jax",
         "Lists of Python's are handed to JAX, which looks at them number by number, and takes "
         "much longer for each than NumPy: make arrays of NumPy's of them, once or for the batch.",
         "x = jnp.asarray(numpy.array(rows, numpy.float32))  # in the place of jnp.array(rows)"},
    [STK_INPUT_FIX_OWN_SAMPLER] =
        {"any",
         "The functions named above run in the training process, however many workers the loader "
         "has, as a sampler does: make them cheaper, or compute the order of an epoch at once, "
         "beforehand.",
         NULL},
    [STK_INPUT_FIX_OWN_THREAD] =
        {"any",
         "Threads or processes of the job's own make the batches already, and do not keep up. Make "
         "a batch cheaper: whole batches rather than samples, once what each epoch repeats, fewer "
         "and larger files. More of them help as far as cores are free, and beyond where they wait "
         "for a disk or a network; asking further ahead helps where the mean rate suffices.",
         NULL},
    [STK_INPUT_FIX_EVEN] =
        {"any",
         "Look at what the long fetch did: a shuffle buffer that fills, a new epoch or "
         "file, a slow disk. A deeper prefetch hides it if the mean rate suffices.",
         NULL},
    [STK_INPUT_FIX_PROOF] =
        {"any",
         "To see what the input costs in all, train on one constant batch and compare "
         "the step time.",
         NULL},
    {0},
};
