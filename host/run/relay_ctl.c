/* What `hr ctl` asks of a run. */
#include "host/run/relay_ctl.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "host/base/monotonic.h"
#include "host/run/relay.h"
#include "host/run/relay_events.h"
#include "include/run_ports.h"
#include "lib/array.h"
#include "lib/boot/modes.h"

_Static_assert(CTL_TEXT_MAX == RUN_TEXT_MAX, "a mark of hr ctl is one of the guest");

/* Sends a text, unless it is empty, and what is asked for. */
static void ask(struct relay *r, enum run_ask what, const char *text, struct ctl_answer *answer)
{
    struct run_message messages[RUN_TEXT_MAX / sizeof(uint64_t) + 2];
    size_t count = 0, left = strlen(text);

    for (; left != 0; count++) {
        uint32_t bytes = left < sizeof(uint64_t) ? (uint32_t)left : sizeof(uint64_t);

        messages[count] = (struct run_message){.type = RUN_HOST_TEXT, .flag = bytes};
        memcpy(&messages[count].value, text, bytes);
        text += bytes;
        left -= bytes;
    }
    messages[count++] = (struct run_message){.type = RUN_HOST_ASK, .flag = what};
    answer->done = relay_events_tell(r, messages, count);
    if (!answer->done)
        strcpy(answer->text, "the guest takes no messages now");
}

static void ask_sampler(struct relay *r, enum run_ask what, struct ctl_answer *answer)
{
    if (what == RUN_ASK_POLL && r->options->mode == HR_MODE_PEBS)
        strcpy(answer->text,
               "with --mode pebs the processor makes the samples: none can be asked for");
    else if (modes_sample(r->options->mode))
        ask(r, what, "", answer);
    else
        (void)snprintf(answer->text, sizeof answer->text,
                       "the run takes no samples (--mode %s): only mark and stop have a meaning",
                       modes_name(r->options->mode));
}

static void mark(struct relay *r, const char *text, struct ctl_answer *answer)
{
    if (text[0] == 0 || strlen(text) > CTL_TEXT_MAX)
        (void)snprintf(answer->text, sizeof answer->text, "a mark has 1 to %u bytes of text",
                       CTL_TEXT_MAX);
    else
        ask(r, RUN_ASK_MARK, text, answer);
}

void relay_ctl_perform(void *context, const char *request, struct ctl_answer *answer)
{
    static const char *const sampler[] = {
        [RUN_ASK_START] = "start", [RUN_ASK_PAUSE] = "pause", [RUN_ASK_POLL] = "poll"};
    struct relay *r = context;

    if (strcmp(request, "what") == 0) {
        (void)snprintf(answer->text, sizeof answer->text, "%.2000s\t%.2000s", r->options->output,
                       r->options->program[0]);
        answer->done = true;
        return;
    }
    if (strcmp(request, "stop") == 0) {
        relay_events_stop(r, SIGTERM, false, monotonic_ns());
        answer->done = true;
        return;
    }
    if (!r->collector->has_meta) {
        strcpy(answer->text, "the program has not started yet");
        return;
    }
    if (strncmp(request, "mark ", 5) == 0) {
        mark(r, request + 5, answer);
        return;
    }
    for (uint32_t i = RUN_ASK_START; i < ARRAY_COUNT(sampler); i++)
        if (strcmp(request, sampler[i]) == 0) {
            ask_sampler(r, (enum run_ask)i, answer);
            return;
        }
    strcpy(answer->text, "this hr does not know the request");
}
