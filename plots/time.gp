# Time by stage, on a logarithmic scale: each stage's lesson is a factor. A point is the median, its line the
# quartiles around it; a bar would begin at a zero that such a scale does not have.
load 'plots/style.gp'
least = 1e30
most = 0
do for [s = 1:n_series] {
    stats table index s-1 using (least = valid(3) && column(3) < least ? column(3) : least, 1) nooutput
    stats table index s-1 using (most = valid(3) && column(3) > most ? column(3) : most, 1) nooutput
}
set title 'Time by stage'
set ylabel 'microseconds (log scale)'
set logscale y
time_label(us) = us >= 1e4 ? sprintf('%.1fk', us / 1e3) : us >= 100 ? sprintf('%.0f', us) : sprintf('%.3g', us)
at(s) = 0.3 * (s - (n_series + 1) / 2.0)
array n_timed[n_series]
n_all = 0
do for [s = 1:n_series] {
    n = 0
    stats table index s-1 using (n = n + valid(3), 1) nooutput
    n_timed[s] = n
    n_all = n_all + n
    if (!n && !is_dumb) {
        why = 'no value'
        stats notes using (why = (int($1) == s - 1 && strcol(3) eq 'time_us' ? strcol(4) : why), 1) nooutput
        set label 100 + s series_foot[s].' (not drawn: '.why.')'
    }
}
spread(x) = valid(4) ? column(4) / 2 : 0 # a predicted time has none
if (n_all) { set yrange [least / 3:most * 4] }
if (n_all == 0) {
    unset logscale
    set yrange [0:1]
    set label 1 'nothing to draw: no times here' at graph 0.5, graph 0.5 center
    plot table index 0 using ($0 + 1):(NaN):xtic(tic_of(0)) notitle
} else {
    plot table index 0 using ($0 + 1):(NaN):xtic(tic_of(0)) notitle, \
         for [s = 1:n_series] table index s-1 using ($0 + 1 + at(s)):3:($3 - spread(0)):($3 + spread(0)) \
             with yerrorbars pointtype 7 pointsize 1.3 linewidth 1.5 linecolor rgb ink[s] title (n_timed[s] ? series_name[s] : ''), \
         for [s = 1:n_series] table index s-1 using ($0 + 1 + at(s)):3:(time_label($3)) \
             with labels offset 0,1 font ',10' notitle
}
