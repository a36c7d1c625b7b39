/* What changed from one run to another: the comparison of `hr diff`.  Never prints. */
#pragma once

#include "host/diff/diff_side.h"
#include "host/draw/function_name.h"

struct diff_change {
    const char *name; /* of a place, or of an event; raw; of one of the sides */
    const char *object; /* "" of totals */
    uint64_t before;
    uint64_t after;
    uint64_t runs[2]; /* of samples in it, before and after; of places */
    bool in_before; /* it was there */
    bool in_after;
};

struct diff {
    const struct diff_side *a;
    const struct diff_side *b;
    int event; /* of a, compared in places; -1: samples */
    int event_b; /* the same event in b */
    struct diff_change *places; /* those that changed most first; owned */
    uint32_t place_count;
};

struct diff_limit { /* of a change */
    double value;
    bool percent; /* of what was before, or else a number of events */
    bool given;
};

/* Compares what one event counted in each place; `event` NULL: instructions, else samples.  The
 * sides must outlive it.  0, -ENOMEM, -ENOENT: a side has no such event. */
int diff_compare(struct diff *diff, const struct diff_side *a, const struct diff_side *b,
                 const char *event);
void diff_free(struct diff *diff);

/* The total of the event that is compared. */
struct diff_change diff_total(const struct diff *diff);

/* Offers the places that have a sample on either side. */
void diff_offer_functions(const struct diff *diff, struct function_choice *choice);

/* The change of the functions chosen, in whichever objects. */
void diff_function(const struct diff *diff, const struct function_choice *function,
                   struct diff_change *change);

/* The change of a place that chance alone may show, three standard deviations; 0: its counts are
 * exact.  A sample falls into a place or not, so the variance of their number is that of a binomial
 * distribution, and the runs of samples in the place are as many as that variance where the program
 * moves in and out between samples (Wald and Wolfowitz, "On a Test Whether Two Samples are from the
 * Same Population", 1940).  Where it stays for many samples, only the ends of a stay are uncertain,
 * which the runs bound, too. */
double diff_chance(const struct diff *diff, const struct diff_change *change);

/* Whether samples estimate the counts of places, on one side at least. */
bool diff_is_sampled(const struct diff *diff);

/* Whether a change is more than chance. */
bool diff_is_certain(const struct diff *diff, const struct diff_change *change);

/* "1%", "0.5 %" or "500".  False: neither. */
bool diff_parse_limit(const char *text, struct diff_limit *limit);

/* Whether a change, in either direction, is larger than the limit. */
bool diff_exceeds(const struct diff_change *change, const struct diff_limit *limit);

/* Whether it grew by more than the limit: less is no failure. */
bool diff_grew(const struct diff_change *change, const struct diff_limit *limit);

static inline uint64_t diff_size(const struct diff_change *change)
{
    return change->after > change->before ? change->after - change->before
                                          : change->before - change->after;
}
