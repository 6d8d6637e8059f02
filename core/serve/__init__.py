"""Interfaces for people and programs: the command line now, HTTP and MCP later."""
