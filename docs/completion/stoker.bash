# bash completion of stoker; source it, or put it into
# ~/.local/share/bash-completion/completions/stoker
_stoker() {
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" i command=
    local words= options= files=0
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${COMP_WORDS[i]}" in -*) ;; *) command="${COMP_WORDS[i]}"; break ;; esac
    done
    case "$before" in
        --format) case "$command" in why) COMPREPLY=($(compgen -W "text json" -- "$word")) ;; esac; return ;;
        --output|-o) case "$command" in why|whatif|stats|diff|query|find|export|data) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --file|-f) case "$command" in query) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --fail-on) case "$command" in why) COMPREPLY=($(compgen -W "high medium low" -- "$word")) ;; diff) COMPREPLY=($(compgen -W "slower high medium low never" -- "$word")) ;; esac; return ;;
        --ledger) case "$command" in prove|tune) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --file|-f) case "$command" in ledger) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --out) case "$command" in run|tune) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --compare) case "$command" in run) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --json) case "$command" in run) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --json) case "$command" in prove|tune) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --out) case "$command" in capture) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --html) case "$command" in report) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
        --ui-dir) case "$command" in view) COMPREPLY=($(compgen -f -- "$word")); return ;; esac ;;
    esac
    case "$command" in
        "") words="why whatif view report stats diff query find export data run top capture prove ledger tune explain formats schema doctor completion help "; options="--help --version" ;;
        why) words=""; options="--json --format --output --limit --steps --rank --device --from --to --fail-on --redact --threads --no-color --verbose --quiet --help "; files=1 ;;
        whatif) words=""; options="--json --output --steps --rank --device --from --to --fix --with-batch --target --redact --threads --no-color --verbose --quiet --list --critical --help "; files=1 ;;
        view) words=""; options="--redact --threads --quiet --port --host --no-open --no-cache --ui-dir --help "; files=1 ;;
        report) words=""; options="--steps --rank --device --from --to --redact --threads --quiet --html --help "; files=1 ;;
        stats) words="overview kernels transfers launches comm balance gaps input ops roofline startup python memory sequences counters machine all"; options="--json --csv --csv-raw --table --by --output --limit --steps --rank --device --from --to --tables --redact --threads --no-color --quiet --markdown --help "; files=1 ;;
        diff) words=""; options="--json --output --limit --steps --steps-a --steps-b --rank --device --from --to --fail-on --force --redact --threads --no-color --verbose --quiet --markdown --help "; files=1 ;;
        query) words=""; options="--json --csv --csv-raw --output --limit --rank --tables --file --timeout --redact --threads --no-color --quiet --markdown --help "; files=1 ;;
        find) words=""; options="--json --csv --csv-raw --output --limit --steps --rank --device --from --to --kind --track --min-dur --max-dur --by-time --redact --threads --no-color --quiet --critical --help "; files=1 ;;
        export) words="perfetto chrome xspace sqlite csv collapsed speedscope pprof"; options="--csv-raw --output --steps --rank --device --from --to --redact --threads --quiet --args --list --markdown --help "; files=1 ;;
        data) words=""; options="--output --threads --quiet --list --markdown --help "; files=1 ;;
        run) words=""; options="--steps --warmup --out --stop --level --after --for --every --input --compare --allow-checkpoints --json --on-demand --quiet --help "; files=1 ;;
        top) words=""; options="--json --interval --once --no-color --help "; files=1 ;;
        capture) words=""; options="--duration --steps --out --no-color --quiet --help "; files=0 ;;
        prove) words=""; options="--pairs --metric --rate --warmup --steps --whole --env --fix --predict --no-profile --before --after --ledger --timeout --json --quiet --markdown --help "; files=1 ;;
        ledger) words=""; options="--json --limit --file --help "; files=0 ;;
        tune) words=""; options="--ledger --timeout --out --budget --steps --warmup --fix --allow --loss --json --quiet --help "; files=1 ;;
        explain) words="capture-dropped capture-no-device capture-few-steps capture-serialized capture-clock capture-unlinked capture-overhead python-not-recorded cold-start compile-recurring input-wait host-bound host-sync transfer-exposed communication-exposed all-reduce-slow straggler long-steps processors-short cgroup-throttled disk-busy memory-short one-thread gpu-clocks gpu-utilisation tensor-cores-unused elementwise-unfused layout-changes small-grid step-too-small devices-in-turn launches-staggered data-parallel python-gc memory-low compute-bound mixed cannot-tell"; options="--markdown --help "; files=0 ;;
        formats) words=""; options="--markdown --help "; files=0 ;;
        schema) words="report table diff whatif tune proof ledger live"; options="--markdown --help "; files=0 ;;
        doctor) words=""; options="--help "; files=0 ;;
        completion) words="bash zsh fish"; options="--help "; files=0 ;;
        help) words="why whatif view report stats diff query find export data run top capture prove ledger tune explain formats schema doctor completion help"; options="--markdown --man --help "; files=0 ;;
    esac
    case "$word" in
        -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
        *) COMPREPLY=($(compgen -W "$words" -- "$word"))
           [ $files = 0 ] || COMPREPLY+=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _stoker stoker
