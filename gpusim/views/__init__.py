"""Views of a timeline: each file takes the document of gpusim/timeline.py, and nothing else, and gives a format."""
