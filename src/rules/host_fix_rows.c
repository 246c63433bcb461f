// SPDX-License-Identifier: Apache-2.0
// What can be advised to a device, or a step, that waits for the host, as text and to paste;
// host_fixes.c chooses.
#include "rules/host_fix_rows.h"

#include "rules/kernel_rules.h"
#include "rules/torch_signs.h"

const struct stk_rep_fix stk_host_fixes[] = {
    [STK_HOST_FIX_TORCH_ALLOC] =
        {"pytorch",
         "Let the caching allocator work: leave caching on, and call neither "
         "torch.cuda.empty_cache() nor gc.collect() in the loop; against "
         "fragmentation use segments that can grow.",
         "unset PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_NO_HIP_MEMORY_CACHING\n"
         "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
    [STK_HOST_FIX_TF_ALLOC] = {"tensorflow",
                               "Let TensorFlow keep the memory it has, or use CUDA's own pool.",
                               "export TF_GPU_ALLOCATOR=cuda_malloc_async"},
    [STK_HOST_FIX_JAX_ALLOC] =
        {"jax", "Use JAX's own pool: the platform allocator asks the driver each time.",
         "unset XLA_PYTHON_CLIENT_ALLOCATOR XLA_PYTHON_CLIENT_PREALLOCATE"},
    [STK_HOST_FIX_CUDA_ALLOC] =
        {"cuda", "Allocate from a pool that keeps its memory; cudaFree waits for the device.",
         "cudaMemPool_t pool; uint64_t keep = UINT64_MAX;\n"
         "cudaDeviceGetDefaultMemPool(&pool, device);\n"
         "cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);\n"
         "cudaMallocAsync(&p, bytes, stream); /* ... */ cudaFreeAsync(p, stream);"},
    [STK_HOST_FIX_TORCH_COMPILE] =
        {"pytorch",
         "Launch less: compile the model, with CUDA graphs where shapes are fixed, and measure it.",
         "model = torch.compile(model, mode='reduce-overhead')"},
    [STK_HOST_FIX_TORCH_GRAPHS] =
        {"pytorch",
         "The model is compiled already: where shapes are fixed, CUDA graphs launch all of it in "
         "one call.",
         "model = torch.compile(model, mode='reduce-overhead')  # instead of the default mode"},
    [STK_HOST_FIX_GRAPH_NODES] =
        {"any",
         "The launches are device graphs already: what is left is the pauses between a graph's "
         "kernels, and its own call. Fewer and longer kernels have less of both: let a compiler "
         "fuse what is captured, or capture a larger batch.",
         NULL},
    [STK_HOST_FIX_TORCH_OPT] =
        {"pytorch", "Let the optimizer update all parameters in a few kernels.",
         "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)\n"
         "# Adam, SGD and Adagrad have it too; others: foreach=True"},
    [STK_HOST_FIX_TF_STEPS] =
        {"tensorflow", "Each call is short: use a larger batch, or several steps a call.",
         "model.compile(optimizer=optimizer, loss=loss, steps_per_execution=16)"},
    [STK_HOST_FIX_KERAS_STEPS] =
        {"tensorflow",
         "Between two calls of the compiled step Keras, and the callbacks, run in Python: several "
         "steps a call need that once for all of them.",
         "model.compile(optimizer=optimizer, loss=loss, steps_per_execution=16)"},
    [STK_HOST_FIX_TF_LOOP] =
        {"tensorflow", "Each call is short: use a larger batch, or run several steps a call.",
         "batches = iter(ds)\n"
         "@tf.function\n"
         "def train(steps):\n"
         "    for _ in tf.range(steps):\n"
         "        train_step(next(batches))\n"
         "train(tf.constant(16))"},
    [STK_HOST_FIX_TF_XLA] =
        {"tensorflow",
         "XLA may fuse small operations; it also compiles anew for each shape, and can "
         "be slower: measure it.",
         "train_step = tf.function(train_step, jit_compile=True)"},
    [STK_HOST_FIX_TF_THREADS] =
        {"tensorflow",
         "The input pipeline may take the cores that launch kernels: give launching "
         "threads of its own, TF_GPU_THREAD_COUNT of them for each GPU (2; no more "
         "than there are cores for all of them).",
         "export TF_GPU_THREAD_MODE=gpu_private TF_GPU_THREAD_COUNT=2"},
    [STK_HOST_FIX_JAX_LAUNCH] = {"jax",
                                 "Put the whole step under one jit, and several steps into a scan.",
                                 "@functools.partial(jax.jit, donate_argnums=0)\n"
                                 "def train(state, batches):\n"
                                 "    return jax.lax.scan(train_step, state, batches)"},
    [STK_HOST_FIX_CUDA_LAUNCH] = {"cuda",
                                  "Capture the repeated launches in a CUDA graph, and launch that.",
                                  "cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
                                  "launch_step(stream);\n"
                                  "cudaStreamEndCapture(stream, &graph);\n"
                                  "cudaGraphInstantiate(&exec, graph, 0);\n"
                                  "cudaGraphLaunch(exec, stream); /* every step */"},
    [STK_HOST_FIX_DDP] =
        {"pytorch",
         "DataParallel drives all devices from one Python process: use one process per device.",
         STK_SNIPPET_DDP},
    [STK_HOST_FIX_TORCH_SAVE] =
        {"pytorch",
         "Write checkpoints rarely, and from a copy on another thread while training goes on.",
         "def save_later(model, path):\n"
         "    state = {k: v.detach().to('cpu', copy=True) for k, v in model.state_dict().items()}\n"
         "    threading.Thread(target=torch.save, args=(state, path)).start()\n"
         "if step % 1000 == 0: save_later(model, 'checkpoint.pt')"},
    [STK_HOST_FIX_TF_SAVE] =
        {"tensorflow",
         "Write checkpoints rarely, and from a copy on another thread while training goes on.",
         "def save_later(model, path):\n"
         "    values = [v.numpy() for v in model.variables]\n"
         "    threading.Thread(target=np.savez, args=(path, *values)).start()\n"
         "if step % 1000 == 0: save_later(model, 'weights.npz')\n"
         "# back: for v, x in zip(model.variables, np.load('weights.npz').values()): v.assign(x)"},
    [STK_HOST_FIX_KERAS_SAVE] =
        {"tensorflow", "Write checkpoints once an epoch, or rarer.",
         "model.fit(ds, callbacks=[tf.keras.callbacks.ModelCheckpoint(\n"
         "    'at.weights.h5', save_weights_only=True, save_freq='epoch')])"},
    [STK_HOST_FIX_JAX_SAVE] =
        {"jax", "Write checkpoints rarely, and asynchronously, from a copy on the host.",
         "def save_later(state, path):\n"
         "    threading.Thread(target=write, args=(jax.device_get(state), path)).start()\n"
         "if step % 1000 == 0: save_later(state, 'checkpoint')"},
    [STK_HOST_FIX_TF_FUNCTION] = {"tensorflow",
                                  "Run the step as one graph instead of operation by operation. "
                                  "If it is a tf.function already, "
                                  "tf.config.run_functions_eagerly(True) is set somewhere: take it "
                                  "out.",
                                  "train_step = tf.function(train_step)  # once, before the loop"},
    [STK_HOST_FIX_KERAS_FUNCTION] =
        {"tensorflow", "Run the step as one graph instead of operation by operation.",
         "model.compile(optimizer=optimizer, loss=loss, run_eagerly=False)"},
    [STK_HOST_FIX_KERAS_AROUND] =
        {"tensorflow",
         "The compiled step is one call; the operations around it, called one by one from Python, "
         "are a callback's, which reads, saves or shows weights: let it do that once an epoch, or "
         "rarer.",
         "keras.callbacks.ModelCheckpoint('at.weights.h5', save_weights_only=True, "
         "save_freq='epoch')"},
    [STK_HOST_FIX_KERAS_PREDICT] =
        {"tensorflow",
         "A dataset and its iterator are made anew in each step, as every call of model.predict, "
         "evaluate or fit does, in a callback for instance: call the model itself there, or do it "
         "less often. A loop that calls fit for each batch has train_on_batch for that.",
         "shown = model(x, training=False)  # in the place of model.predict(x)\n"
         "loss = model.train_on_batch(x, y)  # in the place of model.fit(x, y) in a loop"},
    [STK_HOST_FIX_TF_AROUND] =
        {"tensorflow",
         "A tf.function runs already, and what runs around it does so operation by operation: put "
         "that into it, or into another one.",
         "prepare = tf.function(prepare)  # what the loop does besides"},
    [STK_HOST_FIX_TF_ROUNDS] =
        {"tensorflow",
         "A loop of Python's calls a few operations in each of its rounds: a tf.function of so few "
         "costs as much to call as they do. Let one call do all rounds, where none needs a value "
         "of the one before in Python, or several of them (many games, one move of each); or "
         "compute what is so short with NumPy.",
         "all_rounds = tf.function(all_rounds)          # the function that holds the loop, once\n"
         "made = tf.function(prepare)(tf.stack(alike))  # or: in the place of prepare(x) for each "
         "x"},
    [STK_HOST_FIX_TF_SUMMARY] =
        {"tensorflow",
         "Summaries are written in each step, and what they show is computed for them, operation "
         "by operation: write them every hundred steps.",
         "if step % 100 == 0:\n"
         "    with writer.as_default(step=step): tf.summary.histogram('weights', weights)"},
    [STK_HOST_FIX_TF_WRITES] =
        {"tensorflow",
         "Pictures or sounds are encoded, or files written, in the loop: do it rarely, or let "
         "another thread do it.",
         "later = concurrent.futures.ThreadPoolExecutor(1)  # once, before the loop\n"
         "if step % 1000 == 0: later.submit(save_samples, step, pictures.numpy())"},
    [STK_HOST_FIX_TF_CALLS_PYTHON] =
        {"tensorflow",
         "The step's graph calls Python (numpy_function, py_function), on one processor, and waits "
         "for it: write that with TensorFlow's operations, or do it rarely, outside of the graph.",
         NULL},
    [STK_HOST_FIX_TF_CONSTANT] =
        {"tensorflow",
         "Tensors are made from Python's or NumPy's values in each step: make those that stay the "
         "same once, and let tf.data bring the others.",
         "weights = tf.constant(values)  # once, before the loop"},
    [STK_HOST_FIX_TF_PLACEMENT] =
        {"tensorflow",
         "The operations named above run on the host while the device waits. See where each "
         "operation is placed: those without a kernel for the device, strings and lookups belong "
         "into the input pipeline; OneDeviceStrategy puts the rest on the device.",
         "tf.debugging.set_log_device_placement(True)  # at the start of the program\n"
         "strategy = tf.distribute.OneDeviceStrategy('/GPU:0')\n"
         "with strategy.scope(): model = make_model()"},
    [STK_HOST_FIX_TF_WHILE] =
        {"tensorflow",
         "A loop runs on the host, iteration by iteration: work on whole tensors instead, or let "
         "XLA compile the loop, and measure it.",
         "total = tf.cumsum(values)  # for a loop over values\n"
         "train_step = tf.function(train_step, jit_compile=True)"},
    [STK_HOST_FIX_TF_CONCAT] =
        {"tensorflow",
         "Small tensors are put together piece by piece in each step: keep them in one tensor, and "
         "take parts of that.",
         "weights = tf.Variable(tf.concat([tf.reshape(v, [-1]) for v in parts], 0))  # once\n"
         "part = weights[:8]  # in the step"},
    [STK_HOST_FIX_TF_SCALE] =
        {"tensorflow",
         "Dynamic loss scaling checks every gradient and decides on the host, in each step: "
         "bfloat16 needs none, on devices that compute it (NVIDIA's from Ampere on).",
         "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16')  # before the model is "
         "made"},
    [STK_HOST_FIX_TF_SCALE_FIXED] =
        {"tensorflow",
         "Dynamic loss scaling checks every gradient and decides on the host, in each step. A "
         "fixed scale needs no checks (the devices of this profile compute no bfloat16, which "
         "would need no scale at all); see that the loss stays finite.",
         "loss = loss_of(model(x), y) * 1024  # in the step\n"
         "gradients = [g / 1024 for g in tape.gradient(loss, model.trainable_variables)]"},
    [STK_HOST_FIX_OWN] =
        {"any",
         "The functions named above are the job's own: call them less often, or let "
         "another thread or process do their work.",
         NULL},
    [STK_HOST_FIX_TORCH_PYTHON] =
        {"pytorch",
         "Take work out of the loop's Python: read values and log every hundred steps, avoid loops "
         "over samples or parameters.",
         "if step % 100 == 0: print(step, loss.item())"},
    [STK_HOST_FIX_TF_PYTHON] =
        {"tensorflow",
         "Take work out of the loop's Python: call back, read values and log every "
         "hundred steps.",
         "if step % 100 == 0: print(step, float(loss))"},
    [STK_HOST_FIX_JAX_PYTHON] =
        {"jax",
         "Keep Python out of the step: one jit around all of it, no operations between calls.",
         "train_step = jax.jit(train_step, donate_argnums=0)"},
    [STK_HOST_FIX_JAX_EAGER] =
        {"jax",
         "Operations of jax.numpy run one by one, each called from Python: put the "
         "functions that call them under jit, and a loop over many calls into "
         "jax.lax.scan.",
         "prepare = jax.jit(prepare)  # once, before the loop"},
    [STK_HOST_FIX_JAX_NO_JIT] =
        {"jax",
         "Functions under jit call JAX's operations one by one: jit is switched off, by "
         "jax_disable_jit, JAX_DISABLE_JIT or jax.disable_jit(), as one does to print values. "
         "Leave it on; jax.debug.print shows values within a compiled step.",
         "jax.config.update('jax_disable_jit', False)"},
    [STK_HOST_FIX_JAX_NNX] =
        {"jax",
         "Flax' nnx takes the model and the optimizer apart in Python before each call of what "
         "nnx.jit compiled, and puts them together behind it: let it do that once.",
         "step = nnx.cached_partial(train_step, model, optimizer)  # once, before the loop\n"
         "loss = step(batch)                                       # in the loop"},
    [STK_HOST_FIX_JAX_CALLBACK] =
        {"jax",
         "The compiled step calls Python (pure_callback, io_callback, debug.callback), and waits "
         "for it: write that with jax.numpy, or hand the values out of the step and look at them "
         "every hundred steps.",
         NULL},
    [STK_HOST_FIX_BATCH] =
        {"any",
         "A larger batch gives each kernel more to do for the same number of launches, "
         "if memory and convergence allow.",
         STK_SNIPPET_BATCH},
    [STK_HOST_FIX_PYTHON] = {"any",
                             "See which functions run in the loop, without tracing each call.",
                             "py-spy record --native -o loop.svg --pid PID"},
    [STK_HOST_FIX_ANSWER] =
        {"any",
         "The function named above waits for another program's answer, and the step needs none of "
         "it: call it every hundred steps, or let another thread do it.",
         "later = concurrent.futures.ThreadPoolExecutor(1)  # once, before the loop\n"
         "later.submit(report, step, value)                 # in the place of report(step, value)"},
    [STK_HOST_FIX_WAIT] =
        {"any",
         "The thread is blocked, not busy. Let what it waits for run without it: a queue "
         "with room, a lock held for less, a result asked for later, no sleep.",
         NULL},
    [STK_HOST_FIX_RECORD] =
        {"any",
         "Record the step with its framework's profiler, and read that: it shows whether "
         "the device is at work in this time.",
         "stoker why PROFILE"},
    STK_FIXES_TORCH_SIGNS,
    {0},
};
