/* signalfd.  Context: with the kernel lock held. */
#pragma once

#include <stdint.h>

/* Call when a signal was sent to any thread or the process: a signalfd may be ready. */
void signalfd_sent(uint32_t signal);
