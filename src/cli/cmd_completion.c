// SPDX-License-Identifier: Apache-2.0
// stoker completion: what a shell needs to complete commands, options and their values.
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/cli.h"
#include "stoker/export.h"

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static void words(const char *const *list, const char *between)
{
    for (int i = 0; list[i]; i++) {
        printf("%s%s", i ? between : "", list[i]);
    }
}

// The words that may follow a command, besides options; the shell completes files.
static void completed_words(const struct stk_cmd *cmd)
{
    const char *what = cmd->completes ? cmd->completes : "";
    if (strcmp(what, "rules") == 0) {
        for (size_t i = 0; stoker_rule_id(i); i++) {
            printf("%s%s", i ? " " : "", stoker_rule_id(i));
        }
        for (size_t i = 0; stoker_fix_id(i); i++) {
            printf(" %s", stoker_fix_id(i));
        }
    } else if (strcmp(what, "commands") == 0) {
        for (int i = 0; stk_cmds[i]; i++) {
            printf("%s%s", i ? " " : "", stk_cmds[i]->name);
        }
    } else if (strcmp(what, "schemas") == 0) {
        for (size_t i = 0; stoker_schema_name(i); i++) {
            printf("%s%s", i ? " " : "", stoker_schema_name(i));
        }
    } else if (strcmp(what, "shells") == 0) {
        words(shells, " ");
    } else if (strcmp(what, "analyses") == 0) {
        for (size_t i = 0; stoker_analysis_name(i); i++) {
            printf("%s%s", stoker_analysis_name(i), stoker_analysis_name(i + 1) ? " " : " all");
        }
    } else if (strcmp(what, "exports") == 0) {
        struct stoker_export_format format;
        for (size_t i = 0; stoker_export_format(i, &format); i++) {
            printf("%s%s", i ? " " : "", format.name);
        }
    }
}

static bool takes_files(const struct stk_cmd *cmd)
{
    return cmd->completes &&
           (strcmp(cmd->completes, "files") == 0 || strcmp(cmd->completes, "analyses") == 0 ||
            strcmp(cmd->completes, "exports") == 0);
}

static void bash_command(const struct stk_cmd *cmd)
{
    printf("        %s) words=\"", cmd->name);
    completed_words(cmd);
    printf("\"; options=\"");
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        if (stk_cmd_takes(cmd, (enum stk_opt_id)id)) {
            printf("--%s ", stk_opts[id].name);
        }
    }
    printf("\"; files=%d ;;\n", takes_files(cmd));
}

// The words of an option, which may differ between commands. `id`: its first row.
static void bash_choices(const char *name, int id)
{
    STK_ASSERT(id >= 0 && id < STK_OPT_ID_COUNT);
    for (int before = 0; before < id; before++) {
        if (strcmp(stk_opts[before].name, name) == 0) {
            return;
        }
    }
    printf("        --%s) case \"$command\" in", name);
    for (int i = 0; stk_cmds[i]; i++) {
        for (int k = id; k < STK_OPT_ID_COUNT; k++) {
            if (strcmp(stk_opts[k].name, name) != 0 ||
                !stk_cmd_takes(stk_cmds[i], (enum stk_opt_id)k)) {
                continue;
            }
            printf(" %s) COMPREPLY=($(compgen -W \"", stk_cmds[i]->name);
            words(stk_opt_choices(&stk_opts[k]), " ");
            printf("\" -- \"$word\")) ;;");
        }
    }
    printf(" esac; return ;;\n");
}

// Only for the commands that take this row: elsewhere an option of that name may have no value.
static void bash_files(const struct stk_opt *opt, enum stk_opt_id id)
{
    STK_ASSERT((unsigned)id < STK_OPT_ID_COUNT);
    printf("        --%s", opt->name);
    if (opt->letter) {
        printf("|-%c", opt->letter);
    }
    printf(") case \"$command\" in ");
    const char *between = "";
    for (int i = 0; stk_cmds[i]; i++) {
        if (stk_cmd_takes(stk_cmds[i], id)) {
            printf("%s%s", between, stk_cmds[i]->name);
            between = "|";
        }
    }
    printf(") mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;; esac ;;\n");
}

// Files are read line by line (mapfile): names may contain spaces and asterisks.
static void bash(void)
{
    printf("# bash completion of stoker. Source this file, or save it as\n"
           "# ~/.local/share/bash-completion/completions/stoker\n"
           "_stoker() {\n"
           "    local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" i "
           "command=\n"
           "    local words= options= files=0\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case \"${COMP_WORDS[i]}\" in -*) ;; *) command=\"${COMP_WORDS[i]}\"; break ;; "
           "esac\n"
           "    done\n"
           "    case \"$before\" in\n");
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        const char *const *choices = stk_opt_choices(&stk_opts[id]);
        if (choices) {
            bash_choices(stk_opts[id].name, id);
        } else if (stk_opts[id].kind == STK_OPT_FILE) {
            bash_files(&stk_opts[id], (enum stk_opt_id)id);
        }
    }
    printf("    esac\n    case \"$command\" in\n        \"\") words=\"");
    for (int i = 0; stk_cmds[i]; i++) {
        printf("%s ", stk_cmds[i]->name);
    }
    printf("\"; options=\"--help --version\" ;;\n");
    for (int i = 0; stk_cmds[i]; i++) {
        bash_command(stk_cmds[i]);
    }
    printf(
        "    esac\n"
        "    case \"$word\" in\n"
        "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
        "        *) COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "           [ $files = 0 ] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "
        "\"$word\") ;;\n"
        "    esac\n"
        "}\n"
        "complete -o filenames -F _stoker stoker\n");
}

// Text inside single quotes in zsh and fish; in zsh, brackets and colons are special.
static void quoted(const char *text, bool zsh)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs(zsh ? "'\\''" : "\\'", stdout);
        } else if (zsh && (*text == '[' || *text == ']' || *text == ':')) {
            printf("\\%c", *text);
        } else {
            putchar(*text);
        }
    }
}

static void zsh_options(const struct stk_cmd *cmd)
{
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        const struct stk_opt *o = &stk_opts[id];
        if (!stk_cmd_takes(cmd, (enum stk_opt_id)id)) {
            continue;
        }
        printf(" \\\n            '--%s[", o->name);
        quoted(o->help, true);
        putchar(']');
        const char *const *choices = stk_opt_choices(o);
        if (o->arg) {
            printf(":%s:", o->arg);
        }
        if (choices) {
            putchar('(');
            words(choices, " ");
            putchar(')');
        } else if (o->kind == STK_OPT_FILE) {
            printf("_files");
        }
        putchar('\'');
    }
}

static void zsh(void)
{
    printf("#compdef stoker\n# zsh completion of stoker. Save it as _stoker in a folder of $fpath\n"
           "_stoker() {\n"
           "    local -a commands\n    commands=(\n");
    for (int i = 0; stk_cmds[i]; i++) {
        printf("        '%s:", stk_cmds[i]->name);
        quoted(stk_cmds[i]->summary, true);
        printf("'\n");
    }
    printf("    )\n"
           "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n  "
           "  fi\n"
           "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command "
           "in\n");
    for (int i = 0; stk_cmds[i]; i++) {
        printf("        %s) _arguments", stk_cmds[i]->name);
        zsh_options(stk_cmds[i]);
        if (stk_cmds[i]->completes && strcmp(stk_cmds[i]->completes, "files") == 0) {
            printf(" \\\n            '*:profile:_files'");
        } else if (stk_cmds[i]->completes) {
            printf(" \\\n            '1:word:(");
            completed_words(stk_cmds[i]);
            printf(")'%s", takes_files(stk_cmds[i]) ? " \\\n            '*:profile:_files'" : "");
        }
        printf(" ;;\n");
    }
    printf("    esac\n}\n_stoker \"$@\"\n");
}

static void fish_options(const struct stk_cmd *cmd)
{
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        const struct stk_opt *o = &stk_opts[id];
        const char *const *choices = stk_opt_choices(o);
        if (!stk_cmd_takes(cmd, (enum stk_opt_id)id)) {
            continue;
        }
        printf("complete -c stoker -n '__fish_seen_subcommand_from %s' -l %s", cmd->name, o->name);
        if (o->letter) {
            printf(" -s %c", o->letter);
        }
        if (o->arg) {
            printf(o->kind == STK_OPT_FILE ? " -rF" : " -x");
        }
        if (choices) {
            printf(" -a '");
            words(choices, " ");
            putchar('\'');
        }
        printf(" -d '");
        quoted(o->help, false);
        printf("'\n");
    }
}

static void fish(void)
{
    printf("# fish completion of stoker. Save it as ~/.config/fish/completions/stoker.fish\n"
           "complete -c stoker -f\n");
    for (int i = 0; stk_cmds[i]; i++) {
        const struct stk_cmd *cmd = stk_cmds[i];
        printf("complete -c stoker -n __fish_use_subcommand -a %s -d '", cmd->name);
        quoted(cmd->summary, false);
        printf("'\n");
        if (cmd->completes && strcmp(cmd->completes, "files") == 0) {
            printf("complete -c stoker -n '__fish_seen_subcommand_from %s' -F\n", cmd->name);
        } else if (cmd->completes) {
            printf("complete -c stoker -n '__fish_seen_subcommand_from %s' -a '", cmd->name);
            completed_words(cmd);
            printf("'\n");
            if (takes_files(cmd)) {
                printf("complete -c stoker -n '__fish_seen_subcommand_from %s' -F\n", cmd->name);
            }
        }
        fish_options(cmd);
    }
}

static int completion_run(const struct stk_args *args)
{
    const char *shell = args->words[0];
    if (strcmp(shell, "bash") == 0) {
        bash();
    } else if (strcmp(shell, "zsh") == 0) {
        zsh();
    } else if (strcmp(shell, "fish") == 0) {
        fish();
    } else {
        return stk_usage(&stk_cmd_completion, "no completion for '%s': choose bash, zsh or fish",
                         shell);
    }
    return STK_EXIT_DONE;
}

const struct stk_cmd stk_cmd_completion = {
    .name = "completion",
    .summary = "print a shell completion script",
    .words = "SHELL",
    .description = "Prints a completion script for bash, zsh or fish.",
    .examples = "source <(stoker completion bash)\tbash, for this session\n"
                "stoker completion fish | source\tfish, for this session\n",
    .min_words = 1,
    .max_words = 1,
    .options = {STK_OPT_ID_NONE},
    .completes = "shells",
    .run = completion_run,
};
