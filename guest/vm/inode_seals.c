/* What the seals of a memory file forbid. */
#include <linux/fcntl.h>

#include "guest/vm/inode.h"

bool inode_sealed(const struct inode *inode, uint64_t offset, uint64_t bytes)
{
    return inode->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) ||
           (inode->seals & F_SEAL_GROW && offset + bytes > inode->bytes);
}
