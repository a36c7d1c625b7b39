/* What ASan does with an error: its exit status is none of hr's, and where a check of UBSan traps
 * it says where, with the calls that led there.  Newer versions would move variables off the stack,
 * which tests look at.  It remembers what can be accessed of a large block in the pages that it has
 * for that, in place of new ones each time, of which each would be touched first.  A test may have
 * its own.
 */
const char *__asan_default_options(void);

__attribute__((weak)) const char *__asan_default_options(void)
{
    return "handle_sigill=1:exitcode=134:detect_stack_use_after_return=0:"
           "clear_shadow_mmap_threshold=1000000000";
}
