/* Divides a run by its marks. */
#include "host/report/sections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"

/* Fills texts[1..] with each text once, in order.  Texts beyond the bound share the last name. */
static int name(struct sections *s, const struct report_marks *marks)
{
    uint32_t kept = 1;

    s->texts = calloc(marks->count + 1, sizeof s->texts[0]);
    if (s->texts == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < marks->count; i++)
        s->texts[i + 1] = marks->all[i].text;
    qsort(s->texts + 1, marks->count, sizeof s->texts[0], array_compare_texts);
    for (size_t i = 1; i <= marks->count && kept < SECTIONS_NAMES_MAX; i++)
        if (i == 1 || strcmp(s->texts[i], s->texts[kept - 1]) != 0)
            s->texts[kept++] = s->texts[i];
    s->texts[0] = "[before the first mark]";
    s->text_count = kept;
    if (kept == SECTIONS_NAMES_MAX)
        s->texts[kept - 1] = "[other marks]";
    return 0;
}

static uint32_t find_name(const struct sections *s, const char *text)
{
    const char *const *found =
        bsearch(&text, s->texts + 1, s->text_count - 1, sizeof s->texts[0], array_compare_texts);

    return found != NULL ? (uint32_t)(found - s->texts) : s->text_count - 1;
}

int sections_init(struct sections *s, struct report_marks *marks)
{
    *s = (struct sections){0};
    report_marks_sort(marks);
    s->times = calloc(marks->count + 1, sizeof s->times[0]);
    s->names = calloc(marks->count + 1, sizeof s->names[0]);
    if (s->times == NULL || s->names == NULL || name(s, marks) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < marks->count; i++) {
        s->times[i] = marks->all[i].time;
        s->names[i] = find_name(s, marks->all[i].text);
    }
    s->count = marks->count;
    return 0;
}

void sections_free(struct sections *s)
{
    free(s->times);
    free(s->names);
    free(s->texts);
    *s = (struct sections){0};
}

uint32_t sections_find(const struct sections *s, uint64_t time, size_t *at, uint64_t *until)
{
    size_t low = 0, high = s->count;

    /* the number of marks at or before the time is usually unchanged */
    if (*at <= s->count && (*at == 0 || s->times[*at - 1] <= time))
        low = *at;
    if (low < s->count && s->times[low] > time)
        high = low;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    *until = low < s->count ? s->times[low] : UINT64_MAX;
    return low != 0 ? s->names[low - 1] : SECTIONS_BEFORE;
}
