"""Views of a timeline: each file turns its document (gpusim/timeline/document.py) into one export format."""
