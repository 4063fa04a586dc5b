"""Views of a timeline: each file turns its document (gpusim/views/timeline/document.py) into one export format."""
