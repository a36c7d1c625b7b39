/* Until when each connection of the page's server must get on: with its request, with taking an
 * answer, with asking again.  A byte now and then wins no time.
 *
 * Pure: the caller says what time it is, and holds a lock where threads share this.  Times are in
 * ms of any clock that does not go back.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define VIEW_DEADLINES_MAX 512u
#define VIEW_REQUEST_MS 3000u /* from the connection to its first whole request */
#define VIEW_IDLE_MS 20000u /* from an answer to the next whole request */
#define VIEW_ANSWER_MS 10000u /* for any answer, and ... */
#define VIEW_ANSWER_BYTES_PER_MS 32u /* ... this much of it a ms: slower readers lose it */

struct view_deadline {
    uint64_t due_ms;
    int fd;
};

struct view_deadlines {
    struct view_deadline all[VIEW_DEADLINES_MAX];
    uint32_t count;
    uint32_t workers; /* answers in work: until they are done no client is read, and none is late */
    uint64_t work_since_ms;
};

/* A connection comes; beyond VIEW_DEADLINES_MAX it has no deadline.  It goes: forgets it. */
void view_deadlines_begin(struct view_deadlines *d, int fd, uint64_t now_ms);
void view_deadlines_end(struct view_deadlines *d, int fd);

/* An answer of that length is sent from now on; it was sent. */
void view_deadlines_answer(struct view_deadlines *d, int fd, uint64_t bytes, uint64_t now_ms);
void view_deadlines_answered(struct view_deadlines *d, int fd, uint64_t now_ms);

/* Around the making of an answer: that time counts for no connection. */
void view_deadlines_work(struct view_deadlines *d, uint64_t now_ms);
void view_deadlines_rest(struct view_deadlines *d, uint64_t now_ms);

/* A connection that is late, told once; -1: none. */
int view_deadlines_late(struct view_deadlines *d, uint64_t now_ms);
