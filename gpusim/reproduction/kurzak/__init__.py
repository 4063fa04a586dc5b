"""The claims of Kurzak, Tomov and Dongarra."""
