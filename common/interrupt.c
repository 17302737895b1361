#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t arrived;

static void remember(int signal) { arrived = signal; }

void interrupt_catch(void) {
    struct sigaction once = {.sa_handler = remember, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGTERM, &once, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* ulimit -f: the write fails and says so */
}

int interrupt_signal(void) { return arrived; }
