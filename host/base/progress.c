/* Draws and erases the progress line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/base/progress.h"
#include "host/base/text.h"

#define ERASE "\r\033[K"

void progress_init(struct progress *p, bool wanted, uint64_t now_ns)
{
    *p = (struct progress){.enabled = wanted && isatty(2), .start_ns = now_ns};
    pthread_mutex_init(&p->lock, NULL);
}

/* One write, so that lines do not mix; after a partial write to the terminal, the next one repairs
 * the line. */
static void show(const char *text)
{
    if (write(2, text, strlen(text)) < 0)
        return;
}

void progress_draw(struct progress *p, uint64_t now_ns, uint64_t samples, uint64_t lost,
                   uint64_t bytes)
{
    char text[160];
    char elapsed[TEXT_QUANTITY_BYTES];
    char taken[TEXT_QUANTITY_BYTES];
    char missed[TEXT_QUANTITY_BYTES];
    char size[TEXT_QUANTITY_BYTES];

    if (!p->enabled)
        return;
    snprintf(text, sizeof text, "hr: %s, %s samples, %s lost, %s",
             text_time(elapsed, (double)(now_ns - p->start_ns)), text_count(taken, samples),
             text_count(missed, lost), text_bytes(size, bytes));
    progress_show(p, text);
}

void progress_show(struct progress *p, const char *text)
{
    char line[512];

    if (!p->enabled || pthread_mutex_trylock(&p->lock) != 0)
        return;
    if (!p->mid_line) {
        snprintf(line, sizeof line, ERASE "%s", text);
        show(line);
        p->drawn = true;
    }
    pthread_mutex_unlock(&p->lock);
}

static void erase_locked(struct progress *p)
{
    if (p->drawn)
        show(ERASE);
    p->drawn = false;
}

void progress_erase(struct progress *p)
{
    if (!p->enabled || pthread_mutex_trylock(&p->lock) != 0)
        return;
    erase_locked(p);
    pthread_mutex_unlock(&p->lock);
}

void progress_output_begin(struct progress *p)
{
    pthread_mutex_lock(&p->lock);
    erase_locked(p);
}

void progress_output_end(struct progress *p, const void *bytes, size_t count)
{
    if (count > 0)
        p->mid_line = ((const char *)bytes)[count - 1] != '\n';
    pthread_mutex_unlock(&p->lock);
}
