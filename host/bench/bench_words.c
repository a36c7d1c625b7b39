/* Divides, joins and fills commands. */
#include "host/bench/bench_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"

/* The parameter named at "{name}", or NULL. */
static const struct bench_parameter *named(const char *text, const struct bench_parameters *p)
{
    size_t bytes = strcspn(text + 1, "}");

    for (size_t i = 0; text[0] == '{' && text[1 + bytes] == '}' && i < p->count; i++)
        if (strlen(p->all[i].name) == bytes && strncmp(p->all[i].name, text + 1, bytes) == 0)
            return &p->all[i];
    return NULL;
}

char *bench_words_fill(const char *text, const struct bench_parameters *p, size_t combination)
{
    char *filled = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&filled, &bytes);

    if (out == NULL)
        return NULL;
    while (*text != 0 && ftell(out) <= (long)BENCH_TEXT_MAX) {
        const struct bench_parameter *parameter = named(text, p);

        if (parameter == NULL) {
            fputc(*text++, out);
            continue;
        }
        fputs(bench_parameters_value(p, (size_t)(parameter - p->all), combination), out);
        text += strlen(parameter->name) + 2;
    }
    if (fclose(out) != 0 || bytes > BENCH_TEXT_MAX) {
        free(filled);
        return NULL;
    }
    return filled;
}

/* Takes one word from *at to `word`; false: a quote has no end. */
static bool take_word(const char **at, char *word)
{
    char quote = 0;
    const char *c = *at;

    for (; *c != 0 && (quote != 0 || !isspace((unsigned char)*c)); c++) {
        if (quote == 0 && (*c == '\'' || *c == '"'))
            quote = *c;
        else if (quote != 0 && *c == quote)
            quote = 0;
        else if (*c == '\\' && quote != '\'' && c[1] != 0)
            *word++ = *++c;
        else
            *word++ = *c;
    }
    *word = 0;
    *at = c;
    return quote == 0;
}

int bench_words_split(const char *text, char ***words, size_t *count, struct run_failure *failure)
{
    char *word = malloc(strlen(text) + 1);
    const char *at = text;
    int result = 0;

    if (word == NULL)
        return run_fail(failure, "out of memory; end other programs");
    while (result == 0) {
        while (isspace((unsigned char)*at))
            at++;
        if (*at == 0)
            break;
        if (!take_word(&at, word))
            result = run_fail(failure, "%.200s: a quote has no end", text);
        else if (array_append_text(words, count, word) != 0)
            result = run_fail(failure, "out of memory; end other programs");
    }
    free(word);
    if (result == 0 && *count == 0)
        result = run_fail(failure, "a command is empty; name a program");
    return result;
}

static bool is_plain(const char *word)
{
    return word[0] != 0 && strpbrk(word, " \t\n'\"\\") == NULL;
}

char *bench_words_join(char *const *words, size_t count)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            fputc(' ', out);
        if (is_plain(words[i])) {
            fputs(words[i], out);
            continue;
        }
        fputc('\'', out);
        for (const char *c = words[i]; *c != 0; c++)
            fputs(*c == '\'' ? "'\\''" : (const char[]){*c, 0}, out);
        fputc('\'', out);
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
