"""MindSchema: episodes, entities and properties by a schema, fused into one graph (design, 7.2)."""
