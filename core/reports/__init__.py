"""Reports: tables and summaries for people, pure."""
