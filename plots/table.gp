# What the pictures of `make compare` share: the table, its series and their footnotes. Set before loading, besides what
# style.gp wants:
#   dir      folder with table.txt, notes.txt, labels.txt (plots/tabulate.c writes them)
#   problem  text for the subtitle
load 'plots/style.gp'
table  = dir.'/table.txt'
notes  = dir.'/notes.txt'
labels = dir.'/labels.txt'

n_series = 0
stats labels using (n_series = n_series + 1, 1) nooutput
array series_name[n_series]
array series_foot[n_series]
array series_kind[n_series] # measured, predicted, none
any_predicted = 0
any_measured = 0
do for [i = 1:n_series] {
    stats labels using (series_name[i] = strcol('label'), series_foot[i] = strcol('pedigree'), series_kind[i] = strcol('kind'), 1) every ::i-1::i-1 nooutput
    any_predicted = any_predicted || series_kind[i] eq 'predicted'
    any_measured = any_measured || series_kind[i] eq 'measured'
}
# Like with like: a prediction is of one launch alone, so beside one stand measured launches of that kind.
of_kind(back_to_back, alone) = any_predicted ? alone : back_to_back
kind_of_time = any_predicted ? 'one launch alone' : 'launches back to back'

# Under a stage's name, how many CTAs it launched: a grid smaller than the chip's SMs leaves some idle.
tic_of(x) = strcol('stage').(is_dumb || !has('ctas') ? '' : sprintf("\n%d CTAs", column('ctas')))
# A record of another kernel than the one built here is hatched.
is_another(x) = !is_dumb && has('another_kernel') && column('another_kernel') == 1
# What stands in place of a bar; '': the bar.
instead(x) = ''
n_stages = 0
stats table using (n_stages = n_stages + 1, 1) index 0 nooutput
set xrange [0.4:n_stages + 0.6]
set yrange [0:*]

# In characters the footnotes stand below the plot (compare.sh): a line of them is longer than a terminal.
foot_below = ''
foot_text = ''
begin_foot = 'foot_text = foot_below; do for [i = 1:n_series] { foot_text = foot_text.(foot_text eq "" || series_foot[i] eq "" ? "" : "\n").wrap(series_foot[i], 138) }'
put_foot = 'if (!is_dumb) { set label 100 foot_text at screen 0.02, screen foot_row * (n_lines(foot_text) - 0.1) left font small textcolor rgb soft; set bmargin at screen foot_row * (n_lines(foot_text) + 0.2) + (82.0 + (exists("axis_below") ? axis_below : 0)) / tall }'
heading = 'if (is_dumb) { set title title_text } else { set label 101 title_text at screen 0.02, screen head_at left font ",21"; set label 102 sub_text at screen 0.02, screen sub_at left font ",15" textcolor rgb soft }'
