/* Prints the report of hr doctor: a table for people, or JSON. */
#include <stdio.h>
#include <string.h>

#include "host/base/json.h"
#include "host/base/terminal.h"
#include "host/doctor/doctor.h"

#define STATE_COLUMNS 9
#define TITLE_COLUMNS 17
#define INDENT (STATE_COLUMNS + TITLE_COLUMNS)

static const char *const colours_on[] = {
    [DOCTOR_OK] = "\033[32m", /* green */
    [DOCTOR_WARNING] = "\033[33m", /* yellow */
    [DOCTOR_PROBLEM] = "\033[1;31m", /* red, bold */
    [DOCTOR_UNKNOWN] = "\033[36m", /* cyan */
};

/* Returns how many bytes of the text the next line takes: whole words, unless one is too long. */
static size_t line_bytes(const char *text, unsigned int room)
{
    size_t bytes = strlen(text);

    if (bytes <= room)
        return bytes;
    for (size_t i = room; i > 0; i--)
        if (text[i] == ' ' && text[i - 1] != ' ')
            return i;
    return strcspn(text, " ");
}

/* Prints words in lines of at most `columns`, the first of which is already at column `indent`. */
static void print_words(FILE *out, const char *text, unsigned int indent, unsigned int columns)
{
    for (;;) {
        size_t bytes = line_bytes(text, columns - indent);

        fprintf(out, "%.*s\n", (int)bytes, text);
        text += bytes;
        text += strspn(text, " ");
        if (*text == 0)
            return;
        fprintf(out, "%*s", (int)indent, "");
    }
}

/* A command is broken only after "&&", so that the lines can be copied into a shell. */
static void print_command(FILE *out, const char *text, unsigned int columns)
{
    const char *prompt = "$ ";

    for (;;) {
        const char *end = strstr(text, "&& ");

        if (end == NULL || strlen(text) + INDENT + 2 <= columns)
            break;
        fprintf(out, "%*s%s%.*s\n", INDENT, "", prompt, (int)(end - text) + 2, text);
        text = end + 3;
        prompt = "  ";
    }
    fprintf(out, "%*s%s%s\n", INDENT, "", prompt, text);
}

static void print_remedy(FILE *out, const struct doctor_finding *f, unsigned int columns)
{
    if (f->remedy[0] == 0)
        return;
    if (f->remedy_is_command) {
        print_command(out, f->remedy, columns);
        return;
    }
    fprintf(out, "%*s> ", INDENT, "");
    print_words(out, f->remedy, INDENT + 2, columns);
}

static void print_check(FILE *out, const struct doctor_check *c, const struct doctor_finding *f,
                        unsigned int columns, bool colours)
{
    fprintf(out, "%s%-*s%s%-*s", colours ? colours_on[f->state] : "", STATE_COLUMNS,
            doctor_state_name(f->state), colours ? COLOUR_OFF : "", TITLE_COLUMNS, c->title);
    print_words(out, f->found, INDENT, columns);
}

void doctor_print_table(FILE *out, const struct doctor_report *report, unsigned int columns,
                        bool colours, bool details)
{
    fprintf(out, "%-*s%-*s%s\n", STATE_COLUMNS, "STATE", TITLE_COLUMNS, "CHECK",
            "FOUND, its effect on a run, and what mends it");
    for (size_t i = 0; i < report->count; i++) {
        const struct doctor_finding *f = &report->findings[i];

        print_check(out, &report->checks[i], f, columns, colours);
        if (f->state == DOCTOR_OK && !details)
            continue;
        if (f->effect[0] != 0) {
            fprintf(out, "%*s", INDENT, "");
            print_words(out, f->effect, INDENT, columns);
        }
        print_remedy(out, f, columns);
    }
    putc('\n', out);
    print_words(out, report->verdict, 0, columns);
}

static json_t *text_or_null(const char *text)
{
    return text[0] != 0 ? json_string(text) : json_null();
}

static json_t *check_object(const struct doctor_check *c, const struct doctor_finding *f)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "id", c->id, "state", doctor_state_name(f->state),
                     "found", f->found, "effect", text_or_null(f->effect), "remedy",
                     text_or_null(f->remedy));
}

int doctor_print_json(FILE *out, const struct doctor_report *report)
{
    json_t *list = json_array();
    json_t *object;

    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(list, check_object(&report->checks[i], &report->findings[i]));
    object = json_pack("{s:o, s:b, s:s}", "checks", list, "faithful", report->faithful, "verdict",
                       report->verdict);
    return json_print(out, object);
}
