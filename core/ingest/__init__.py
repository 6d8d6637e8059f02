"""MindVanilla: from messages to a plan."""
