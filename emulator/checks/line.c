#include "line.h"

struct access stretch_access(struct access a, unsigned lane, unsigned word, unsigned bytes) {
    if (bytes < 4) return (struct access){a.who | 15, a.when | ACCESS_LANES_MANY};
    unsigned shift = bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
    return (struct access){a.who | 12 | shift, a.when | ((lane - (word >> shift)) & 63)};
}

static struct access of_word(struct access a, unsigned word) {
    unsigned lane =
        stretch_many_lanes(a) ? ACCESS_LANES_MANY : (access_lane(a) + (word >> (a.who & 3))) & 63;
    return (struct access){a.who | 15, (a.when & ~(uint64_t)63) | lane};
}

bool stretch_put(struct stretches *s, unsigned from, unsigned to, struct access a) {
    static const struct access none;
    bool old =
        access_launch(s->of[0]) != access_launch(a) && access_launch(s->of[1]) != access_launch(a);
    if (from == 0 && to == LINE_WORDS) { /* all of it */
        s->of[1] = a;
        s->split = 0;
    } else if (from == 0) { /* its beginning: the rest must be one */
        if (s->split > to && !old) return false;
        if (s->split > to) s->of[1] = none;
        s->of[0] = a;
        s->split = to;
    } else if (to == LINE_WORDS) { /* its end: what is before must be one */
        if (s->split == 0)
            s->of[0] = s->of[1];
        else if (s->split < from && !old)
            return false;
        else if (s->split < from)
            s->of[0] = none;
        s->of[1] = a;
        s->split = from;
    } else {
        return false;
    }
    return true;
}

static struct access at_word(const struct stretches *s, unsigned word, uint32_t launch) {
    struct access a = s->of[word >= s->split];
    return access_launch(a) == launch ? of_word(a, word) : (struct access){0};
}

void line_spread(struct line *l, struct word word[LINE_WORDS], uint32_t launch) {
    for (unsigned k = 0; k < LINE_WORDS; k++)
        word[k] = (struct word){at_word(&l->write, k, launch), at_word(&l->read, k, launch)};
    l->by_word = launch;
}
