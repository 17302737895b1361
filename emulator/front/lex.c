/* PTX text to tokens, and how the parser takes them one by one. A word is anything that starts like
 * a name and goes on through dots and `::`: an opcode with its modifiers is one word, and so is
 * %tid.x. Directives end at the next dot: `.reg.b32` is two words. */
#include "parser.h"

#include <stdlib.h>
#include <string.h>

static bool starts_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
           c == '.';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static int hex(char c) {
    if (is_digit(c)) return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The end of white space and comments; counts lines. */
static const char *skip_blank(const char *s, const char *end, int *line) {
    while (s < end) {
        if (*s == '\n') {
            ++*line, ++s;
        } else if (*s == ' ' || *s == '\t' || *s == '\r') {
            ++s;
        } else if (end - s >= 2 && s[0] == '/' && s[1] == '/') {
            while (s < end && *s != '\n') ++s;
        } else if (end - s >= 2 && s[0] == '/' && s[1] == '*') {
            const char *open = s; /* its own star ends no comment */
            for (s += 2; s < end && !(s > open + 2 && s[-1] == '*' && s[0] == '/'); ++s)
                *line += *s == '\n';
            s += s < end;
        } else {
            break;
        }
    }
    return s;
}

static const char *lex_word(struct token *t, const char *s, const char *end) {
    t->kind = TOKEN_WORD;
    bool is_directive = *s == '.';
    for (++s; s < end; ++s) {
        if (is_directive && *s == '.') break;
        if (starts_word(*s) || is_digit(*s)) continue;
        if (*s == ':' && end - s >= 3 && s[1] == ':' && (starts_word(s[2]) || is_digit(s[2]))) {
            ++s; /* shared::cta, L2::128B */
            continue;
        }
        break;
    }
    return s;
}

/* 00.5 is no octal number. */
static bool is_real(const char *s, const char *end) {
    while (s < end && is_digit(*s)) ++s;
    return s < end && *s == '.';
}

static const char *lex_number(struct token *t, const char *s, const char *end) {
    t->kind = TOKEN_NUMBER;
    int base = 10;
    if (s[0] == '0' && end - s >= 2) {
        char c = s[1] | 0x20;
        if (c == 'x')
            base = 16, s += 2;
        else if (c == 'b')
            base = 2, s += 2;
        else if (c == 'f')
            base = 16, s += 2, t->float_bytes = 4;
        else if (c == 'd')
            base = 16, s += 2, t->float_bytes = 8;
        else if (is_digit(s[1]) && !is_real(s, end))
            base = 8, ++s;
    }
    const char *digits = s;
    for (; s < end && hex(*s) >= 0 && hex(*s) < base; ++s)
        t->value = t->value * (uint64_t)base + (uint64_t)hex(*s);
    if (base == 10 && s < end && *s == '.') { /* 1.5 is a double */
        char copy[64];
        size_t n = 0;
        for (s = digits; s < end && n + 1 < sizeof copy &&
                         (is_digit(*s) || *s == '.' || (*s | 0x20) == 'e' ||
                          ((*s == '+' || *s == '-') && (s[-1] | 0x20) == 'e'));)
            copy[n++] = *s++;
        copy[n] = 0;
        double d = strtod(copy, NULL);
        memcpy(&t->value, &d, 8);
        t->float_bytes = 8;
    } else if (s < end && (*s == 'U' || *s == 'u')) {
        ++s;
    }
    return s;
}

void ptx_lex(struct parser *p, const char *text, size_t bytes) {
    const char *s = text, *end = text + bytes;
    int line = 1;
    uint32_t capacity = 0;
    for (;;) {
        s = skip_blank(s, end, &line);
        p->token = ptx_grow(p, p->token, p->n_tokens, &capacity, sizeof *p->token);
        struct token *t = &p->token[p->n_tokens++];
        *t = (struct token){.line = line, .text = s};
        if (s >= end || *s == 0) break;
        if (starts_word(*s)) {
            s = lex_word(t, s, end);
        } else if (is_digit(*s)) {
            s = lex_number(t, s, end);
        } else if (*s == '"') {
            t->kind = TOKEN_STRING;
            for (++s; s < end && *s != '"' && *s != '\n'; ++s) {
            }
            t->text++;
            t->length = (uint32_t)(s - t->text);
            s += s < end;
            continue;
        } else {
            t->kind = TOKEN_PUNCT;
            t->punct = *s++;
        }
        t->length = (uint32_t)(s - t->text);
    }
}

/* ---- Taking tokens --------------------------------------------------------------------------- */

bool ptx_is(const struct token *t, const char *word) {
    return t->kind == TOKEN_WORD && t->length == strlen(word) && !memcmp(t->text, word, t->length);
}

bool ptx_accept(struct parser *p, char punct) {
    if (ptx_peek(p)->kind != TOKEN_PUNCT || ptx_peek(p)->punct != punct) return false;
    p->at++;
    return true;
}

void ptx_expect(struct parser *p, char punct) {
    struct token *t = ptx_peek(p);
    if (!ptx_accept(p, punct))
        ptx_fail(p, "expected '%c' before '%.*s'", punct, (int)(t->length < 40 ? t->length : 40),
                 t->text);
}

struct token *ptx_word(struct parser *p) {
    struct token *t = ptx_peek(p);
    if (t->kind != TOKEN_WORD) ptx_fail(p, "a name is missing");
    p->at++;
    return t;
}

uint64_t ptx_integer(struct parser *p) {
    bool negative = ptx_accept(p, '-');
    struct token *t = ptx_peek(p);
    if (t->kind != TOKEN_NUMBER) ptx_fail(p, "a number is missing");
    p->at++;
    return negative ? -t->value : t->value;
}

char *ptx_string(struct parser *p, const struct token *t) {
    char *s = ptx_alloc(p, t->length + 1u);
    memcpy(s, t->text, t->length);
    return s;
}
