/* abi TEMPLATE: writes docs/abi.md: the template, with tables made from the kernel's table of
 * system calls. */
#include <asm/unistd_64.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/program/syscall_names.h"

#define NUMBERS 512u
#define LINE_BYTES 160u /* of a list of names */

enum support { ABSENT, FULL, PARTIAL, NONE, SUPPORTS };

static const struct call {
    enum support support;
    const char *note;
} calls[NUMBERS] = {
#define SYSCALL(name, handler, support, note) [__NR_##name] = {support, note},
#include "lib/program/syscall_table.h"
#undef SYSCALL
};

/* A call that the table does not have, or has as NONE, is not supported. */
static enum support support_of(unsigned number)
{
    return calls[number].support == ABSENT ? NONE : calls[number].support;
}

static int check(void)
{
    int status = 0;

    for (unsigned i = 0; i < NUMBERS; i++) {
        if ((calls[i].support == FULL && calls[i].note != NULL) ||
            ((calls[i].support == PARTIAL || calls[i].support == NONE) && calls[i].note == NULL)) {
            fprintf(stderr, "abi: %s: a note says what is missing or why, and only that\n",
                    syscall_name(i));
            status = 1;
        }
    }
    return status;
}

static void print_counts(void)
{
    unsigned counts[SUPPORTS] = {0};

    for (unsigned i = 0; i < NUMBERS; i++)
        if (syscall_name(i) != NULL)
            counts[support_of(i)]++;
    printf(
        "Of the %u system calls of Linux 6.1 on x86-64, %u are supported, %u in part and %u not.\n",
        counts[FULL] + counts[PARTIAL] + counts[NONE], counts[FULL], counts[PARTIAL], counts[NONE]);
}

/* Names as running text, broken into lines. */
static void print_names(bool (*wanted)(unsigned number))
{
    unsigned column = 0;
    const char *separator = "";

    for (unsigned i = 0; i < NUMBERS; i++) {
        const char *name = syscall_name(i);
        if (name == NULL || !wanted(i))
            continue;
        if (column + strlen(name) + 4 > LINE_BYTES / 4 * 3) {
            printf("%s\n", separator);
            separator = "";
            column = 0;
        }
        column += (unsigned)printf("%s%s`%s`", separator, *separator ? " " : "", name);
        separator = ",";
    }
    printf("\n");
}

static bool is_full(unsigned number)
{
    return support_of(number) == FULL;
}

static bool is_absent(unsigned number)
{
    return calls[number].support == ABSENT;
}

static void print_notes(enum support support)
{
    printf("| Number | Call | %s |\n|---:|---|---|\n",
           support == PARTIAL ? "What is missing" : "Why, and what the program gets");
    for (unsigned i = 0; i < NUMBERS; i++)
        if (syscall_name(i) != NULL && calls[i].support == support)
            printf("| %u | `%s` | %s |\n", i, syscall_name(i), calls[i].note ? calls[i].note : "");
}

static void print_full(void)
{
    print_names(is_full);
}

static void print_partial(void)
{
    print_notes(PARTIAL);
}

static void print_none(void)
{
    print_notes(NONE);
}

static void print_absent(void)
{
    print_names(is_absent);
}

static const struct {
    const char *line;
    void (*print)(void);
} parts[] = {
    {"@COUNTS@\n", print_counts}, {"@FULL@\n", print_full},     {"@PARTIAL@\n", print_partial},
    {"@NONE@\n", print_none},     {"@ABSENT@\n", print_absent},
};

static void put(const char *line)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(line, parts[i].line) == 0) {
            parts[i].print();
            return;
        }
    }
    fputs(line, stdout);
}

int main(int argc, char **argv)
{
    char line[4096];
    FILE *template = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (template == NULL) {
        fprintf(stderr, "usage: abi TEMPLATE%s%s\n", argc == 2 ? ": " : "",
                argc == 2 ? strerror(errno) : "");
        return 2;
    }
    while (fgets(line, sizeof line, template) != NULL)
        put(line);
    fclose(template);
    return check();
}
