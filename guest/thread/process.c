/* The program's process. */
#include "guest/thread/process.h"

struct process process_first;
