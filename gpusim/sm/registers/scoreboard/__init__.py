"""The scoreboard: RAW, WAW and WAR."""
