/* The way that was chosen for what the run sends. */
#include "guest/transport/transport.h"

const struct transport *transport;
uint64_t transport_end_bytes;
