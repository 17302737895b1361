# Draws grouped bars: one group a stage, in it one bar for each series and column that has any value: solid where it is
# measured, outlined where it is not. What a bar is stands in it, once. Set before loading, besides what table.gp wants:
#   title_text, sub_text
#   n_columns, column_name[] (as in table.txt), column_title[] ('': the series says it all), column_ink[]
#   column_once[]  1: only of the last series that has it (what is the same for all of a chip)
# A stage without a value leaves a gap with the reason written in it; it is never a bar of height zero.

n_bars = 0
array bar_series[n_series * n_columns]
array bar_column[n_series * n_columns]
array series_drawn[n_series]
do for [s = 1:n_series] { series_drawn[s] = 0 }
do for [c = 1:n_columns] {
    last = 0
    do for [s = 1:n_series] {
        n_values = 0
        stats table index s-1 using (n_values = n_values + has(column_name[c]), 1) nooutput
        if (n_values > 0) {
            if (column_once[c] && last) { n_bars = n_bars - 1 }
            last = s
            n_bars = n_bars + 1
            bar_series[n_bars] = s
            bar_column[n_bars] = c
            series_drawn[s] = 1
        }
    }
}

# A series without any bar says why in its footnote.
do for [s = 1:n_series] {
    if (!series_drawn[s]) {
        why_not = 'no value'
        stats notes using (why_not = (int(column('series')) == s - 1 && strcol('column') eq column_name[1] ? strcol('why') : why_not), 1) nooutput
        series_foot[s] = series_foot[s].' (not drawn: '.why_not.')'
    }
}
eval begin_foot
eval put_foot
eval heading

width = n_bars ? (n_bars == 1 ? 0.6 : 0.84 / n_bars) : 0.84
x_of(row, b) = row + 1 + (b - (n_bars + 1) / 2.0) * width
is_outlined(b) = series_kind[bar_series[b]] eq 'predicted' || column_once[bar_column[b]]
mark_of(b) = (word = series_kind[bar_series[b]], word = word eq 'predicted' && exists('not_predicted') ? not_predicted : word, any_measured && any_predicted || column_title[bar_column[b]] eq '' ? word : '')
title_of(b) = column_title[bar_column[b]] eq '' ? mark_of(b) : column_title[bar_column[b]].(column_once[bar_column[b]] || mark_of(b) eq '' ? '' : ', '.mark_of(b))
tall_of(b) = instead(0) eq '' ? the(column_name[bar_column[b]]) : NaN

# The row (from 0) of a stage number, for notes; what the highest bar is, and the group with the highest lowest bar.
array row_of[99]
stats table index 0 using (row_of[int(column('number'))] = int($0), 1) nooutput
highest = 0
array lowest_of[n_stages]
do for [r = 1:n_stages] { lowest_of[r] = 1e30 }
do for [b = 1:n_bars] {
    stats table index bar_series[b]-1 using (v = tall_of(b), highest = v > highest ? v : highest, r = int($0) + 1, \
        lowest_of[r] = v == v ? (v < lowest_of[r] ? v : lowest_of[r]) : -1, 1) nooutput
}
told = 1 # the group in which the bars say what they are
do for [r = 1:n_stages] { told = lowest_of[r] < 1e30 && (lowest_of[r] >= lowest_of[told] || lowest_of[told] == 1e30) ? r : told }
top = exists('top') ? top : highest > 0 ? highest * 1.22 : 1
set yrange [0:top]

is_note_of(b) = int(column('series')) == bar_series[b] - 1 && strcol('column') eq column_name[bar_column[b]]
plot_pixels = tall - 92.0 - 18 * n_lines(foot_text) - 82
pixel = top / plot_pixels
# The words of a bar begin at its foot, or above its value where it is too short for them.
is_long(b, v) = v / pixel > 9.2 * strlen(title_of(b)) + 12
words_at(b, v) = is_long(b, v) ? 8 * pixel : v + 34 * pixel
ink_at(b, v) = is_long(b, v) && !is_outlined(b) ? 0xffffff : 0x333333

if (n_bars == 0) {
    why_not = 'no value'
    stats notes using (why_not = strcol('why'), 1) every ::0::0 nooutput
    set label 1 'nothing to draw: '.why_not at graph 0.5, graph 0.5 center
    set yrange [0:1]
    plot table index 0 using ($0 + 1):(NaN):xtic(tic_of(0)) notitle
} else {
    plot table index 0 using ($0 + 1):(NaN):xtic(tic_of(0)) with points notitle, \
         for [b = 1:n_bars] table index bar_series[b]-1 using (x_of($0, b)):(is_outlined(b) ? NaN : tall_of(b)):(width * 0.92) \
             with boxes linecolor rgb column_ink[bar_column[b]] notitle, \
         for [b = 1:n_bars] table index bar_series[b]-1 using (x_of($0, b)):(is_outlined(b) ? tall_of(b) : NaN):(width * 0.92) \
             with boxes fill empty border rgb column_ink[bar_column[b]] linewidth 2.5 linecolor rgb column_ink[bar_column[b]] notitle, \
         for [b = 1:n_bars] table index bar_series[b]-1 using (x_of($0, b)):(tall_of(b)):(value_label(tall_of(b))) \
             with labels offset 0,0.6 font ',16' notitle, \
         for [b = 1:n_bars] table index bar_series[b]-1 using (x_of($0, b)):(is_another(0) ? tall_of(b) : NaN):(width * 0.92) \
             with boxes fill transparent pattern 4 linecolor rgb '#ffffff' notitle, \
         for [b = 1:(is_dumb ? 0 : n_bars)] table index bar_series[b]-1 \
             using (x_of($0, b)):($0 + 1 == told ? words_at(b, tall_of(b)) : NaN):(title_of(b)):(ink_at(b, tall_of(b))) \
             with labels left rotate by 90 font ',15' textcolor rgb variable notitle, \
         for [b = 1:1] table index 0 using ($0 + 1):(instead(0) eq '' ? NaN : 34 * pixel):(instead(0)) \
             with labels center font ',15' textcolor rgb soft notitle, \
         for [b = 1:n_bars] notes \
             using (is_note_of(b) ? x_of(row_of[int(column('number'))], b) : NaN):(8 * pixel):(wrap('n/a: '.strcol('why'), 44)) \
             with labels left rotate by (is_dumb ? 0 : 90) font small textcolor rgb soft notitle
}
