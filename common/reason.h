/* A reason is a sentence about the machine or the request: NULL means that all is well.
 * It names cause and remedy, in one line, and lives until the same thread has made 7 more. */
#pragma once

const char *reason(const char *format, ...) __attribute__((format(printf, 1, 2)));
