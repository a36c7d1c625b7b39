/* The program's process. */
#include "guest/thread/process.h"

static struct vm_space first_space;

struct process process_first = {.space = &first_space};
