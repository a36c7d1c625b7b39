/* Splits demangled names and compares the parts with a wanted name. */
#include "host/draw/function_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "host/base/error.h"

#define KERNEL_MARK "[kernel] " /* as hr report shows it */
#define FUNCTION_INLINED "(inlined)" /* after a name in reports; not parameters */
#define PLAIN_BYTES 1024u
#define WANTED_BYTES 1024u

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns the length of "operator<<", "operator()" and so on at `at`; 0: there is none. */
static size_t operator_bytes(const char *name, const char *at)
{
    size_t bytes = strlen("operator");

    if (strncmp(at, "operator", bytes) != 0 || is_word(at[bytes]) ||
        (at != name && is_word(at[-1])))
        return 0;
    if (strncmp(at + bytes, "()", 2) == 0 || strncmp(at + bytes, "[]", 2) == 0)
        return bytes + 2;
    if (at[bytes] == ' ') /* operator new, operator bool */
        return bytes + 1;
    return bytes + strspn(at + bytes, "<>=!+-*/%^&|~,");
}

/* The parameters begin at the last group of parentheses that no scope follows: "(anonymous
 * namespace)::f" has a scope after it. */
static bool ends_scope(const char *after)
{
    return *after == 0 || *after == ' ' || *after == '[' || *after == '&';
}

struct parts {
    const char *begin; /* after the return type */
    const char *end; /* end of the name, before the parameters */
};

static struct parts take_apart(const char *name)
{
    struct parts parts = {name, NULL};
    const char *open = NULL, *at = name;
    unsigned int depth = 0;
    bool is_operator = false;

    while (*at != 0 && parts.end == NULL) {
        size_t bytes = depth == 0 ? operator_bytes(name, at) : 0;

        if (bytes != 0) {
            is_operator = true; /* a space after this is part of its name */
            at += bytes;
            continue;
        }
        if (strchr("(<{[", *at) != NULL) {
            open = depth++ == 0 ? at : open;
        } else if (strchr(")>}]", *at) != NULL) {
            depth -= depth != 0;
            if (depth == 0 && open != NULL && *open == '(' && *at == ')' && open != name &&
                ends_scope(at + 1))
                parts.end = open;
        } else if (*at == ' ' && depth == 0 && !is_operator) {
            parts.begin = at + 1;
        }
        at++;
    }
    if (parts.end == NULL && depth != 0 && *open == '(' && open != name)
        parts.end = open; /* its end was cut off */
    if (parts.end == NULL) {
        parts.begin = name;
        parts.end = at;
    }
    return parts;
}

/* Makes the name without parameters, tags as [abi:cxx11] and, unless asked for, template arguments.
 */
static void make_plain(char plain[PLAIN_BYTES], const char *name, bool templates)
{
    struct parts parts = take_apart(name);
    unsigned int depth = 0;
    size_t used = 0;

    for (const char *at = parts.begin; at < parts.end && used < PLAIN_BYTES - 1; at++) {
        size_t bytes = depth == 0 ? operator_bytes(name, at) : 0;

        for (; bytes > 1 && used < PLAIN_BYTES - 1 && at + 1 < parts.end; bytes--)
            plain[used++] = *at++;
        if (bytes == 0 && (*at == '[' || (*at == '<' && !templates)))
            depth++;
        else if (depth == 0)
            plain[used++] = *at;
        else if (*at == ']' || (*at == '>' && !templates))
            depth--;
    }
    plain[used] = 0;
}

static enum function_match match_name(const char *wanted, const char *name)
{
    const char *bare = name;
    char plain[PLAIN_BYTES];
    size_t bytes, wanted_bytes;

    if (strcmp(wanted, name) == 0)
        return FUNCTION_FULL;
    if (strncmp(name, KERNEL_MARK, strlen(KERNEL_MARK)) == 0)
        bare += strlen(KERNEL_MARK);
    if (strncmp(wanted, KERNEL_MARK, strlen(KERNEL_MARK)) == 0)
        wanted += strlen(KERNEL_MARK);
    if (wanted[0] == 0)
        return FUNCTION_OTHER;
    make_plain(plain, bare, strchr(wanted, '<') != NULL);
    if (strcmp(wanted, plain) == 0 || strcmp(wanted, bare) == 0)
        return FUNCTION_QUALIFIED;
    bytes = strlen(plain);
    wanted_bytes = strlen(wanted);
    return bytes >= wanted_bytes + 2 && strcmp(plain + bytes - wanted_bytes, wanted) == 0 &&
                   memcmp(plain + bytes - wanted_bytes - 2, "::", 2) == 0
               ? FUNCTION_BASE
               : FUNCTION_OTHER;
}

enum function_match function_matches(const char *wanted, const char *name, const char *object)
{
    const char *at = strrchr(wanted, '@'); /* symbols with versions have one too */
    enum function_match match = name != NULL ? match_name(wanted, name) : FUNCTION_OTHER;
    char without[WANTED_BYTES];

    if (match != FUNCTION_OTHER || name == NULL || at == NULL || object == NULL ||
        strcmp(object, at + 1) != 0 || (size_t)(at - wanted) >= sizeof without)
        return match;
    snprintf(without, sizeof without, "%.*s", (int)(at - wanted), wanted);
    return match_name(without, name);
}

/* Replaces the text between `from` and `to` by "(...)" or the like, if that is shorter. */
static void hide(char *from, const char *to, const char *instead)
{
    if (to <= from + strlen(instead))
        return;
    while (*instead != 0)
        *from++ = *instead++;
    memmove(from, to, strlen(to) + 1);
}

/* Returns the text after the bracket that closes the one at `at`. */
static const char *behind_group(const char *at)
{
    char open = *at, close = open == '(' ? ')' : '>';
    unsigned int depth = 0;

    for (; *at != 0; at++) {
        depth += *at == open;
        if (*at == close && --depth == 0)
            return at + 1;
    }
    return at;
}

void function_hide_parameters(char *name)
{
    char *at = name + (take_apart(name).end - name);

    if (*at == '(' && strcmp(at, FUNCTION_INLINED) != 0)
        hide(at, behind_group(at), "(...)");
}

void function_hide_templates(char *name)
{
    for (char *at = name; *at != 0; at++) {
        size_t bytes = operator_bytes(name, at);

        if (bytes != 0)
            at += bytes - 1;
        else if (*at == '<')
            hide(at, behind_group(at), "<...>");
        if (strncmp(at, "<...>", 5) == 0)
            at += 4;
    }
}

void function_offer_nearest(struct nearest *nearest, const char *name)
{
    char plain[PLAIN_BYTES];
    const char *base, *scope;

    make_plain(plain, name, strchr(nearest->wanted, '<') != NULL);
    base = plain;
    while (strstr(nearest->wanted, "::") == NULL && (scope = strstr(base, "::")) != NULL)
        base = scope + 2;
    nearest_offer_as(nearest, base, name);
}

void function_choice_init(struct function_choice *choice, const char *wanted)
{
    *choice = (struct function_choice){.wanted = wanted};
    nearest_init(&choice->nearest, wanted);
}

void function_choice_offer(struct function_choice *choice, const char *name, const char *object)
{
    enum function_match match = function_matches(choice->wanted, name, object);

    if (name == NULL)
        return;
    if (choice->best == FUNCTION_OTHER)
        function_offer_nearest(&choice->nearest, name);
    if (match == FUNCTION_OTHER || match < choice->best)
        return;
    if (match > choice->best) {
        choice->count = 0;
        choice->more = false;
    }
    choice->best = match;
    for (unsigned int i = 0; i < choice->count; i++)
        if (strcmp(choice->names[i], name) == 0)
            return;
    if (choice->count < FUNCTION_NAMES_LISTED)
        choice->names[choice->count++] = name;
    else
        choice->more = true;
}

const char *function_choice_name(const struct function_choice *choice, const char *option,
                                 const char *where)
{
    char list[FUNCTION_NAMES_LISTED * 132] = "";
    size_t used = 0;

    if (choice->count == 1)
        return choice->names[0];
    if (choice->count == 0) {
        nearest_list(&choice->nearest, list, sizeof list);
        error_print("%s%s: %s%s%s", option, choice->wanted, where,
                    list[0] != 0 ? "; the nearest names: " : "", list);
        return NULL;
    }
    for (unsigned int i = 0; i < choice->count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.128s", i != 0 ? ", " : "",
                                 choice->names[i]);
    error_print("%s%s: %u%s functions have that name: %s%s; write more of the one that you mean",
                option, choice->wanted, choice->count, choice->more ? " or more" : "", list,
                choice->more ? ", ..." : "");
    return NULL;
}

bool function_choice_has(const struct function_choice *choice, const char *name, const char *object)
{
    return name != NULL && strcmp(name, choice->names[0]) == 0 &&
           function_matches(choice->wanted, name, object) == choice->best;
}
