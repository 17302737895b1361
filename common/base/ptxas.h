/* What `ptxas -v` said of a cubin: the .ptxas file beside it. */
#pragma once

/* Registers of a thread of `kernel`; -1 if the file or the kernel is not there, -2 if
 * the file could not be read. */
int ptxas_registers(const char *path, const char *kernel);
