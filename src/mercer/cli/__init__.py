"""The command line: thin, and light until a command needs more."""
