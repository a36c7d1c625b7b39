/* libhr: a program under Microtome controls how it is sampled, and measures regions of its code.
 *
 *   cc program.c -lhr                 (build/libhr.a, build/libhr.so; no other library)
 *
 * On ordinary Linux the same program runs unchanged: every call that returns int returns -ENOSYS
 * and does nothing, and costs a few instructions.  Functions return 0 or a negative errno.  All may
 * be called from any thread; docs/libhr.md says what they cost and what they count.
 */
#ifndef HR_H
#define HR_H

#include <stdint.h>

#define HR_EVENTS_LIMIT 13 /* counters of a run, at most */
#define HR_REGIONS_LIMIT 255 /* regions of a program, at most */
#define HR_NAME_LIMIT 255 /* bytes of a name */

#ifdef __cplusplus
extern "C" {
#endif

/* 1 under Microtome, 0 elsewhere; and the same in words: a constant text. */
int hr_available(void);
const char *hr_status_text(void);

/* The trigger rests on all CPUs from hr_pause() to hr_start(); counters go on.  A pause takes a
 * sample first, and hr_start() one that is marked as resumed: what was counted between the two
 * belongs to no place in the program.  With `hr run --paused` the run begins paused.  Pausing what
 * is paused, or starting what is not, does nothing. */
int hr_start(void);
int hr_pause(void);

/* Takes a sample here and now, paused or not.  -EPERM with --mode off, -EINVAL: another scope. */
enum hr_scope { HR_THIS_CPU = 0, HR_ALL_CPUS = 1 };
int hr_poll(int scope);

/* Whatever was sampled before has left the guest when this returns: for programs that may not come
 * to an orderly end.  hr_poll_log: a sample of this CPU first. */
int hr_log(void);
int hr_poll_log(void);

/* Puts a text at this time into the trace.  -EINVAL empty or longer than HR_NAME_LIMIT, -ENOSPC too
 * many different ones (1024). */
int hr_mark(const char *name);

/* The counters' values now, hr_event_count() of them, on the CPU that the caller runs on; each is
 * meaningful modulo 2 to the power of hr_event_width(): subtract two and take the low bits.  Where
 * the counters can be read in user mode the kernel is not entered. */
int hr_read(uint64_t values[]);
int hr_event_count(void);
const char *hr_event_name(int event); /* NULL: no such event */
int hr_event_width(int event); /* bits; -EINVAL: no such event */

/* A region: what every counter and the clock counted between begin and end, summed up over all
 * passes and threads with smallest, largest and histogram, and put into the trace at its end, also
 * when the program crashes.
 *
 *   static struct hr_region parse = HR_REGION("parse");
 *   hr_region_begin(&parse);  ...  hr_region_end(&parse);
 *
 * The struct lives as long as the program; regions of one name are one in the trace.  Regions may
 * nest and overlap.  A begin within the same region of the same thread starts the pass anew.
 * begin: -ENOSPC too many regions, -ENOMEM, -EINVAL for its name.  end: -EINVAL without a begin.
 */
struct hr_region {
    const char *name;
    uint32_t id; /* 0 until first used; libhr's own */
    uint32_t reserved;
};
#define HR_REGION(text) \
    {                   \
        (text), 0, 0    \
    }

int hr_region_begin(struct hr_region *region);
int hr_region_end(struct hr_region *region);

#ifdef __cplusplus
}

namespace hr
{
/* The region lasts as long as this object. */
class scope
{
  public:
    explicit scope(hr_region &region) : region_(region)
    {
        hr_region_begin(&region_);
    }
    ~scope()
    {
        hr_region_end(&region_);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

  private:
    hr_region &region_;
};
} // namespace hr
#endif

#endif
