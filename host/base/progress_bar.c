/* Draws the progress of a long piece of work. */
#include "host/base/progress_bar.h"

#include <stdio.h>
#include <string.h>

#include "host/base/monotonic.h"
#include "host/base/terminal.h"
#include "host/base/text.h"

#define COLUMNS_UNKNOWN 80u
#define WIDTH_MAX 50u /* of the bar proper */
#define WIDTH_MIN 5u /* a narrower one shows nothing useful */

void progress_bar_init(struct progress_bar *bar, bool wanted)
{
    *bar = (struct progress_bar){0};
    progress_init(&bar->line, wanted, monotonic_ns());
}

void progress_bar_begin(struct progress_bar *bar, uint64_t total)
{
    bar->line.start_ns = monotonic_ns();
    bar->total = total;
    __atomic_store_n(&bar->done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&bar->next_ns, bar->line.start_ns + PROGRESS_BAR_AFTER_NS, __ATOMIC_RELAXED);
}

char *progress_bar_text(char text[PROGRESS_BAR_TEXT_BYTES], uint64_t done, uint64_t total,
                        uint64_t elapsed_ns, unsigned int columns)
{
    double share = total != 0 && done < total ? (double)done / (double)total : 1.0;
    char left[TEXT_QUANTITY_BYTES] = "", bar[WIDTH_MAX + 1];
    char rest[TEXT_QUANTITY_BYTES + 16] = "";
    unsigned int taken, width, full;

    if (share > 0.01) {
        text_time(left, (double)elapsed_ns * (1.0 - share) / share);
        snprintf(rest, sizeof rest, "  %s left", left);
    }
    taken = (unsigned int)(sizeof "hr: 100% [] " - 1 + strlen(rest));
    width = columns > taken ? columns - taken : 0;
    width = width < WIDTH_MAX ? width : WIDTH_MAX;
    full = (unsigned int)(share * width);
    memset(bar, '#', full);
    memset(bar + full, '.', width - full);
    bar[width] = 0;
    if (width >= WIDTH_MIN)
        snprintf(text, PROGRESS_BAR_TEXT_BYTES, "hr: %3.0f%% [%s]%s", 100.0 * share, bar, rest);
    else
        snprintf(text, PROGRESS_BAR_TEXT_BYTES, "hr: %3.0f%%", 100.0 * share);
    return text;
}

void progress_bar_add(struct progress_bar *bar, uint64_t bytes)
{
    char text[PROGRESS_BAR_TEXT_BYTES];
    uint64_t done, next, time;

    if (!bar->line.enabled)
        return;
    done = __atomic_add_fetch(&bar->done, bytes, __ATOMIC_RELAXED);
    time = monotonic_ns();
    next = __atomic_load_n(&bar->next_ns, __ATOMIC_RELAXED);
    if (time < next ||
        !__atomic_compare_exchange_n(&bar->next_ns, &next, time + PROGRESS_BAR_EVERY_NS, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return; /* another thread draws */
    progress_bar_text(text, done, bar->total, time - bar->line.start_ns,
                      terminal_columns(2, COLUMNS_UNKNOWN));
    progress_show(&bar->line, text);
}

void progress_bar_end(struct progress_bar *bar)
{
    progress_erase(&bar->line);
}
