"""The library: knows no Prefect and no Streamlit."""
