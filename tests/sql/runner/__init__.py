"""The parts of tests/sql/run: scripts (what a file says), sessions (what a server answers) and the three modes."""
