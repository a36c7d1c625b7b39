/* Sorts samples into bins of time. */
#include "host/view/data/view_bins.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 0u /* in a bin's sums */
#define TICKS 1u
#define EVENTS 2u
#define ROOM_LEAST 64u /* bins */
#define RATE_CUT 15u /* bits of a rate that are not kept */
#define NO_LEAST UINT16_MAX
#define NO_LARGEST 0u
#define EXTREMES                                                                    \
    4u /* of an event: least and largest per tick, least and largest per base event \
        */

static uint32_t sum_words(const struct view_bins *bins)
{
    return EVENTS + bins->event_count;
}

static uint32_t extreme_words(const struct view_bins *bins)
{
    return EXTREMES * bins->event_count;
}

int view_bins_init(struct view_bins *bins, uint32_t event_count, int base, uint64_t finest_ticks)
{
    memset(bins, 0, sizeof *bins);
    bins->event_count = event_count;
    bins->base = base;
    bins->bins_max = VIEW_BINS_VALUES_MAX / (EVENTS + event_count * (1 + EXTREMES));
    while (bins->shift < 40 && 1ull << bins->shift < finest_ticks)
        bins->shift++;
    bins->cpus = calloc(VIEW_BINS_CPUS_MAX, sizeof bins->cpus[0]);
    return bins->cpus != NULL ? 0 : -ENOMEM;
}

void view_bins_free(struct view_bins *bins)
{
    for (uint32_t i = 0; bins->cpus != NULL && i < bins->cpu_count; i++) {
        free(bins->cpus[i].sums);
        free(bins->cpus[i].extremes);
    }
    free(bins->cpus);
    memset(bins, 0, sizeof *bins);
}

static struct view_bins_cpu *find_cpu(struct view_bins *bins, uint16_t cpu)
{
    for (uint32_t i = 0; i < bins->cpu_count; i++)
        if (bins->cpus[i].cpu == cpu)
            return &bins->cpus[i];
    if (bins->cpu_count == VIEW_BINS_CPUS_MAX)
        return NULL;
    bins->cpus[bins->cpu_count].cpu = cpu;
    return &bins->cpus[bins->cpu_count++];
}

/* A rate, which is not negative, as its exponent and the first 8 bits of its mantissa, plus 1: such
 * numbers are in the order of their rates.  NO_LEAST and NO_LARGEST stand for none. */
static uint16_t short_rate(float rate)
{
    uint32_t bits;

    memcpy(&bits, &rate, sizeof bits);
    return (uint16_t)(((bits + (1u << (RATE_CUT - 1))) >> RATE_CUT) + 1);
}

static float long_rate(uint16_t rate)
{
    uint32_t bits = (rate - 1u) << RATE_CUT;
    float value;

    if (rate == NO_LEAST || rate == NO_LARGEST)
        return NAN;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void widen(uint16_t *extremes, const uint16_t *other, uint32_t pairs)
{
    for (; pairs != 0; pairs--, extremes += 2, other += 2) {
        if (other[0] < extremes[0])
            extremes[0] = other[0];
        if (other[1] > extremes[1])
            extremes[1] = other[1];
    }
}

static void clear(const struct view_bins *bins, struct view_bins_cpu *c, uint32_t from, uint32_t to)
{
    uint32_t sums = sum_words(bins), extremes = extreme_words(bins);

    if (from == to)
        return;
    memset(c->sums + (size_t)from * sums, 0, (size_t)(to - from) * sums * sizeof c->sums[0]);
    for (size_t i = (size_t)from * extremes; i < (size_t)to * extremes; i += 2) {
        c->extremes[i] = NO_LEAST;
        c->extremes[i + 1] = NO_LARGEST;
    }
}

/* Adds a bin of one CPU's to one of another's. */
static void add_bin(const struct view_bins *bins, struct view_bins_cpu *c, size_t into,
                    const struct view_bins_cpu *from, size_t n)
{
    uint32_t sums = sum_words(bins), extremes = extreme_words(bins);

    for (uint32_t i = 0; i < sums; i++)
        c->sums[into * sums + i] += from->sums[n * sums + i];
    widen(c->extremes + into * extremes, from->extremes + n * extremes, extremes / 2);
}

/* Adds up 2^by bins to one each. */
static void merge(const struct view_bins *bins, struct view_bins_cpu *c, unsigned by)
{
    uint32_t sums = sum_words(bins), extremes = extreme_words(bins);
    uint32_t used = (uint32_t)(((uint64_t)c->used + (1ull << by) - 1) >> by);

    for (uint32_t n = 1; n < c->used; n++) {
        uint32_t into = n >> by;

        if ((n & ((1ull << by) - 1)) == 0) {
            memcpy(c->sums + (size_t)into * sums, c->sums + (size_t)n * sums,
                   sums * sizeof c->sums[0]);
            memcpy(c->extremes + (size_t)into * extremes, c->extremes + (size_t)n * extremes,
                   extremes * sizeof c->extremes[0]);
            continue;
        }
        add_bin(bins, c, into, c, n);
    }
    c->used = used;
}

/* Gives back what merging left unused: of many CPUs each has had all of the budget once. */
static void shrink(const struct view_bins *bins, struct view_bins_cpu *c)
{
    uint32_t room = c->room;
    void *less;

    while (room / 2 >= c->used && room > ROOM_LEAST)
        room /= 2;
    if (room == c->room)
        return;
    c->room = room;
    less = realloc(c->sums, (size_t)room * sum_words(bins) * sizeof c->sums[0]);
    if (less != NULL)
        c->sums = less;
    less = realloc(c->extremes, ((size_t)room * extreme_words(bins) + 1) * sizeof c->extremes[0]);
    if (less != NULL)
        c->extremes = less;
}

/* Doubles the width until bin `index` of a CPU, of the present width, is within the budget. */
static uint64_t coarsen(struct view_bins *bins, const struct view_bins_cpu *c, uint64_t index)
{
    unsigned by = 0;

    for (;; by++) {
        uint64_t all = 0;

        for (uint32_t i = 0; i < bins->cpu_count; i++) {
            uint64_t used = bins->cpus[i].used;

            if (&bins->cpus[i] == c && used <= index)
                used = index + 1;
            all += (used + (1ull << by) - 1) >> by;
        }
        if (all <= bins->bins_max || by == 31)
            break;
    }
    for (uint32_t i = 0; by != 0 && i < bins->cpu_count; i++) {
        merge(bins, &bins->cpus[i], by);
        shrink(bins, &bins->cpus[i]);
    }
    bins->shift += by;
    return index >> by;
}

static int reserve(struct view_bins *bins, struct view_bins_cpu *c, uint32_t count)
{
    uint32_t room = c->room != 0 ? c->room : ROOM_LEAST;
    uint64_t *sums;
    uint16_t *extremes;

    while (room < count)
        room *= 2;
    if (room != c->room) {
        sums = realloc(c->sums, (size_t)room * sum_words(bins) * sizeof *sums);
        if (sums != NULL)
            c->sums = sums;
        extremes =
            realloc(c->extremes, ((size_t)room * extreme_words(bins) + 1) * sizeof *extremes);
        if (extremes != NULL)
            c->extremes = extremes;
        if (sums == NULL || extremes == NULL)
            return -ENOMEM;
        c->room = room;
    }
    clear(bins, c, c->used, count); /* the rest is not touched: it takes no memory */
    c->used = count;
    return 0;
}

/* The place of a time among a CPU's bins; -ENOMEM through *error. */
static uint32_t place(struct view_bins *bins, struct view_bins_cpu *c, uint64_t time, int *error)
{
    uint64_t index = time >> bins->shift;

    if (index < c->used)
        return (uint32_t)index;
    while (index > UINT32_MAX - 1) { /* a forged time: the doubling below counts in 32 bits */
        coarsen(bins, c, UINT32_MAX - 1);
        index = time >> bins->shift;
    }
    if (index >= c->used)
        index = coarsen(bins, c, index);
    if (index >= c->used)
        *error = reserve(bins, c, (uint32_t)index + 1);
    return (uint32_t)index;
}

static void count(const struct view_bins *bins, uint64_t *sums, uint16_t *extremes,
                  const struct trace_slot *slot, const struct trace_slot *previous)
{
    uint64_t ticks = slot->time - previous->time;
    float per_tick = 1.0f / (float)ticks, per_base = 0;

    sums[TICKS] += ticks;
    if (bins->base >= 0) {
        uint64_t base = slot->counters[bins->base] - previous->counters[bins->base];

        per_base = base != 0 ? 1.0f / (float)base : 0;
    }
    for (uint32_t i = 0; i < bins->event_count; i++) {
        uint64_t increment = slot->counters[i] - previous->counters[i];
        uint16_t rate = short_rate((float)increment * per_tick);
        uint16_t ratio = short_rate((float)increment * per_base);
        const uint16_t rates[EXTREMES] = {rate, rate, ratio, ratio};

        sums[EVENTS + i] += increment;
        widen(extremes + (size_t)i * EXTREMES, rates, per_base != 0 ? 2 : 1);
    }
}

int view_bins_add(struct view_bins *bins, const struct trace_samples *samples, uint64_t start)
{
    const struct trace_slot *previous = samples->previous;
    struct view_bins_cpu *c = find_cpu(bins, samples->chunk->cpu);
    int error = 0;

    if (c == NULL || samples->event_count != bins->event_count) {
        bins->ignored += samples->count;
        return 0;
    }
    for (uint32_t n = 0; n < samples->count; previous = &samples->slots[n++]) {
        const struct trace_slot *slot = &samples->slots[n];
        uint64_t time = slot->time > start ? slot->time - start : 0;
        uint32_t index = place(bins, c, time - bins->origin, &error);
        uint64_t *sums;

        if (error != 0)
            return error;
        sums = c->sums + (size_t)index * sum_words(bins);
        sums[SAMPLES]++;
        if ((slot->flags & HR_SAMPLE_RESUMED) == 0 && slot->time > previous->time &&
            previous->time >= start)
            count(bins, sums, c->extremes + (size_t)index * extreme_words(bins), slot, previous);
    }
    return 0;
}

/* They never become wider: then they would begin elsewhere than those that they are added to. */
_Static_assert(VIEW_BINS_PART < VIEW_BINS_VALUES_MAX / (EVENTS + HR_EVENTS_MAX * (1 + EXTREMES)),
               "bins_max");

void view_bins_begin(struct view_bins *bins, uint16_t cpu, unsigned shift, uint64_t time)
{
    bins->cpu_count = 1;
    bins->cpus[0].cpu = cpu;
    bins->cpus[0].used = 0;
    bins->shift = shift;
    bins->origin = time >> shift << shift;
}

int view_bins_merge(struct view_bins *bins, const struct view_bins *part)
{
    const struct view_bins_cpu *from = &part->cpus[0];
    struct view_bins_cpu *c = find_cpu(bins, from->cpu);
    int error = 0;

    for (uint32_t n = from->used; n-- != 0;) { /* the last one decides how wide bins become */
        uint64_t samples = from->sums[(size_t)n * sum_words(bins) + SAMPLES];
        uint64_t time = part->origin + ((uint64_t)n << part->shift);
        uint32_t into;

        if (c == NULL)
            bins->ignored += samples;
        if (c == NULL || samples == 0)
            continue;
        into = place(bins, c, time, &error);
        if (error != 0)
            return error;
        add_bin(bins, c, into, from, n);
    }
    return 0;
}

/* A rate as a whole number: its logarithm in steps of 0.3 %; 0 for none, 1 for zero. */
static uint64_t code_of(float rate)
{
    double code;

    if (!isfinite(rate))
        return 0;
    if (rate <= 0)
        return 1;
    code = round((log2((double)rate) + 64) * 256);
    return code < 2 ? 2 : (uint64_t)code;
}

/* The codes of all short rates: a page has many times as many. */
static uint16_t *make_codes(void)
{
    uint16_t *codes = malloc((NO_LEAST + 1u) * sizeof codes[0]);

    for (uint32_t rate = 0; codes != NULL && rate <= NO_LEAST; rate++)
        codes[rate] = (uint16_t)code_of(long_rate((uint16_t)rate));
    return codes;
}

static void pack_cpu(const struct view_bins *bins, const struct view_bins_cpu *c,
                     const uint16_t *codes, struct view_columns *columns)
{
    static const char *const kinds[EXTREMES] = {"rate_min", "rate_max", "ratio_min", "ratio_max"};
    uint32_t words = sum_words(bins), extremes = extreme_words(bins);
    char name[40];

    for (uint32_t i = 0; i < words; i++) {
        view_columns_begin(columns);
        for (uint32_t n = 0; n < c->used; n++)
            view_columns_put(columns, c->sums[(size_t)n * words + i]);
        if (i < EVENTS)
            snprintf(name, sizeof name, "%u.%s", c->cpu, i == SAMPLES ? "samples" : "ticks");
        else
            snprintf(name, sizeof name, "%u.sum.%u", c->cpu, i - EVENTS);
        view_columns_end(columns, name);
    }
    for (uint32_t i = 0; i < extremes; i++) {
        if (i % EXTREMES >= 2 && (bins->base < 0 || i / EXTREMES == (uint32_t)bins->base))
            continue;
        view_columns_begin(columns);
        for (uint32_t n = 0; n < c->used; n++)
            view_columns_put(columns, codes[c->extremes[(size_t)n * extremes + i]]);
        snprintf(name, sizeof name, "%u.%s.%u", c->cpu, kinds[i % EXTREMES], i / EXTREMES);
        view_columns_end(columns, name);
    }
}

void view_bins_pack(const struct view_bins *bins, struct view_columns *columns)
{
    uint16_t *codes = make_codes();
    json_t *cpus = json_array();

    for (uint32_t i = 0; codes != NULL && i < bins->cpu_count; i++) {
        pack_cpu(bins, &bins->cpus[i], codes, columns);
        json_array_append_new(cpus, json_integer(bins->cpus[i].cpu));
    }
    if (codes == NULL)
        columns->error = -ENOMEM;
    free(codes);
    view_columns_set(columns, "cpus", cpus);
    view_columns_set(columns, "bin_ticks", json_real(ldexp(1, (int)bins->shift)));
}
