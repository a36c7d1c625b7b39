/* The wall time of the file system. */
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/vm/inode.h"

/* Before the program starts there is no clock yet, only the time at which it will start. */
uint64_t inode_now(void)
{
    return run_state.started ? clock_realtime_ns() : run.start_unix_ns;
}
