"""Prompts: one Markdown file each, with a name, a version, its variables and the model of its reply."""
