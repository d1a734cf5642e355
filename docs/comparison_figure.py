"""Draws docs/images/comparison.svg with gnuplot."""
import subprocess

FIGURE = "docs/images/comparison.svg"


def draw(rows):
    """A dot plot: a line per row of the tables, a panel per measure; no dot where there is no number."""
    data = "\n".join(
        f'"{row.name}" {len(rows) - i} {row.get("open", "optimum_share")} {row.perplexity()} '
        f'{row.recall(64, 128)}'
        for i, row in enumerate(rows))
    height = 110 + 15 * len(rows)
    panels = [("share of the optimum", 3, 0.24, 0.47, "set xtics 0.05"),
              ("perplexity", 4, 0.49, 0.72,
               "set logscale x; set xrange [2:10]; set xtics (2, 3, 5, 10)"),
              ("recalled, 64 to 128 tokens old", 5, 0.74, 0.98,
               "unset logscale x; set xrange [0:0.8]; set xtics 0.2")]
    plots = ""
    for index, (title, column, left, right, extra) in enumerate(panels):
        labels = ":ytic(1)" if index == 0 else ""
        plots += f"""
set lmargin at screen {left}
set rmargin at screen {right}
{extra}
{'' if index == 0 else 'set ytics 1 format "" scale 0'}
set title '{title}'
plot $data using {column}:2{labels} with points pt 7 ps 0.55 lc rgb '#2166ac' notitle
"""
    script = f"""
set terminal svg size 900,{height} dynamic noenhanced font 'Helvetica,11' background '#ffffff'
set output '{FIGURE}'
$data << EOD
{data}
EOD
set datafile missing "nan"
set multiplot
set border 1 lc rgb '#555555'
set tmargin at screen {1 - 40 / height}
set bmargin at screen {40 / height}
set yrange [0.3:{len(rows) + 0.7}]
set xtics nomirror
set ytics nomirror scale 0
set grid x y lc rgb '#e6e6e6' lt 1
{plots}
unset multiplot
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
