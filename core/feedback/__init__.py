"""Feedback: corrections by users become reviewable, undoable changes of what is remembered."""
