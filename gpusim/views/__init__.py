"""Views of a timeline: each file takes its document (gpusim/timeline/document.py) alone, and gives a format."""
