/* Text that foreign files brought along, made fit to be printed and recorded. */
#pragma once

/* Replaces by '?', in place: control characters other than newlines and tabs, which would command a terminal, and bytes that
 * are no UTF-8 (RFC 3629), which a JSON string cannot hold. */
void plain_text(char *text);

/* A kernel's name in the source: "_Z5sgemmPKfPfi" -> "sgemm", for printf's %.*s. A symbol that is not of this form (C, a template,
 * a namespace) stays as it is. */
const char *plain_name(const char *symbol, int *length);
