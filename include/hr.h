/* libhr: lets a program under Microtome control how it is sampled and measure regions of its code.
 *
 *   cc program.c -lhr                 (build/libhr.a, build/libhr.so; no other library)
 *
 * On ordinary Linux the program runs unchanged: every call that returns int then does nothing,
 * returns -ENOSYS and costs a few instructions.  Functions return 0 or a negative errno.  All of
 * them may be called from any thread.  docs/libhr.md says what they cost and what they count.
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

/* hr_available returns 1 under Microtome, 0 elsewhere.  hr_status_text returns that as a constant
 * text. */
int hr_available(void);
const char *hr_status_text(void);

/* hr_pause() stops the trigger on all CPUs until hr_start(); the counters continue.  hr_pause()
 * takes a sample first, and hr_start() takes one that is marked as resumed: what was counted
 * between the two belongs to no place in the program.  With `hr run --paused` the run begins
 * paused.  Pausing twice, or starting what is not paused, does nothing. */
int hr_start(void);
int hr_pause(void);

/* Takes a sample immediately, paused or not.  Returns -EPERM with --mode off, -EINVAL if scope is
 * not an enum hr_scope. */
enum hr_scope { HR_THIS_CPU = 0, HR_ALL_CPUS = 1 };
int hr_poll(int scope);

/* When hr_log returns, everything sampled before has left the guest.  This is for programs that may
 * crash.  hr_poll_log takes a sample of this CPU first. */
int hr_log(void);
int hr_poll_log(void);

/* Puts a text into the trace, with the current time.  Returns -EINVAL if it is empty or longer than
 * HR_NAME_LIMIT, -ENOSPC if there are too many different texts (1024). */
int hr_mark(const char *name);

/* Reads the hr_event_count() counters of the CPU that the caller runs on.  Each value is meaningful
 * modulo 2 to the power of hr_event_width(): subtract two values and take the low bits.  Where user
 * mode can read the counters, the kernel is not entered. */
int hr_read(uint64_t values[]);
int hr_event_count(void);
const char *hr_event_name(int event); /* returns NULL if there is no such event */
int hr_event_width(int event); /* returns bits; -EINVAL if there is no such event */

/* A region: what every counter and the clock counted between begin and end, over all passes and
 * threads.  The trace gets sum, smallest, largest and histogram when the program ends, also when it
 * crashes.
 *
 *   static struct hr_region parse = HR_REGION("parse");
 *   hr_region_begin(&parse);  ...  hr_region_end(&parse);
 *
 * The struct must live as long as the program.  Regions with equal names are one region in the
 * trace.  Regions may nest and overlap.  A second begin of a region in a thread restarts the pass.
 * hr_region_begin returns -ENOSPC if there are too many regions, -ENOMEM, or -EINVAL for a bad
 * name.  hr_region_end returns -EINVAL without a begin.
 */
struct hr_region {
    const char *name;
    uint32_t id; /* 0 until first used; belongs to libhr */
    uint32_t reserved;
};
#define HR_REGION(text) \
    {                   \
        (text), 0, 0    \
    }

int hr_region_begin(struct hr_region *region);
int hr_region_end(struct hr_region *region);

/* Requests that the program serves, by numbers of its own.  `hr latency` shows how long each took
 * and where the time went.  A request begins in one thread, which works for it from then on, and
 * others may continue it: hr_request_join says that the calling thread works for it from now on,
 * and hr_request_leave that it works for none.  hr_request_block leaves the request waiting, in a
 * queue for example, until a thread joins it; hr_request_end ends it.  A thread works for one
 * request at a time: the last one it began or joined. */
int hr_request_begin(uint64_t request);
int hr_request_end(uint64_t request);
int hr_request_join(uint64_t request);
int hr_request_leave(void);
int hr_request_block(uint64_t request);

#ifdef __cplusplus
}

namespace hr
{
/* A request that lasts as long as the object. */
class request
{
  public:
    explicit request(uint64_t number) : number_(number)
    {
        hr_request_begin(number_);
    }
    ~request()
    {
        hr_request_end(number_);
    }
    request(const request &) = delete;
    request &operator=(const request &) = delete;

  private:
    uint64_t number_;
};

/* The thread works for a request for as long as the object lives. */
class joined
{
  public:
    explicit joined(uint64_t number)
    {
        hr_request_join(number);
    }
    ~joined()
    {
        hr_request_leave();
    }
    joined(const joined &) = delete;
    joined &operator=(const joined &) = delete;
};

/* A region that lasts as long as the object. */
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
