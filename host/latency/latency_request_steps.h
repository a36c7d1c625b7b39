/* What happens to a request, step by step, and where its threads' time goes. */
#pragma once

#include "host/latency/latency_requests.h"

/* A thread said something of the request. */
void latency_request_steps_said(struct latency_requests *r, struct latency_request *request,
                                const struct hr_rec_request *record);

/* A thread that works for a request leaves it at this time: its part of the time counts. */
void latency_request_steps_left(struct latency_requests *r, const struct latency_thread *thread,
                                uint64_t time);

/* Of latency_follower. */
void latency_request_steps_returned(struct latency_requests *r, const struct latency_call *call);
void latency_request_steps_waited(struct latency_requests *r, const struct latency_thread *thread,
                                  const struct latency_wait *wait);
