# Shared-memory bank conflicts: wavefronts beyond the ideal, as a share of all shared wavefronts.
load 'plots/style.gp'
n_columns = 1
array column_number[1] = [10]
array column_name[1] = ['bank_conflict_pct']
array column_title[1] = ['bank conflicts']
set title 'Bank conflicts by stage'
set ylabel 'percent of shared-memory wavefronts'
most = 0
stats table using (most = valid(10) && column(10) > most ? column(10) : most, 1) nooutput
if (most == 0) { set yrange [0:1] }
load 'plots/bars.gp'
