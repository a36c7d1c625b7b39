/* A kernel without a network: output over TCP is refused. */
#include <errno.h>

#include "guest/base/log.h"
#include "guest/transport/transport.h"

static int init(struct boot_info *boot)
{
    boot->result.report_bytes =
        (uint32_t)format_text(boot->result.report, sizeof boot->result.report,
                              "this kernel was built without network streaming");
    boot->result.end = BOOT_END_UNSENT;
    return -ENOSYS;
}

const struct transport transport_tcp = {.name = "tcp", .init = init};
