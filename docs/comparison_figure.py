"""Draws docs/images/comparison.svg with gnuplot."""
import subprocess

from comparison_runs import against
from measuring import half_width

FIGURE = "docs/images/comparison.svg"
RECALLED = (64, 128)
LEFT, WIDTH, TOP, BOTTOM, LINE, GAP = 220, 1000, 50, 40, 15, 30
BLUE, RED, GREY = "#2166ac", "#b2182b", "#555555"

# Title, range and tics of each panel. The few values outside a range are printed at the edge.
PANELS = [("share of the optimum", 0.86, 1.005, "0.88, 0.04"),
          ("perplexity ÷ dense", 0.99, 1.2, "1, 0.05"),
          ("recalled, stated 64 to 128 tokens ago", 0, 0.85, "0, 0.2")]


def values(row, dense):
    """For each panel the value and half of its interval, or None if it was not measured. The half is None if
    the value is a bound."""
    bound = row.open["bound"]
    found = [(row.share(), None if bound else half_width(row.open["shares"])), None, None]
    if row.closed:
        found[1] = against(row.closed["logs"], dense.closed["logs"])
        found[2] = row.recall(*RECALLED), half_width(row.text_recalls(*RECALLED))
    return found


def dots(points, low, high):
    """The data of a panel: dots with bars, bounds, and labels for the values outside the panel."""
    bars, bounds, labels = [], [], ""
    for place, point in points:
        if point is None:
            continue
        value, width = point
        if not low <= value <= high:
            said = f"≥ {value:.3f}" if width is None else f"{value:.3f} ± {width:.3f}"
            said, edge = (f"◂ {said}", "0.01, first {} left") if value < low else (
                f"{said} ▸", "0.99, first {} right")
            labels += f"set label '{said}' at graph {edge.format(place)} tc rgb '{BLUE}'\n"
        elif width is None:
            bounds.append(f"{value} {place}")
        else:
            bars.append(f"{value} {place} {max(low, value - width)} {min(high, value + width)}")
    return bars, bounds, labels


def block(name, rows):
    return "\n".join([f"${name} << EOD"] + rows + ["EOD\n"])


def places(tables):
    """(heading, its place) of each table, (row, its place) of each row, and the number of places. A heading
    takes one place, and leaves one empty before it except for the first."""
    place = sum(len(rows) + 2 for _, rows in tables) - 1
    most, headings, lines = place, [], []
    for title, rows in tables:
        headings.append((title, place))
        lines += [(row, place - 1 - index) for index, row in enumerate(rows)]
        place -= len(rows) + 2
    return headings, lines, most


def draw(tables, dense):
    """Draws a dot plot with a line per row of the tables and a panel per measure."""
    headings, lines, most = places(tables)
    height = TOP + BOTTOM + LINE * (most + 1)
    step = (WIDTH - LEFT) / len(PANELS)
    # A rule above each table except the first, through all panels.
    rules = "".join(f"set arrow from graph 0, first {place + 1} to graph {step / (step - GAP)}, "
                    f"first {place + 1} nohead front lc rgb '{GREY}'\n" for _, place in headings[1:])
    titles = "".join(f"set arrow from screen 0.01, first {place + 1} to graph 0, first {place + 1} nohead "
                     f"lc rgb '{GREY}'\n" for _, place in headings[1:])
    titles += "".join(f"set label '{title}' at screen 0.01, first {place} font 'Helvetica-Bold,12'\n"
                      for title, place in headings)
    points = [values(row, dense) for row, _ in lines]
    names = [", ".join(f'"{text}" {place}' for text, place in labels)
             for labels in ([(row.name, place) for row, place in lines], [("", place) for _, place in lines])]
    plots = ""
    for index, (title, low, high, tics) in enumerate(PANELS):
        bars, bounds, labels = dots([(place, found[index]) for (_, place), found in zip(lines, points)],
                                    low, high)
        drawn = [f"$bounds using 1:2 with points pt 9 ps 0.7 lc rgb '{RED}' notitle"] if bounds else []
        drawn.append(f"$bars using 1:2:3:4 with xerrorbars pt 7 ps 0.45 lw 1.2 lc rgb '{BLUE}' notitle")
        plots += f"""
{block("bars", bars)}{block("bounds", bounds)}
unset label
unset arrow
{labels}{rules}{titles if index == 0 else ''}
set lmargin at screen {(LEFT + step * index) / WIDTH}
set rmargin at screen {(LEFT + step * (index + 1) - GAP) / WIDTH}
set xrange [{low}:{high}]
set xtics nomirror {tics}
set ytics nomirror scale 0 ({names[min(index, 1)]})
set title '{title}'
plot {', '.join(drawn)}
"""
    script = f"""
set encoding utf8
set terminal svg size {WIDTH},{height} dynamic noenhanced font 'Helvetica,11' background '#ffffff'
set output '{FIGURE}'
set bars 0.3
set multiplot
set border 1 lc rgb '{GREY}'
set tmargin at screen {1 - TOP / height}
set bmargin at screen {BOTTOM / height}
set yrange [0:{most + 1}]
set grid x y lc rgb '#e6e6e6' lt 1
{plots}
unset multiplot
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
