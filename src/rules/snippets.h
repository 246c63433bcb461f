// SPDX-License-Identifier: Apache-2.0
// How to record a profile worth reading, per framework: shared by the rules about the capture.
#ifndef STK_RULES_SNIPPETS_H
#define STK_RULES_SNIPPETS_H

// Skips five steps, warms up for three, records ten.
#define STK_SNIPPET_TORCH                                                                          \
    "from torch.profiler import profile, schedule, supported_activities\n"                         \
    "with profile(activities=supported_activities(),\n"                                            \
    "             schedule=schedule(wait=5, warmup=3, active=10, repeat=1),\n"                     \
    "             on_trace_ready=lambda p: p.export_chrome_trace('trace.json.gz')) as prof:\n"     \
    "    for batch in loader:\n"                                                                   \
    "        train_step(batch)\n"                                                                  \
    "        prof.step()"
#define STK_SNIPPET_TF                                                                             \
    "options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2,\n"                    \
    "                                                   device_tracer_level=1)\n"                  \
    "for step, batch in enumerate(dataset):\n"                                                     \
    "    if step == 10: tf.profiler.experimental.start('logs', options)\n"                         \
    "    with tf.profiler.experimental.Trace('train', step_num=step, _r=1):\n"                     \
    "        train_step(batch)\n"                                                                  \
    "    if step == 20: tf.profiler.experimental.stop(); break"
#define STK_SNIPPET_KERAS                                                                          \
    "model.fit(dataset, callbacks=[\n"                                                             \
    "    tf.keras.callbacks.TensorBoard('logs', profile_batch=(10, 20))])"
#define STK_SNIPPET_JAX                                                                            \
    "with jax.profiler.trace('logs'):\n"                                                           \
    "    for step in range(10):\n"                                                                 \
    "        with jax.profiler.StepTraceAnnotation('train', step_num=step):\n"                     \
    "            state = train_step(state, next(batches))\n"                                       \
    "    jax.block_until_ready(state)"
#define STK_SNIPPET_NSYS                                                                           \
    "nsys profile --trace=cuda,nvtx,osrt --output=run python train.py\n"                           \
    "nsys export --type=sqlite --output=run.sqlite run.nsys-rep"

// What makes a program's own Python visible, as rows of a rule's table of fixes.
#define STK_FIX_PYTHON_TORCH                                                                       \
    {"pytorch", "Record Python as well.",                                                          \
     "profile(activities=[ProfilerActivity.CPU], with_stack=True)"}
#define STK_FIX_PYTHON_TF                                                                          \
    {"tensorflow", "TensorFlow's tracer records no Python: put a range around what you suspect.",  \
     "with tf.profiler.experimental.Trace(\"load_batch\"):\n    batch = load_batch()"}
#define STK_FIX_PYTHON_JAX                                                                         \
    {"jax", "Record Python as well.",                                                              \
     "options = jax.profiler.ProfileOptions()\noptions.python_tracer_level = 1\n"                  \
     "jax.profiler.start_trace(\"logs\", profiler_options=options)"}

#endif
