/* Collects what programs open at run time without being told to: known files, the locale, the time
 * zone, the terminal's description. */
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "host/base/text.h"
#include "host/pack/collect/pack_collect.h"
#include "host/pack/collect/pack_known.h"
#include "host/pack/list/pack_path.h"

static int out_of_memory(struct pack_collector *c)
{
    return run_fail(c->failure, "out of memory; end other programs");
}

/* Adds what libraries in a tree need; a missing one only matters to programs that load its user. */
static int add_tree_libraries(struct pack_collector *c, size_t first)
{
    const struct pack_list *list = &c->pack->list;
    size_t end = list->count;

    for (size_t i = first; i < end; i++) {
        const struct pack_entry *entry = list->entries[i];
        char path[PATH_MAX + 1];

        if (!S_ISREG(entry->status.st_mode) ||
            (fnmatch("*.so", entry->name, 0) != 0 && fnmatch("*.so.[0-9]*", entry->name, 0) != 0))
            continue;
        snprintf(path, sizeof path, "/%s", entry->name);
        if (pack_libraries_add(&c->libraries, path) == -ENOMEM)
            return out_of_memory(c);
    }
    return 0;
}

/* Whether the tree was already found to be too large. */
static bool is_noted(const struct pack_collector *c, const char *path)
{
    size_t bytes = strlen(path);

    for (size_t i = 0; i < c->pack->notes.count; i++) {
        const char *text = c->pack->notes.lines[i].text;

        if (strncmp(text, path, bytes) == 0 && text[bytes] == ' ')
            return true;
    }
    return false;
}

int pack_collect_path(struct pack_collector *c, const char *path, bool stable,
                      const struct pack_tree_rules *rules, const char *why)
{
    struct pack_list *list = &c->pack->list;
    char limit[TEXT_QUANTITY_BYTES];
    char name[PATH_MAX];
    struct stat status;
    size_t first = list->count;
    int result;

    if (stat(path, &status) != 0 || is_noted(c, path))
        return 0;
    result = pack_list_begin(list, path, stable, "%s", why);
    if (result == 0)
        result = pack_list_add_path(list, path, name);
    if (result == 0 && S_ISDIR(status.st_mode))
        result = pack_list_add_tree(list, path, name, rules, NULL);
    if (result == -EFBIG)
        launch_warn(&c->pack->notes, "%s is left out: larger than %s or %zu files; --file packs it",
                    path, text_bytes(limit, rules->bytes_max), rules->files_max);
    if (result == -ENOMEM)
        return out_of_memory(c);
    return result == 0 && c->libraries.count != 0 ? add_tree_libraries(c, first) : 0;
}

/* Adds the paths that a pattern matches; missing ones are not needed. */
static int add_pattern(struct pack_collector *c, const char *pattern, bool stable,
                       const struct pack_tree_rules *rules, const char *why)
{
    glob_t found;
    int result = 0;

    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc && result == 0; i++)
        result = pack_collect_path(c, found.gl_pathv[i], stable, rules, why);
    globfree(&found);
    return result;
}

/* Copies text so that glob takes it literally. */
static size_t escape(char *out, size_t room, const char *text)
{
    size_t used = 0;

    for (; *text != 0 && used + 3 < room; text++) {
        if (strchr("*?[]\\", *text) != NULL)
            out[used++] = '\\';
        out[used++] = *text;
    }
    out[used] = 0;
    return used;
}

/* The first number in a name, with dots: "3.11" of libpython3.11.so.1. */
static void find_version(const char *name, char version[16])
{
    const char *at = name + strcspn(name, "0123456789");
    size_t bytes = strspn(at, "0123456789.");

    while (bytes > 0 && at[bytes - 1] == '.')
        bytes--;
    snprintf(version, 16, "%.*s", (int)bytes, at);
}

/* Replaces %p, %d, %v and %w for the program or library at `object`. */
static void expand(const char *pattern, const char *object, char out[PATH_MAX])
{
    char directory[PATH_MAX];
    char prefix[PATH_MAX];
    char version[16];
    char here[PATH_MAX];
    size_t used = 0;

    if (getcwd(here, sizeof here) == NULL)
        here[0] = 0;
    snprintf(directory, sizeof directory, "%s", object);
    pack_path_parent(directory);
    snprintf(prefix, sizeof prefix, "%s", directory);
    pack_path_parent(prefix);
    find_version(text_base_name(object), version);
    for (; *pattern != 0 && used + 1 < PATH_MAX; pattern++) {
        const char *text = NULL;

        if (pattern[0] == '%')
            text = pattern[1] == 'p'   ? prefix
                   : pattern[1] == 'd' ? directory
                   : pattern[1] == 'w' ? here
                                       : version;
        if (text == NULL) {
            out[used++] = *pattern;
            continue;
        }
        used += escape(out + used, PATH_MAX - used, strcmp(text, "/") == 0 ? "" : text);
        pattern++;
    }
    out[used] = 0;
}

static int add_known(struct pack_collector *c, const struct pack_known *known, const char *object)
{
    const struct pack_tree_rules rules = {
        .except = known->except,
        .bytes_max = known->tree_bytes_max != 0 ? known->tree_bytes_max : PACK_KNOWN_TREE_BYTES,
        .files_max = PACK_KNOWN_TREE_FILES,
        .follow = true,
    };
    char why[NAME_MAX + 32];
    int result = 0;

    snprintf(why, sizeof why, "%s opens it", text_base_name(object));
    for (const char *const *path = known->paths; path != NULL && *path != NULL && result == 0;
         path++) {
        char pattern[PATH_MAX];

        expand(*path, object, pattern);
        result = add_pattern(c, pattern, strncmp(*path, "%w", 2) != 0, &rules, why);
    }
    for (const char *const *name = known->libraries; name != NULL && *name != NULL; name++)
        if (pack_libraries_add_name(&c->libraries, *name) == -ENOMEM)
            return out_of_memory(c);
    return result;
}

static int add_all_known(struct pack_collector *c, const char *object)
{
    const struct pack_known *known;
    unsigned position = 0;
    int result = 0;

    while (result == 0 && (known = pack_known_next(text_base_name(object), &position)) != NULL)
        result = add_known(c, known, object);
    return result;
}

/* Adds the file that a setting names below some directories, from each that has it. */
static int add_below(struct pack_collector *c, const char *const *directories, const char *value,
                     const char *why)
{
    char path[PATH_MAX];
    int result = 0;

    if (value[0] == 0 || value[0] == '.' || strstr(value, "/.") != NULL)
        return 0;
    for (; *directories != NULL && result == 0; directories++)
        if ((size_t)snprintf(path, sizeof path, "%s/%s", *directories, value) < sizeof path)
            result = pack_collect_path(c, path, true, NULL, why);
    return result;
}

static int add_terminal(struct pack_collector *c)
{
    static const char *const directories[] = {"/etc/terminfo", "/lib/terminfo",
                                              "/usr/share/terminfo", NULL};
    const char *kind = pack_environment_get(&c->pack->environment, "TERM");
    char name[128];

    if (kind == NULL || kind[0] == 0 || strchr(kind, '/') != NULL)
        return 0;
    snprintf(name, sizeof name, "%c/%s", kind[0], kind);
    return add_below(c, directories, name, "TERM names it");
}

static int add_time_zone(struct pack_collector *c)
{
    static const char *const directories[] = {"/usr/share/zoneinfo", NULL};
    const char *zone = pack_environment_get(&c->pack->environment, "TZ");

    if (zone == NULL || strpbrk(zone, "/ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL)
        return 0;
    return add_below(c, directories, zone + (zone[0] == ':'), "TZ names it");
}

/* A locale's directory has its name, perhaps with the character set in small letters and digits. */
static int add_locale(struct pack_collector *c, const char *locale)
{
    static const char *const directories[] = {"/usr/lib/locale", NULL};
    char name[128];
    size_t used = (size_t)snprintf(name, sizeof name, "%s", locale);
    char *codeset = strchr(name, '.');
    int result;

    if (used >= sizeof name || strchr(locale, '/') != NULL || strcmp(locale, "C") == 0 ||
        strcmp(locale, "POSIX") == 0)
        return 0;
    result = add_below(c, directories, name, "the locale");
    if (codeset != NULL) {
        char *to = codeset + 1;

        for (const char *from = to; *from != 0; from++)
            if (*from != '-')
                *to++ = (char)(*from >= 'A' && *from <= 'Z' ? *from - 'A' + 'a' : *from);
        *to = 0;
        if (result == 0)
            result = add_below(c, directories, name, "the locale");
    }
    if (result == 0 && strncmp(locale, "C.", 2) != 0)
        result = pack_collect_path(c, "/usr/lib/locale/locale-archive", true, NULL, "the locale");
    return result;
}

static int add_locales(struct pack_collector *c)
{
    const struct pack_environment *e = &c->pack->environment;
    int result = pack_collect_path(c, "/usr/share/locale/locale.alias", true, NULL, "the locale");

    for (size_t i = 0; i < e->count && result == 0; i++)
        if (strncmp(e->settings[i], "LANG=", 5) == 0 || strncmp(e->settings[i], "LC_", 3) == 0)
            result = add_locale(c, strchr(e->settings[i], '=') + 1);
    return result;
}

/* What the program and its libraries open: needless where the guest asks for files. */
static int collect_known(struct pack_collector *c)
{
    const struct pack_program *program = &c->pack->program;
    int result = add_all_known(c, program->path);

    if (result == 0 && strcmp(program->path, program->found) != 0)
        result = add_all_known(c, program->found);
    /* The number of libraries may grow in this loop. */
    for (size_t i = 1; result == 0 && pack_libraries_path(&c->libraries, i) != NULL; i++)
        result = add_all_known(c, pack_libraries_path(&c->libraries, i));
    return result;
}

int pack_collect_runtime(struct pack_collector *c)
{
    int result = c->options->serve ? 0 : collect_known(c);

    if (result == 0)
        result = pack_collect_users(c);
    for (const char *const *path = pack_known_system; *path != NULL && result == 0; path++)
        result = pack_collect_path(c, *path, true, NULL, "programs look users, hosts and times up");
    if (result == 0)
        result = add_locales(c);
    if (result == 0)
        result = add_time_zone(c);
    return result == 0 ? add_terminal(c) : -1;
}

/* The files in the directory of a script, or of an argument, that its interpreter may load. */
int pack_collect_siblings(struct pack_collector *c, const char *path)
{
    static const struct pack_tree_rules rules = {.bytes_max = PACK_KNOWN_TREE_BYTES,
                                                 .files_max = PACK_KNOWN_TREE_FILES};
    const struct pack_known *known;
    unsigned position = 0;
    char directory[PATH_MAX];
    int result = 0;

    snprintf(directory, sizeof directory, "%s", path);
    pack_path_parent(directory);
    while ((known = pack_known_next(text_base_name(c->pack->program.path), &position)) != NULL)
        for (const char *const *sibling = known->siblings;
             sibling != NULL && *sibling != NULL && result == 0; sibling++) {
            char pattern[PATH_MAX];
            size_t used = escape(pattern, sizeof pattern, directory);

            if ((size_t)snprintf(pattern + used, sizeof pattern - used, "/%s", *sibling) <
                sizeof pattern - used)
                result = add_pattern(c, pattern, false, &rules, "beside an argument");
        }
    return result;
}
