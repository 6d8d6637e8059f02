"""Streamlit pages over core's readers."""
