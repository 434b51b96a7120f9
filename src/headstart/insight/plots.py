"""How the tools' plots look: small, quiet, and told apart by the colour-blind."""

from typing import Any

ENDINGS = (".svg", ".png")
PNG_DPI = 160
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#6E6E6E"
"""Of Okabe and Ito's colours, which colour-blind people tell apart; line styles differ as well."""
LINES = ((ORANGE, "--", "^"), (BLUE, "-", "o"), ("#CC79A7", ":", "D"), ("#E69F00", "-.", "v"))
"""Of policies."""
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "headstart",
}
