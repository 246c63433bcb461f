#compdef stoker
# zsh completion of stoker; put it as _stoker into a folder of $fpath
_stoker() {
    local -a commands
    commands=(
        'why:say where each step'\''s time goes, and what to change'
        'whatif:say what each fix is worth before you make it'
        'view:show the diagnosis and the timeline in a browser'
        'report:write the diagnosis as one HTML file'
        'stats:print tables\: kernels, copies, launches, gaps, operations'
        'diff:compare two results\: faster, slower, and why'
        'query:ask about single events in SQL'
        'find:find events by name, duration, track'
        'export:write a profile for Perfetto, TensorBoard, SQLite and others'
        'data:look at training data, convert it, measure a pipeline'
        'run:run a job as it is, record it, and say where its time goes'
        'top:show a running job\: its steps, processors, GPUs, disks, and what holds it now'
        'capture:record a window of a job that runs already, and say where its time goes'
        'prove:is B faster than A? alternating runs, and an interval'
        'ledger:what was predicted, and what was measured then'
        'tune:find the fixes that make a job faster, by trying them without editing it'
        'explain:explain a rule or a fix\: when it fires, why it matters, what to do'
        'formats:list the profile formats that can be read'
        'schema:print the JSON Schema of the report, of tables, comparisons, prices, proofs'
        'doctor:say what this build and this machine can do, and what they lack'
        'completion:print the completion script of a shell'
        'help:help of a command, for the terminal or as a man page'
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
        why) _arguments \
            '--json[print JSON, for programs]' \
            '--format[how to print the report]:NAME:(text json)' \
            '--output[write to FILE, which is replaced when it is complete]:FILE:_files' \
            '--limit[rows of long lists; 0\: all (20 in text, 10000 in JSON)]:N:' \
            '--steps[only steps numbered A to B; A\: and \:B are open, A alone is one step]:A:B:' \
            '--rank[only this rank]:N:' \
            '--device[only the device of this number, on every rank]:N:' \
            '--from[only from this time after the first event on\: 10ms, 1.5s, 200us]:TIME:' \
            '--to[only up to this time after the first event]:TIME:' \
            '--fail-on[exit with 1 if a finding is at least as severe]:LEVEL:(high medium low)' \
            '--as-ranks[the profiles are the ranks of one run, whatever they say of themselves]' \
            '--redact[remove host names, paths and names that users chose]' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--no-color[no colours, whatever the terminal]' \
            '--verbose[all evidence, every step, device and rule]' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        whatif) _arguments \
            '--json[print JSON, for programs]' \
            '--output[write to FILE, which is replaced when it is complete]:FILE:_files' \
            '--steps[only steps numbered A to B; A\: and \:B are open, A alone is one step]:A:B:' \
            '--rank[only this rank]:N:' \
            '--device[only the device of this number, on every rank]:N:' \
            '--from[only from this time after the first event on\: 10ms, 1.5s, 200us]:TIME:' \
            '--to[only up to this time after the first event]:TIME:' \
            '--fix[price these what-ifs or fixes, all of them at once\: input-free, input-faster=2]:ID,...:' \
            '--with-batch[a profile of the same job with F times the batch, for --fix batch=N]:F=FILE:' \
            '--target[find the fixes that bring a step to this time\: 50ms]:TIME:' \
            '--as-ranks[the profiles are the ranks of one run, whatever they say of themselves]' \
            '--redact[remove host names, paths and names that users chose]' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--no-color[no colours, whatever the terminal]' \
            '--verbose[all evidence, every step, device and rule]' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--list[list what there is to choose from]' \
            '--critical[show the critical path of the steps]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        view) _arguments \
            '--as-ranks[the profiles are the ranks of one run, whatever they say of themselves]' \
            '--redact[remove host names, paths and names that users chose]' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--port[listen at this port; 0\: any that is free (the default)]:N:' \
            '--host[listen at this address of the machine (127.0.0.1)]:ADDRESS:' \
            '--no-open[do not open the browser]' \
            '--no-cache[neither take an index from the cache nor keep one there]' \
            '--ui-dir[pages from this folder instead of those built in, to work on them]:DIR:_files' \
            '--help[this help]' \
            '*:profile:_files' ;;
        report) _arguments \
            '--steps[only steps numbered A to B; A\: and \:B are open, A alone is one step]:A:B:' \
            '--rank[only this rank]:N:' \
            '--device[only the device of this number, on every rank]:N:' \
            '--from[only from this time after the first event on\: 10ms, 1.5s, 200us]:TIME:' \
            '--to[only up to this time after the first event]:TIME:' \
            '--as-ranks[the profiles are the ranks of one run, whatever they say of themselves]' \
            '--redact[remove host names, paths and names that users chose]' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--html[write the page to FILE, which is replaced when it is complete; -\: to standard output]:FILE:_files' \
            '--help[this help]' \
            '*:profile:_files' ;;
        stats) _arguments \
            '--json[print JSON, for programs]' \
            '--csv[print one table as comma-separated values]' \
            '--csv-raw[CSV without the '\'' before what a spreadsheet would take for a formula]' \
            '--table[only the table of this id]:ID:' \
            '--by[sum by a key of ANALYSIS, which its --tables lists\: ops --by phase]:KEY:' \
            '--output[write to FILE, which is replaced when it is complete]:FILE:_files' \
            '--limit[rows of long lists; 0\: all (20 in text, 10000 in JSON)]:N:' \
            '--steps[only steps numbered A to B; A\: and \:B are open, A alone is one step]:A:B:' \
            '--rank[only this rank]:N:' \
            '--device[only the device of this number, on every rank]:N:' \
            '--from[only from this time after the first event on\: 10ms, 1.5s, 200us]:TIME:' \
            '--to[only up to this time after the first event]:TIME:' \
            '--tables[list the tables and their columns]' \
            '--as-ranks[the profiles are the ranks of one run, whatever they say of themselves]' \
            '--redact[remove host names, paths and names that users chose]' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--no-color[no colours, whatever the terminal]' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '1:word:(overview kernels transfers launches comm balance gaps input ops roofline startup python memory sequences counters machine all)' \
            '*:profile:_files' ;;
        diff) _arguments \
            '--json[print JSON, for programs]' \
            '--output[write to FILE, which is replaced when it is complete]:FILE:_files' \
            '--limit[rows of long lists; 0\: all (20 in text, 10000 in JSON)]:N:' \
            '--steps[only steps numbered A to B; A\: and \:B are open, A alone is one step]:A:B:' \
            '--steps-a[the same for side A alone]:A:B:' \
            '--steps-b[the same for side B alone]:A:B:' \
            '--rank[only this rank]:N:' \
            '--device[only the device of this number, on every rank]:N:' \
            '--from[only from this time after the first event on\: 10ms, 1.5s, 200us]:TIME:' \
            '--to[only up to this time after the first event]:TIME:' \
            '--fail-on[exit with 1 only if B is slower by this percentage (slower=10), or as severely]:WHAT:(slower high medium low never)' \
            '--force[compare profiles that are not comparable, too]' \
            '--as-ranks[the profiles are the ranks of one run, whatever they say of themselves]' \
            '--redact[remove host names, paths and names that users chose]' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--no-color[no colours, whatever the terminal]' \
            '--verbose[all evidence, every step, device and rule]' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        query) _arguments \
            '--json[print JSON, for programs]' \
            '--csv[print one table as comma-separated values]' \
            '--csv-raw[CSV without the '\'' before what a spreadsheet would take for a formula]' \
            '--output[write to FILE, which is replaced when it is complete]:FILE:_files' \
            '--limit[rows of long lists; 0\: all (20 in text, 10000 in JSON)]:N:' \
            '--rank[only this rank]:N:' \
            '--tables[list the tables and their columns]' \
            '--file[read the SQL from FILE; -\: from standard input]:FILE:_files' \
            '--timeout[stop the query after this time\: 10s, 5min; 0s\: never]:TIME:' \
            '--as-ranks[the profiles are the ranks of one run, whatever they say of themselves]' \
            '--redact[remove host names, paths and names that users chose]' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--no-color[no colours, whatever the terminal]' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        find) _arguments \
            '--json[print JSON, for programs]' \
            '--csv[print one table as comma-separated values]' \
            '--csv-raw[CSV without the '\'' before what a spreadsheet would take for a formula]' \
            '--output[write to FILE, which is replaced when it is complete]:FILE:_files' \
            '--limit[rows of long lists; 0\: all (20 in text, 10000 in JSON)]:N:' \
            '--steps[only steps numbered A to B; A\: and \:B are open, A alone is one step]:A:B:' \
            '--rank[only this rank]:N:' \
            '--device[only the device of this number, on every rank]:N:' \
            '--from[only from this time after the first event on\: 10ms, 1.5s, 200us]:TIME:' \
            '--to[only up to this time after the first event]:TIME:' \
            '--kind[only events of this kind\: kernel, memcpy, runtime, host_op, ...]:KIND:' \
            '--track[only on tracks of this name or id\: "stream 7", loader, 12]:TRACK:' \
            '--min-dur[only events that last at least this long]:TIME:' \
            '--max-dur[only events that last at most this long]:TIME:' \
            '--by-time[sort by start, not by duration]' \
            '--as-ranks[the profiles are the ranks of one run, whatever they say of themselves]' \
            '--redact[remove host names, paths and names that users chose]' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--no-color[no colours, whatever the terminal]' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--critical[only events on the critical path of the steps]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        export) _arguments \
            '--csv-raw[CSV without the '\'' before what a spreadsheet would take for a formula]' \
            '--output[write to FILE, which is replaced when it is complete]:FILE:_files' \
            '--steps[only steps numbered A to B; A\: and \:B are open, A alone is one step]:A:B:' \
            '--rank[only this rank]:N:' \
            '--device[only the device of this number, on every rank]:N:' \
            '--from[only from this time after the first event on\: 10ms, 1.5s, 200us]:TIME:' \
            '--to[only up to this time after the first event]:TIME:' \
            '--as-ranks[the profiles are the ranks of one run, whatever they say of themselves]' \
            '--redact[remove host names, paths and names that users chose]' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--args[the arguments of each event too, read again from the profile]' \
            '--list[list what there is to choose from]' \
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '1:word:(perfetto chrome xspace sqlite csv collapsed speedscope pprof)' \
            '*:profile:_files' ;;
        data) _arguments \
            '--output[write to FILE, which is replaced when it is complete]:FILE:_files' \
            '--threads[processors to use; 0\: all that this process may use]:N:' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--list[list what there is to choose from]' \
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        run) _arguments \
            '--steps[steps of the window that a profiler records (5)]:N:' \
            '--warmup[steps before the window (10)]:N:' \
            '--out[the run'\''s folder, new or empty (stoker-runs/ and the time)]:DIR:_files' \
            '--stop[end the job after the window]' \
            '--level[0\: no window, step times and waits alone; 1\: windows of the GPU alone, by CUPTI]:N:' \
            '--after[level 1 where no steps are seen\: from the start of CUDA to the window (5s); 0s\: at once]:TIME:' \
            '--for[level 1 where no steps are seen\: length of the window (2s); 0s\: to the end]:TIME:' \
            '--every[level 1\: from one window to the next (one window)]:TIME:' \
            '--input[the test of a free input\: cached (its first batches again and again) or synthetic (random ones)]:HOW:' \
            '--compare[with --input\: the run as it is beside which to set it (the newest of the same command)]:DIR:_files' \
            '--allow-checkpoints[with --input\: let the job write checkpoints all the same]' \
            '--json[the run'\''s figures as JSON, for programs, into FILE]:FILE:_files' \
            '--on-demand[let stoker capture record windows of the running job (PyTorch)]' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        top) _arguments \
            '--json[print JSON, for programs]' \
            '--interval[time between two looks\: 500ms, 10s (1s)]:TIME:' \
            '--once[one look, then end]' \
            '--no-color[no colours, whatever the terminal]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        capture) _arguments \
            '--duration[length of the window\: 500ms, 3s (3s)]:TIME:' \
            '--steps[a window of about so many steps, of a job under stoker run]:N:' \
            '--out[where the profile goes, new or empty (stoker-captures/ and the time)]:DIR:_files' \
            '--no-color[no colours, whatever the terminal]' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--help[this help]' ;;
        prove) _arguments \
            '--pairs[at most so many pairs of runs (12); no verdict from fewer than 4]:N:' \
            '--metric[what a run prints as its time, found in its lines; the first parenthesis is the number]:REGEX:' \
            '--rate[--metric finds a rate\: more of it is better]' \
            '--warmup[steps of a run that do not count (10); numbers of --metric (its first fifth)]:N:' \
            '--steps[end each run after so many steps, those of the warm-up among them]:N:' \
            '--whole[compare the time of the whole command, even where it makes steps]' \
            '--env[B runs with this variable set; may stand several times]:K=V:' \
            '--fix[B is A with this fix of stoker tune\: torch.dataloader.num_workers=2]:ID=VALUE:' \
            '--predict[what B is meant to be, as a what-if (input-free)\: its price from A'\''s profile stands beside]:FIX:' \
            '--no-profile[do not record a window of each side afterwards to see whether the cause shrank]' \
            '--before[folders of stoker run from before the change, in the place of new runs]:DIR,...:' \
            '--after[as many from after it]:DIR,...:' \
            '--ledger[write the proof'\''s line into this file; none\: into none]:FILE:_files' \
            '--timeout[end a run that takes longer\: 10s, 5min]:TIME:' \
            '--json[JSON for programs, into FILE; -\: to standard output, in place of the text]:FILE:_files' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        ledger) _arguments \
            '--json[print JSON, for programs]' \
            '--limit[rows of long lists; 0\: all (20 in text, 10000 in JSON)]:N:' \
            '--file[this ledger, not the user'\''s own]:FILE:_files' \
            '--help[this help]' ;;
        tune) _arguments \
            '--ledger[write the proof'\''s line into this file; none\: into none]:FILE:_files' \
            '--timeout[end a run that takes longer\: 10s, 5min]:TIME:' \
            '--out[the run'\''s folder, new or empty (stoker-runs/ and the time)]:DIR:_files' \
            '--budget[how long to try (10)]:MINUTES:' \
            '--steps[steps that a run is measured for (as many as take three seconds)]:N:' \
            '--warmup[steps before these (10)]:N:' \
            '--fix[try these fixes alone\: torch.compile, or all of torch.dataloader]:ID,...:' \
            '--allow[try fixes that change what is computed, too]:numerics:' \
            '--loss[what a run prints as its loss, where the hooks see none; the first parenthesis is the number]:REGEX:' \
            '--json[JSON for programs, into FILE; -\: to standard output, in place of the text]:FILE:_files' \
            '--quiet[the verdict'\''s sentence alone, and no progress]' \
            '--help[this help]' \
            '*:profile:_files' ;;
        explain) _arguments \
            '--fixes[list the fixes\: which are priced (P), which can be tried (T)]' \
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '1:word:(capture-dropped capture-no-device capture-few-steps capture-serialized capture-clock capture-unlinked capture-overhead python-not-recorded cold-start compile-recurring input-wait host-bound host-sync transfer-exposed communication-exposed all-reduce-slow straggler long-steps processors-short cgroup-throttled disk-busy memory-short one-thread gpu-clocks gpu-utilisation tensor-cores-unused elementwise-unfused layout-changes small-grid step-too-small devices-in-turn launches-staggered data-parallel python-gc memory-low compute-bound mixed cannot-tell all-reduce-slow.bytes all-reduce-slow.jax-merge all-reduce-slow.link all-reduce-slow.settings cannot-tell.alone cannot-tell.batches cannot-tell.copy cannot-tell.cuda-device cannot-tell.cuda-host cannot-tell.jax-device cannot-tell.jax-steps cannot-tell.other cannot-tell.profile cannot-tell.ranks cannot-tell.tf-device cannot-tell.tf-steps cannot-tell.torch-device cannot-tell.torch-metrics cannot-tell.whole capture-clock.care capture-clock.recent-pytorch capture-clock.synchronise capture-dropped.copy capture-dropped.cuda capture-dropped.error capture-dropped.export capture-dropped.jax capture-dropped.level-1 capture-dropped.tf capture-dropped.torch capture-few-steps.jax capture-few-steps.keras capture-few-steps.mark capture-few-steps.nvtx capture-few-steps.tf capture-few-steps.torch capture-no-device.alone capture-no-device.elsewhere capture-no-device.jax capture-no-device.nsys capture-no-device.tf capture-no-device.torch capture-no-device.where capture-overhead.compare capture-overhead.cuda capture-overhead.device-alone capture-overhead.jax capture-overhead.steps capture-overhead.tf capture-overhead.torch capture-serialized.blocking-launches capture-serialized.cuda-wait capture-serialized.jax-blocks capture-serialized.tf-eager capture-serialized.torch-sync capture-unlinked.cuda capture-unlinked.jax capture-unlinked.tf capture-unlinked.torch capture-unlinked.window cgroup-throttled.fewer-threads cgroup-throttled.raise-limit cold-start.context cold-start.cuda-skip cold-start.cudnn cold-start.jax-skip cold-start.modules cold-start.tf-cache cold-start.tf-skip cold-start.torch-inductor-cache cold-start.torch-skip communication-exposed.balance communication-exposed.cuda communication-exposed.ddp communication-exposed.ddp-host communication-exposed.engine communication-exposed.exchange communication-exposed.fsdp communication-exposed.link communication-exposed.link-host communication-exposed.mpi communication-exposed.no-sync communication-exposed.own-call communication-exposed.ranks communication-exposed.root communication-exposed.tf communication-exposed.tf-cross communication.merge.pytorch communication.merge.tensorflow compile-recurring.cuda-graphs compile-recurring.cudnn-benchmark compile-recurring.jax-find compile-recurring.jax-shapes compile-recurring.jax-static compile-recurring.keras-compile compile-recurring.tf-export compile-recurring.tf-signature compile-recurring.tf-xla-shapes compile-recurring.torch-shapes compute-bound.align compute-bound.batch compute-bound.cpu compute-bound.cpu-next compute-bound.cuda compute-bound.jax-precision compute-bound.next compute-bound.tf-cpu compute-bound.tf-fuse compute-bound.tf-precision compute-bound.torch-cpu compute-bound.torch-fuse compute-bound.torch-precision data-parallel.sampler devices-in-turn.any devices-in-turn.ddp devices-in-turn.jax devices-in-turn.tf devices-in-turn.torch-pipeline disk-busy.faster-disk disk-busy.read-less elementwise-unfused.cuda elementwise-unfused.jax elementwise-unfused.tf elementwise-unfused.torch gpu-clocks.cap gpu-clocks.heat gpu-utilisation.judge-otherwise grain.workers host-bound.answer host-bound.batch host-bound.cuda-alloc host-bound.cuda-launch host-bound.graph-nodes host-bound.jax-alloc host-bound.jax-callback host-bound.jax-eager host-bound.jax-launch host-bound.jax-nnx host-bound.jax-no-jit host-bound.jax-python host-bound.jax-save host-bound.keras-around host-bound.keras-predict host-bound.keras-save host-bound.keras-short-calls host-bound.own host-bound.python host-bound.record host-bound.tf-alloc host-bound.tf-around host-bound.tf-calls-python host-bound.tf-concat host-bound.tf-constant host-bound.tf-function host-bound.tf-loop host-bound.tf-placement host-bound.tf-python host-bound.tf-rounds host-bound.tf-save host-bound.tf-scale host-bound.tf-scale-fixed host-bound.tf-summary host-bound.tf-while host-bound.tf-writes host-bound.tf-xla host-bound.torch-alloc host-bound.torch-compile host-bound.torch-graphs host-bound.torch-opt host-bound.torch-python host-bound.torch-save host-bound.wait host-sync.cuda host-sync.free host-sync.item host-sync.jax host-sync.jax-find host-sync.shape host-sync.tf host-sync.torch-copy host-sync.torch-find host-sync.torch-sync input-wait.at-once input-wait.collate input-wait.even input-wait.grain input-wait.grain-workers input-wait.hand-over input-wait.handing input-wait.held-open input-wait.item input-wait.iterable input-wait.jax-jit input-wait.jax-lists input-wait.jax-processes input-wait.keras-processes input-wait.loader input-wait.own-code input-wait.own-loop input-wait.own-sampler input-wait.own-thread input-wait.proof input-wait.sampler input-wait.short-batch input-wait.tf-apart input-wait.tf-augment input-wait.tf-batch input-wait.tf-cached input-wait.tf-device input-wait.tf-even input-wait.tf-filter input-wait.tf-group input-wait.tf-iterator input-wait.tf-parallel input-wait.tf-python input-wait.tf-shard input-wait.tf-small input-wait.tf-windows input-wait.tfdata input-wait.torch-at-once input-wait.torch-even input-wait.torch-iterator input-wait.torch-own-samples input-wait.trace-workers input-wait.whole-batch jax.compilation_cache jax.prefetch jax.xla_latency_hiding_scheduler keras.pydataset.workers keras.run_eagerly keras.steps_per_execution launches-staggered.cuda launches-staggered.ddp launches-staggered.jax launches-staggered.tf layout-changes.jax layout-changes.tf layout-changes.torch long-steps.input long-steps.other long-steps.periodic long-steps.sampler long-steps.shuffle memory-low.batch memory-low.jax-look memory-low.tf-look memory-low.torch-look memory-short.use-less mixed.one-by-one one-thread.elsewhere one-thread.tf-map one-thread.torch-workers process.numa processors-short.more processors-short.torch-workers python-gc.calls python-gc.freeze python-gc.rarely python-not-recorded.give-back record.python.jax record.python.pytorch record.python.tensorflow record.start-before-the-steps small-grid.batch small-grid.jax-vmap small-grid.look small-grid.tf-vmap small-grid.torch-vmap step-too-small.batch step-too-small.hide-device step-too-small.jax-host step-too-small.tf-host step-too-small.torch-host stoker-data.ahead stoker-data.batch stoker-data.cheaper-map stoker-data.decode stoker-data.decode-less stoker-data.files stoker-data.map stoker-data.native-map stoker-data.prefetch stoker-data.read straggler.alone straggler.device straggler.input straggler.record straggler.tf straggler.torch straggler.work tensor-cores-unused.cublas tensor-cores-unused.jax tensor-cores-unused.jax-left-out tensor-cores-unused.look tensor-cores-unused.tf tensor-cores-unused.tf-left-out tensor-cores-unused.torch tensor-cores-unused.torch-left-out tensorflow.replica-packs tf.gpu_thread_mode tfdata.interleave tfdata.map tfdata.prefetch torch.anomaly-detection torch.compile torch.dataloader.num_workers torch.dataloader.pin_memory torch.distributed-data-parallel torch.whole-sequence torch.whole-tensors transfer-exposed.back transfer-exposed.cuda-pin transfer-exposed.jax-ahead transfer-exposed.merge transfer-exposed.offload transfer-exposed.peers transfer-exposed.smaller transfer-exposed.tf-ahead transfer-exposed.torch-back transfer-exposed.torch-pin transfer-exposed.tpu transfer-exposed.within)' ;;
        formats) _arguments \
            '--markdown[as a markdown page]' \
            '--help[this help]' ;;
        schema) _arguments \
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '1:word:(report jobs table diff whatif tune proof ledger live)' ;;
        doctor) _arguments \
            '--help[this help]' ;;
        completion) _arguments \
            '--help[this help]' \
            '1:word:(bash zsh fish)' ;;
        help) _arguments \
            '--markdown[as a markdown page]' \
            '--man[as a man page (roff)]' \
            '--help[this help]' \
            '1:word:(why whatif view report stats diff query find export data run top capture prove ledger tune explain formats schema doctor completion help)' ;;
    esac
}
_stoker "$@"
