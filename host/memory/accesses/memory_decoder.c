/* Decodes accesses, each meaning once. */
#include "host/memory/accesses/memory_decoder.h"

void memory_decoder_init(struct memory_decoder *decoder, const struct trace_info *info)
{
    *decoder = (struct memory_decoder){.info = info};
}

/* Several events of a record count the same access: it stands for the most. */
static void learn(struct memory_decoder *decoder, struct memory_meaning *meaning, uint32_t events)
{
    const struct trace_info *info = decoder->info;

    meaning->events = events;
    meaning->period = 1;
    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++)
        if ((events >> i & 1) != 0 && info->accesses.periods[i] > meaning->period)
            meaning->period = info->accesses.periods[i];
    for (uint32_t i = 0; i < MEMORY_SOURCES; i++)
        meaning->sources[i] =
            access_source(info, &(struct hr_access){.address = 1, .source = i, .events = events});
}

static bool is_beyond_l1(enum access_level level)
{
    return level != ACCESS_LEVEL_UNKNOWN && level != ACCESS_LEVEL_L1;
}

static bool is_beyond_llc(enum access_level level)
{
    return level == ACCESS_LEVEL_REMOTE_CACHE || level == ACCESS_LEVEL_MEMORY ||
           level == ACCESS_LEVEL_REMOTE_MEMORY;
}

struct access_source memory_decoder_add(struct memory_decoder *decoder, struct memory_sums *sums,
                                        const struct hr_access *access)
{
    struct memory_meaning *meaning = &decoder->meanings[access->events % MEMORY_EVENTS_KEPT];
    struct access_source source;

    if (meaning->events != access->events)
        learn(decoder, meaning, access->events);
    source = decoder->info->accesses.sources == HR_SOURCES_INTEL
                 ? meaning->sources[access->source % MEMORY_SOURCES]
                 : access_source(decoder->info, access);
    sums->reads += !source.store;
    sums->writes += source.store;
    sums->beyond_l1 += is_beyond_l1(source.level);
    sums->beyond_llc += is_beyond_llc(source.level);
    sums->modified += source.modified;
    sums->timed += access->latency != 0;
    sums->latency += access->latency;
    sums->estimated += meaning->period;
    sums->cost += access->latency * meaning->period;
    return source;
}
