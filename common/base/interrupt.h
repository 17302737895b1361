/* SIGINT and SIGTERM let the row be finished: the program asks between samples whether to stop.
 * A second signal ends it at once. SIGPIPE becomes a write error. */
#pragma once

void interrupt_catch(void);

/* The signal has come: for programs with handlers of their own. */
void interrupt_note(int signal);

/* 0, or the signal that came. */
int interrupt_signal(void);
