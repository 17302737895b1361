# Time by stage, on a logarithmic scale: each stage's lesson is a factor. A point is the median, its line the
# quartiles around it; a bar would begin at a zero that such a scale does not have.
load 'plots/table.gp'
time = of_kind('time_us', 'launch_us')
least = 1e30
most = 0
array n_timed[n_series]
n_all = 0
do for [s = 1:n_series] {
    n = 0
    stats table index s-1 using (v = the(time), least = v < least ? v : least, most = v > most ? v : most, n = n + has(time), 1) nooutput
    n_timed[s] = n
    n_all = n_all + n
    if (!n) {
        why_not = 'no value'
        stats notes using (why_not = (int(column('series')) == s - 1 && strcol('column') eq time ? strcol('why') : why_not), 1) nooutput
        series_foot[s] = series_foot[s].' (not drawn: '.why_not.')'
    }
}
title_text = 'Time by stage'
sub_text = problem.'. Microseconds, '.kind_of_time.(any_predicted ? '' : ': median and quartiles')
eval begin_foot
eval put_foot
eval heading
set ylabel 'microseconds (log scale)'
time_label(us) = us >= 1e4 ? sprintf('%.1fk', us / 1e3) : us >= 100 ? sprintf('%.0f', us) : sprintf('%.3g', us)
n_drawn = 0
do for [s = 1:n_series] { n_drawn = n_drawn + (n_timed[s] > 0) }
at(s) = n_drawn < 2 ? 0 : 0.34 * (s - (n_series + 1) / 2.0)
spread(x) = !any_predicted && has('iqr_us') ? column('iqr_us') / 2 : 0
name_of(s) = series_kind[s] eq 'none' ? '' : series_kind[s]
if (n_drawn > 1) { set xrange [0:n_stages + 0.6] }
# In the first stage each point says what it is.
if (n_all == 0) {
    set yrange [0:1]
    set label 1 'nothing to draw: no times here' at graph 0.5, graph 0.5 center
    plot table index 0 using ($0 + 1):(NaN):xtic(tic_of(0)) notitle
} else {
    set logscale y
    set yrange [least / 3:most * 4]
    plot table index 0 using ($0 + 1):(NaN):xtic(tic_of(0)) notitle, \
         for [s = 1:n_series] table index s-1 using ($0 + 1 + at(s)):(the(time)):(the(time) - spread(0)):(the(time) + spread(0)) \
             with yerrorbars pointtype (series_kind[s] eq 'predicted' ? 6 : 7) pointsize 1.6 linewidth 2 linecolor rgb ink[1] notitle, \
         for [s = 1:n_series] table index s-1 using ($0 + 1 + at(s)):(the(time)):(time_label(the(time))) \
             with labels offset 0,1.1 font ',16' notitle, \
         for [s = 1:(n_drawn > 1 ? n_series : 0)] table index s-1 using ($0 + 1 + at(s)):($0 == 0 && s == 1 ? the(time) : NaN):(name_of(s)) \
             with labels right offset -1.2,0 font ',15' textcolor rgb soft notitle, \
         for [s = 1:(n_drawn > 1 ? n_series : 0)] table index s-1 using ($0 + 1 + at(s)):($0 == 0 && s > 1 ? the(time) : NaN):(name_of(s)) \
             with labels left offset 1.2,0 font ',15' textcolor rgb soft notitle
}
