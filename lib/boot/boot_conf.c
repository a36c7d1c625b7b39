/* Parses microtome.conf: lines, sections and keys; combinations of keys are checked at the end. */
#include "lib/boot/boot_conf.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "include/run_stream.h"
#include "lib/boot/boot_conf_keys.h"

static void put(struct boot_conf_error *error, const char *text, size_t bytes)
{
    size_t used = strlen(error->text);

    for (size_t i = 0; i < bytes && used + 1 < sizeof error->text; i++) {
        error->text[used++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
        error->text[used] = '\0';
    }
}

/* Ends the parsing with an error: "BEFORE WHAT AFTER". */
static int fail(struct boot_conf_parser *p, uint32_t line, const char *before,
                struct boot_text what, const char *after)
{
    const size_t shown = 48;

    p->error->line = line;
    p->error->text[0] = '\0';
    put(p->error, before, strlen(before));
    put(p->error, what.at, what.bytes < shown ? what.bytes : shown);
    put(p->error, "...", what.bytes < shown ? 0 : 3);
    put(p->error, after, strlen(after));
    return -EINVAL;
}

static int fail_plain(struct boot_conf_parser *p, uint32_t line, const char *text)
{
    return fail(p, line, text, (struct boot_text){"", 0}, "");
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct boot_text trim(struct boot_text text)
{
    while (text.bytes > 0 && is_blank(text.at[0])) {
        text.at++;
        text.bytes--;
    }
    while (text.bytes > 0 && is_blank(text.at[text.bytes - 1]))
        text.bytes--;
    return text;
}

/* Removes the comment, which begins with a '#' at the start or after a blank, so that a token may
 * contain one. */
static struct boot_text without_comment(struct boot_text line)
{
    for (size_t i = 0; i < line.bytes; i++)
        if (line.at[i] == '#' && (i == 0 || is_blank(line.at[i - 1]))) {
            line.bytes = i;
            break;
        }
    return trim(line);
}

/* Checks that every needed key of the section that ends here was given. */
static int check_needed(struct boot_conf_parser *p, bool of_run, uint32_t line, const char *after)
{
    for (size_t i = 0; i < BOOT_CONF_KEYS; i++)
        if (boot_conf_keys[i].needed && boot_conf_keys[i].of_run == of_run && p->given[i] == 0) {
            struct boot_text name = {boot_conf_keys[i].name, strlen(boot_conf_keys[i].name)};

            return fail(p, line, "", name, after);
        }
    return 0;
}

/* Sets the run's name from the archive's, without directory and ".cpio", as far as it is valid. */
static int default_name(struct boot_conf_parser *p)
{
    const char *path = p->run->archive.path;
    const char *base = strrchr(path, '\\') + 1;
    struct boot_text text = {base, strlen(base)};
    const char suffix[] = ".cpio";
    const size_t suffix_bytes = sizeof suffix - 1;

    if (p->run->name[0] != '\0')
        return 0;
    if (text.bytes > suffix_bytes &&
        memcmp(text.at + text.bytes - suffix_bytes, suffix, suffix_bytes) == 0)
        text.bytes -= suffix_bytes;
    if (boot_value_sanitise(text, p->run->name, sizeof p->run->name))
        return 0;
    return fail(p, p->run->archive.line, "the run needs a name, as there is none in ", text,
                ": add name = NAME");
}

static int end_section(struct boot_conf_parser *p)
{
    if (p->run == NULL)
        return check_needed(p, false, p->line, " = ... is missing before the first [run]");
    if (check_needed(p, true, p->run_line, " = ... is missing in this [run]") != 0)
        return -EINVAL;
    return default_name(p);
}

static int begin_run(struct boot_conf_parser *p)
{
    if (end_section(p) != 0)
        return -EINVAL;
    if (p->conf->run_count == BOOT_CONF_RUNS_MAX)
        return fail_plain(p, p->line, "too many runs: at most 256; repeat = N counts as one");
    p->run = &p->conf->runs[p->conf->run_count++];
    p->run->repeat = 1;
    p->run_line = p->line;
    for (size_t i = 0; i < BOOT_CONF_KEYS; i++)
        if (boot_conf_keys[i].of_run)
            p->given[i] = 0;
    return 0;
}

static const struct boot_conf_key *find_key(struct boot_text name)
{
    for (size_t i = 0; i < BOOT_CONF_KEYS; i++)
        if (boot_value_is(name, boot_conf_keys[i].name))
            return &boot_conf_keys[i];
    return NULL;
}

static int parse_key(struct boot_conf_parser *p, struct boot_text name, struct boot_text value)
{
    const struct boot_conf_key *key = find_key(name);
    struct boot_text whole = {name.at, (size_t)(value.at + value.bytes - name.at)};
    const char *wrong;

    if (key == NULL)
        return fail(p, p->line, "unknown key: ", name, ": correct it or take the line out");
    if (p->given[KEY_VERSION] == 0 && key != &boot_conf_keys[KEY_VERSION])
        return fail_plain(p, p->line, "version = 1 must be the first key");
    if (key->of_run && p->run == NULL)
        return fail(p, p->line, "", name, " belongs to a run: put it below [run]");
    if (!key->of_run && p->run != NULL)
        return fail(p, p->line, "", name, " is not a run's: put it above the first [run]");
    if (p->given[key - boot_conf_keys] != 0)
        return fail(p, p->line, "", name, " is given twice: take one of the lines out");
    p->given[key - boot_conf_keys] = p->line;
    wrong = key->take(p, value);
    return wrong != NULL ? fail(p, p->line, "", whole, wrong) : 0;
}

static int parse_line(struct boot_conf_parser *p, struct boot_text line)
{
    struct boot_text name, value;
    const char *equals;

    for (size_t i = 0; i < line.bytes; i++)
        if (line.at[i] == '\0')
            return fail_plain(p, p->line, "this is not plain text: save the file as UTF-8");
    line = without_comment(line);
    if (line.bytes == 0)
        return 0;
    if (boot_value_is(line, "[run]"))
        return begin_run(p);
    equals = memchr(line.at, '=', line.bytes);
    if (equals == NULL)
        return fail(p, p->line, "", line, " is neither key = value nor [run]");
    name = trim((struct boot_text){line.at, (size_t)(equals - line.at)});
    value = trim((struct boot_text){equals + 1, line.bytes - (size_t)(equals + 1 - line.at)});
    if (value.bytes == 0)
        return fail(p, p->line, "", line, " lacks a value");
    return parse_key(p, name, value);
}

static int check_network(struct boot_conf_parser *p)
{
    const struct boot_conf *c = p->conf;

    if (c->exit_firmware && !c->network)
        return fail_plain(p, p->given[KEY_FIRMWARE],
                          "after firmware = exit nothing can write to the stick: add output = "
                          "network, or take it out");
    if (c->exit_firmware && c->progress[0] != '\0')
        return fail_plain(p, p->given[KEY_PROGRESS],
                          "after firmware = exit nothing can write to the stick: take progress, or "
                          "firmware, out");
    if (c->network && c->collector == 0)
        return fail_plain(p, p->given[KEY_OUTPUT],
                          "output = network needs collector = ADDRESS, that of hr collect");
    if (c->gateway != 0 && c->address == 0)
        return fail_plain(p, p->given[KEY_GATEWAY],
                          "gateway needs address = ADDRESS/BITS: with dhcp it comes from there");
    if (c->gateway != 0 && ((c->gateway ^ c->address) & c->netmask) != 0)
        return fail_plain(p, p->given[KEY_GATEWAY],
                          "the gateway is outside of the network of address: correct one");
    if (c->network && c->address != 0 && c->gateway == 0 &&
        ((c->collector ^ c->address) & c->netmask) != 0)
        return fail_plain(p, p->given[KEY_COLLECTOR],
                          "the collector is outside of the network of address: add gateway = "
                          "ADDRESS");
    return 0;
}

static int parse_lines(struct boot_conf_parser *p, struct boot_text rest)
{
    while (rest.bytes > 0) {
        const char *newline = memchr(rest.at, '\n', rest.bytes);
        struct boot_text line = rest;

        if (newline != NULL)
            line.bytes = (size_t)(newline - rest.at);
        p->line++;
        if (parse_line(p, line) != 0)
            return -EINVAL;
        if (newline != NULL)
            line.bytes++;
        rest.at += line.bytes;
        rest.bytes -= line.bytes;
    }
    if (end_section(p) != 0 || check_network(p) != 0)
        return -EINVAL;
    if (p->conf->run_count == 0)
        return fail_plain(p, 0, "there is no [run]: add one with its archive");
    return 0;
}

int boot_conf_parse(const char *text, size_t bytes, struct boot_conf *conf,
                    struct boot_conf_error *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* editors of Windows put it before UTF-8 */
    struct boot_conf_parser p = {.conf = conf, .error = error};
    struct boot_text rest = {text, bytes};

    memset(conf, 0, sizeof *conf);
    memset(error, 0, sizeof *error);
    conf->memory_bytes = BOOT_CONF_USUAL;
    conf->buffer_bytes = BOOT_CONF_ALL;
    conf->part_bytes = BOOT_CONF_PART_BYTES_MAX;
    conf->port = RUN_STREAM_PORT;
    if (bytes > BOOT_CONF_BYTES_MAX)
        return fail_plain(&p, 0, "the file is too long: at most 1 MiB");
    if (bytes >= 3 && memcmp(text, mark, 3) == 0) {
        rest.at += 3;
        rest.bytes -= 3;
    }
    return parse_lines(&p, rest);
}
