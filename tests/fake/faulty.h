/* A C library that fails on request, in the program that tests. */
#pragma once

/* The n-th call of `call` from now on (1: the next) fails with `error`, once. Calls: write, fsync, fstat,
 * flock, ftruncate, fchmod, close (which closes), fdopen, fread (which reads
 * nothing). */
void fail_call(const char *call, int n, int error);

/* From now on write() takes at most so many bytes at once; 0: all. */
void write_at_most(unsigned long bytes);

/* File descriptors that are open, bytes of memory that are taken. */
int open_files(void);
unsigned long memory_in_use(void);
