/* SIGINT and SIGTERM let the row be finished: the program asks between samples whether to stop.
 * A second signal ends it at once. SIGPIPE becomes a write error. */
#pragma once

void interrupt_catch(void);

/* 0, or the signal that came. */
int interrupt_signal(void);
