/* Test kernels: tries the network card against an emulator's own network. */
#pragma once

/* Opens the card, asks 10.0.2.2 for its address, sends more frames than a ring has descriptors (of
 * type 88B5H, numbered), exchanges as many echoes, and closes the card.  Logs the results in lines
 * that begin with "net-test: ". */
void net_test(void);
