/* Draws changing text. */
#include "host/draw/live.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/monotonic.h"
#include "host/base/terminal.h"

#define COST 100u /* of drawing, at most this part of the time */
#define LINES 24u /* of a terminal that does not say */

void live_init(struct live *l, bool table, uint64_t interval_ns)
{
    const char *term = getenv("TERM");
    bool terminal = isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0;

    *l = (struct live){.in_place = table && terminal, .exact = interval_ns != 0};
    l->every_ns = interval_ns != 0 ? interval_ns : l->in_place ? LIVE_EVERY_NS : 0;
}

FILE *live_begin(struct live *l)
{
    l->began_ns = monotonic_ns();
    if (l->every_ns == 0 || l->began_ns < l->next_ns)
        return NULL;
    l->memory = open_memstream(&l->text, &l->bytes);
    return l->memory;
}

/* Back to the first line. */
static void go_back(const struct live *l)
{
    if (l->lines != 0)
        printf("\033[%uA", l->lines);
    putchar('\r');
}

/* The last line of the terminal stays free for the cursor. */
static void draw(struct live *l)
{
    unsigned int most = terminal_lines(STDOUT_FILENO, LINES) - 1;
    const char *line = l->text;

    go_back(l);
    for (l->lines = 0; *line != 0 && l->lines < most; l->lines++) {
        size_t bytes = strcspn(line, "\n");

        printf("%.*s\033[K\n", (int)bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
    fputs("\033[J", stdout);
}

void live_end(struct live *l)
{
    uint64_t now;

    if (fclose(l->memory) == 0 && l->text != NULL) {
        if (l->in_place)
            draw(l);
        else
            fwrite(l->text, 1, l->bytes, stdout);
        fflush(stdout);
    }
    free(l->text);
    l->memory = NULL;
    l->text = NULL;
    now = monotonic_ns();
    l->next_ns = (l->next_ns != 0 && l->exact ? l->next_ns : now) + l->every_ns;
    if (!l->exact && l->next_ns < now + COST * (now - l->began_ns))
        l->next_ns = now + COST * (now - l->began_ns);
}

void live_erase(struct live *l)
{
    if (l->lines == 0)
        return;
    go_back(l);
    fputs("\033[J", stdout);
    fflush(stdout);
    l->lines = 0;
}
