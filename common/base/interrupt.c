#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int arrived; /* written by a handler, read by other threads */
static char said[128];     /* made before: a signal handler can only write */

static void remember(int signal) {
    int kept = errno;
    arrived = signal;
    ssize_t n = write(STDERR_FILENO, said, strlen(said));
    (void)n; /* nobody is left to be told */
    errno = kept;
}

void interrupt_catch(void) {
    struct sigaction once = {.sa_handler = remember, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    snprintf(said, sizeof said,
             "%s: interrupted, and ends after this step; a second time ends it at once\n",
             program_invocation_short_name);
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGTERM, &once, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* ulimit -f: the write fails and says so */
}

void interrupt_note(int signal) { arrived = signal; }

int interrupt_signal(void) { return arrived; }
