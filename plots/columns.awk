# Lines of words in columns, two blanks between them: what `column -t` prints, which not every system has.
{
    n[NR] = NF
    for (i = 1; i <= NF; i++) {
        word[NR, i] = $i
        if (length($i) > wide[i]) wide[i] = length($i)
    }
}
END {
    for (line = 1; line <= NR; line++) {
        for (i = 1; i < n[line]; i++) printf "%-" wide[i] + 2 "s", word[line, i]
        if (n[line]) print word[line, i]
    }
}
