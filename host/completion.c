/* Gets each command's help and writes its options as completions for a shell. */
#include "host/completion.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/error.h"

#define NAME_BYTES 32
#define LINE_BYTES 512

struct option {
    char letter; /* 0: none */
    char name[NAME_BYTES]; /* without the dashes */
    bool argument; /* it has an argument */
};

typedef void each_option(const struct option *option);

struct shell {
    const char *name;
    const char *begin, *end;
    void (*command)(const struct command *command); /* announces a command */
    const char *options_begin; /* for a command; %s is its name */
    each_option *option;
};

/* ---- what argp's --help says */

/* Parses "  -o, --output=FILE   words" and "      --force   words"; a text further right is not an
 * option. */
static bool parse_line(const char *line, struct option *option)
{
    const char *name = strstr(line, "--");
    size_t bytes;

    if (strncmp(line, "  -", 3) != 0 && strncmp(line, "      --", 8) != 0)
        return false;
    if (name == NULL || name - line > 6)
        return false;
    *option = (struct option){.letter = line[2] == '-' ? line[3] : 0};
    name += 2;
    bytes = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if (bytes == 0 || bytes >= NAME_BYTES)
        return false;
    memcpy(option->name, name, bytes);
    option->argument = name[bytes] == '=';
    return true;
}

/* Runs a command's help in a child, because argp exits afterwards. */
static FILE *open_help(const struct command *command, pid_t *child)
{
    char name[NAME_BYTES], help[] = "--help";
    char *argv[] = {name, help, NULL};
    int ends[2];

    snprintf(name, sizeof name, "hr %s", command->name);
    fflush(stdout);
    if (pipe(ends) != 0)
        return NULL;
    *child = fork();
    if (*child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        unsetenv("ARGP_HELP_FMT"); /* it would move columns */
        exit(command->run(2, argv));
    }
    close(ends[1]);
    if (*child > 0)
        return fdopen(ends[0], "r");
    close(ends[0]);
    return NULL;
}

static int list_options(const struct command *command, each_option *each)
{
    char line[LINE_BYTES];
    struct option option;
    pid_t child = -1;
    FILE *help = open_help(command, &child);
    int status = -1;

    if (help != NULL) {
        while (fgets(line, sizeof line, help) != NULL)
            if (parse_line(line, &option))
                each(&option);
        fclose(help);
    }
    if (child > 0)
        (void)waitpid(child, &status, 0);
    return status == 0 ? 0 : -1;
}

/* ---- the shells */

static void print_word(const struct command *command)
{
    printf(" %s", command->name);
}

static void print_long(const struct option *option)
{
    printf(" --%s", option->name);
}

/* Prints text in single quotes of fish or of a POSIX shell. */
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text != 0; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

static void print_fish_command(const struct command *command)
{
    printf("complete -c hr -n __fish_use_subcommand -f -a %s -d ", command->name);
    print_quoted(command->summary);
    putchar('\n');
}

static void print_fish_option(const struct option *option)
{
    printf("complete -c hr -n \"__fish_seen_subcommand_from $hr_command\" -l %s", option->name);
    if (option->letter != 0 && option->letter != '?')
        printf(" -s %c", option->letter);
    fputs(option->argument ? " -r\n" : "\n", stdout);
}

static const struct shell shells[] = {
    {
        .name = "bash",
        .begin = "# Completion of hr for bash, made by 'hr completion bash'.\n"
                 "_hr() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
                 "    case $COMP_CWORD.${COMP_WORDS[1]} in\n"
                 "    1.*) words='help",
        .command = print_word,
        .options_begin = "' ;;\n    *.%s) words='",
        .option = print_long,
        .end = "' ;;\n"
               "    esac\n"
               "    COMPREPLY=()\n"
               "    if [ \"$COMP_CWORD\" = 1 ] || [ \"${word:0:1}\" = - ]; then\n"
               "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
               "    fi\n"
               "}\n"
               "complete -o bashdefault -o default -F _hr hr\n",
    },
    {
        .name = "zsh",
        .begin = "#compdef hr\n"
                 "# Completion of hr for zsh, made by 'hr completion zsh'.\n"
                 "_hr() {\n"
                 "    if (( CURRENT == 2 )); then\n"
                 "        compadd -- help",
        .command = print_word,
        .options_begin = "\n        return\n    fi\n    if [[ $words[2] == %s && $PREFIX == -* ]]; "
                         "then\n        compadd --",
        .option = print_long,
        .end = "\n        return\n    fi\n    _files\n}\n_hr \"$@\"\n",
    },
    {
        .name = "fish",
        .begin = "# Completion of hr for fish, made by 'hr completion fish'.\n",
        .command = print_fish_command,
        .options_begin = "set hr_command %s\n",
        .option = print_fish_option,
        .end = "set -e hr_command\n",
    },
};

static int print(const struct shell *shell, const struct command *const *commands, size_t count)
{
    fputs(shell->begin, stdout);
    for (size_t i = 0; i < count; i++)
        shell->command(commands[i]);
    for (size_t i = 0; i < count; i++) {
        const char *name = strstr(shell->options_begin, "%s");

        printf("%.*s%s%s", (int)(name - shell->options_begin), shell->options_begin,
               commands[i]->name, name + 2);
        if (list_options(commands[i], shell->option) != 0)
            return error_exit(HR_EXIT_FAILED, "completion: 'hr %s --help' failed",
                              commands[i]->name);
    }
    fputs(shell->end, stdout);
    return HR_EXIT_OK;
}

int completion_command(const struct command *const *commands, size_t count, int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(argv[1], shells[i].name) == 0)
            return print(&shells[i], commands, count);
    return error_exit(HR_EXIT_USAGE, "completion: name a shell: hr completion bash, zsh or fish");
}
