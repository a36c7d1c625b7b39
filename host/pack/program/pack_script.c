/* Reads the first line of scripts. */
#include <errno.h>
#include <string.h>

#include "host/pack/program/pack_script.h"

bool pack_script_is(const void *file, size_t bytes)
{
    return bytes >= 2 && memcmp(file, "#!", 2) == 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

int pack_script_parse(const void *file, size_t bytes, struct pack_script *script)
{
    char line[PACK_SCRIPT_LINE_BYTES + 1] = {0};
    const char *name = line + 2;
    char *end;
    size_t name_bytes;

    memcpy(line, file, bytes < PACK_SCRIPT_LINE_BYTES ? bytes : PACK_SCRIPT_LINE_BYTES);
    end = strchr(line, '\n');
    /* A line that was cut is valid if at least the interpreter is complete. */
    if (end == NULL) {
        const char *start = name + strspn(name, " \t");

        end = line + strlen(line);
        if (end == line + PACK_SCRIPT_LINE_BYTES && start[strcspn(start, " \t")] == 0)
            return -ENOEXEC;
    }
    while (end > line + 2 && is_blank(end[-1]))
        end--;
    *end = 0;
    if (!pack_script_is(line, bytes))
        return -ENOEXEC;
    name += strspn(name, " \t");
    name_bytes = strcspn(name, " \t");
    if (name_bytes == 0)
        return -ENOEXEC;
    memcpy(script->interpreter, name, name_bytes);
    script->interpreter[name_bytes] = 0;
    name += name_bytes;
    strcpy(script->argument, name + strspn(name, " \t"));
    return 0;
}

/* Returns the text after -S, or NULL if env was not asked to split. */
static char *split_text(char *text)
{
    static const char *const options[] = {"--split-string=", "--split-string ", "-S"};

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strncmp(text, options[i], strlen(options[i])) == 0)
            return text + strlen(options[i]);
    return NULL;
}

static int take_word(struct pack_script_env *env, const char *word)
{
    if (env->word_count == 0 && strchr(word, '=') != NULL) {
        if (word[0] == '=' || env->setting_count == PACK_SCRIPT_WORDS_MAX)
            return -EINVAL;
        env->settings[env->setting_count++] = word;
        return 0;
    }
    if ((env->word_count == 0 && word[0] == '-') || env->word_count == PACK_SCRIPT_WORDS_MAX)
        return -EINVAL;
    env->words[env->word_count++] = word;
    return 0;
}

int pack_script_parse_env(const struct pack_script *script, struct pack_script_env *env)
{
    char *text = strcpy(env->text, script->argument);
    char *split = split_text(text);
    char *rest;
    int result = 0;

    env->setting_count = env->word_count = 0;
    if (split == NULL)
        return text[0] == 0 || strchr(text, '=') != NULL ? -EINVAL : take_word(env, text);
    if (strpbrk(split, "\\'\"$#") != NULL)
        return -EINVAL;
    for (char *word = strtok_r(split, " \t", &rest); word != NULL && result == 0;
         word = strtok_r(NULL, " \t", &rest))
        result = take_word(env, word);
    return result == 0 && env->word_count == 0 ? -EINVAL : result;
}
