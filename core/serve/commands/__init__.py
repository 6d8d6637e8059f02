"""The commands, by what they are for: memory, demo, operate, bench."""
