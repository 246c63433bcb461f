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
        'explain:explain a rule\: when it fires, why it matters, what to do'
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
            '--fix[price these fixes, all of them at once\: input-free, input-faster=2]:ID,...:' \
            '--with-batch[a profile of the same job with F times the batch, for --fix batch=N]:F=FILE:' \
            '--target[find the fixes that bring a step to this time\: 50ms]:TIME:' \
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
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '1:word:(capture-dropped capture-no-device capture-few-steps capture-serialized capture-clock capture-unlinked capture-overhead python-not-recorded cold-start compile-recurring input-wait host-bound host-sync transfer-exposed communication-exposed all-reduce-slow straggler long-steps processors-short cgroup-throttled disk-busy memory-short one-thread gpu-clocks gpu-utilisation tensor-cores-unused elementwise-unfused layout-changes small-grid step-too-small devices-in-turn launches-staggered data-parallel python-gc memory-low compute-bound mixed cannot-tell)' ;;
        formats) _arguments \
            '--markdown[as a markdown page]' \
            '--help[this help]' ;;
        schema) _arguments \
            '--markdown[as a markdown page]' \
            '--help[this help]' \
            '1:word:(report table diff whatif tune proof ledger live)' ;;
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
