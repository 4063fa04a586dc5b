"""Pages of charts: bars and curves as SVG that is as wide as the window, with tables of their numbers."""
