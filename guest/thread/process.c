/* The process that the program is. */
#include "guest/thread/process.h"

struct process process_first;
