# Draws grouped bars: one group a stage, in it one bar for each series and column that has any value.
# Set before loading, besides what style.gp wants: n_columns, column_number[], column_name[] (as in
# table.txt) and column_title[]; the titles of bars are "column, series".
# column_unless[], where there is one: a column stands in only for series without any value in that one (0: always).
# A stage without a value leaves a gap with the reason written in it; it is never a bar of height zero.

n_bars = 0
array bar_series[n_series * n_columns]
array bar_column[n_series * n_columns]
do for [s = 1:n_series] {
    do for [c = 1:n_columns] {
        n_values = 0
        stats table index s-1 using (n_values = n_values + valid(column_number[c]), 1) nooutput
        unless = (exists('column_unless') ? column_unless[c] : 0)
        if (unless) { stats table index s-1 using (n_values = n_values * !valid(unless), 1) nooutput }
        if (n_values > 0) {
            n_bars = n_bars + 1
            bar_series[n_bars] = s
            bar_column[n_bars] = c
        }
    }
}

# A series without any bar says why in its footnote.
do for [s = 1:n_series] {
    has_bar = 0
    do for [b = 1:n_bars] { has_bar = has_bar + (bar_series[b] == s) }
    if (!has_bar) {
        why = 'no value'
        stats notes using (why = (int($1) == s - 1 && strcol(3) eq column_name[1] ? strcol(4) : why), 1) nooutput
        if (!is_dumb) { set label 100 + s series_foot[s].' (not drawn: '.why.')' }
    }
}

width = n_bars ? 0.84 / n_bars : 0.84
x_of(row, b) = row + 1 + (b - (n_bars + 1) / 2.0) * width
# Each series and column keeps its ink, whichever else is drawn.
ink_of(b) = ink[((bar_series[b] - 1) * n_columns + bar_column[b] - 1) % 10 + 1]
title_of(b) = (n_columns > 1 ? column_title[bar_column[b]].', ' : '').series_name[bar_series[b]]

# The row (from 0) of a stage number, for notes.
array row_of[99]
stats table index 0 using (row_of[int($1)] = int($0), 1) nooutput

is_note_of(b) = int(column(1)) == bar_series[b] - 1 && strcol(3) eq column_name[bar_column[b]]
floor_y = exists('floor_y') ? floor_y : 0

if (n_bars == 0) {
    unset logscale
    stats notes using (why = strcol(4), 1) every ::0::0 nooutput
    set label 1 'nothing to draw: '.why at graph 0.5, graph 0.5 center
    set yrange [0:1]
    plot table index 0 using ($0 + 1):(NaN):xtic(2) notitle
} else {
    plot table index 0 using ($0 + 1):(NaN):xtic(tic_of(0)) with points notitle, \
         for [b = 1:n_bars] table index bar_series[b]-1 \
             using (x_of($0, b)):(column(column_number[bar_column[b]])):(width * 0.94) \
             with boxes linecolor rgb ink_of(b) title title_of(b), \
         for [b = 1:n_bars] table index bar_series[b]-1 \
             using (x_of($0, b)):(column(column_number[bar_column[b]])):(value_label(column(column_number[bar_column[b]]))) \
             with labels offset 0,0.6 font ',9' notitle, \
         for [b = 1:n_bars] table index bar_series[b]-1 \
             using (x_of($0, b)):(is_another(0) ? column(column_number[bar_column[b]]) : NaN):(width * 0.94) \
             with boxes fill transparent pattern 4 linecolor rgb '#ffffff' notitle, \
         for [b = 1:n_bars] notes \
             using (is_note_of(b) ? x_of(row_of[int($2)], b) : NaN):(floor_y):('  n/a: '.strcol(4)) \
             with labels left rotate by (is_dumb ? 0 : 90) font ',9' textcolor rgb '#888888' notitle
}
