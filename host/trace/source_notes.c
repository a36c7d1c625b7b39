/* Prints notes on events. */
#include "host/trace/source_notes.h"

#include "host/base/text.h"

void source_notes_print(FILE *out, const struct trace_info *info, uint32_t events, const char *mark)
{
    char safe[256], word[64];

    for (uint32_t i = 0; i < info->event_count; i++)
        if ((events >> i & 1) != 0 && info->events[i].meta.source != HR_SOURCE_PMU)
            fprintf(out, "# %s%s: %s\n", mark,
                    text_escape(safe, sizeof safe, trace_info_event_word(info, i, word)),
                    trace_info_source_words(info, i));
}
