/* Lists of timers, earliest first; timers due at one time stay in the order in which they were set.
 */
#pragma once

#include "guest/thread/timer.h"

void timer_list_add(struct timer **head, struct timer *timer);
void timer_list_remove(struct timer **head, struct timer *timer);
